package e2e

import (
	"fmt"
	"net/http"
	"os"
	osexec "os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// leastPairs is how often BenchmarkHello measures both, however short it is to
// take.
const leastPairs = 21

// BenchmarkHello runs one program in turn by plain Node.js and confined, over
// the socket, and compares. The numbers are for people: nothing is judged.
func BenchmarkHello(b *testing.B) {
	d := startDaemon(b)
	r := d.script(b, "console.log('hello')\n")
	plain := helloOf(b, r)
	m := measured{stages: map[string][]float64{}}
	m.pair(b, d, r, plain) // the first run finds everything cold
	m = measured{stages: map[string][]float64{}}
	for b.Loop() {
		m.pair(b, d, r, plain)
	}
	for len(m.plain) < leastPairs {
		m.pair(b, d, r, plain)
	}
	m.report(b)
}

// measured are times in milliseconds, one of each for every pair.
type measured struct {
	plain, confined, ratio, outside []float64
	stages                          map[string][]float64
	order                           []string // of the stages
}

// helloOf is the program of r on disk, to be run by plain Node.js.
func helloOf(b *testing.B, r runRequest) func() *osexec.Cmd {
	b.Helper()
	dir := b.TempDir()
	writeTree(b, dir+"/program", r.program)
	writeTree(b, dir+"/home", nil)
	return func() *osexec.Cmd {
		cmd := osexec.Command(shared.node, dir+"/program/"+r.entry)
		cmd.Dir = dir
		cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "HOME=" + dir + "/home", "TMPDIR=" + dir + "/home", "OPENSSL_CONF=/dev/null"}
		return cmd
	}
}

// pair measures both once, now the one first and now the other.
func (m *measured) pair(b *testing.B, d *daemon, r runRequest, plain func() *osexec.Cmd) {
	b.Helper()
	var alone, confined float64
	steps := []func(){
		func() {
			cmd, began := plain(), time.Now()
			if out, err := cmd.Output(); err != nil || string(out) != "hello\n" {
				b.Fatalf("plain Node.js: %v %q", err, out)
			}
			alone = millis(began)
		},
		func() {
			request := d.newRun(b, b.Context(), r)
			began := time.Now()
			a, err := d.exchange(request)
			confined = millis(began)
			if err != nil {
				b.Fatal(err)
			}
			if got := a.result(b); got.Process == nil || got.Process.Stdout.Data != "hello\n" {
				b.Fatalf("confined: %s", a.body)
			}
			m.split(b, a.header, confined)
		},
	}
	if len(m.plain)%2 == 1 {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		step()
	}
	m.plain, m.confined, m.ratio = append(m.plain, alone), append(m.confined, confined), append(m.ratio, confined/alone)
}

func millis(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

// split reads the stages that the daemon measured; what is left of the whole is
// outside them: the socket, the body, the encoding.
func (m *measured) split(b *testing.B, h http.Header, whole float64) {
	b.Helper()
	for entry := range strings.SplitSeq(h.Get("Server-Timing"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(entry), ";dur=")
		took, err := strconv.ParseFloat(value, 64)
		if err != nil {
			b.Fatalf("Server-Timing holds %q", entry)
		}
		if _, known := m.stages[name]; !known {
			m.order = append(m.order, name)
		}
		m.stages[name] = append(m.stages[name], took)
		whole -= took
	}
	m.outside = append(m.outside, whole)
}

// report prints a table, the ratio first, and gives the medians to the
// benchmark's own line.
func (m *measured) report(b *testing.B) {
	b.Helper()
	row := func(name, unit string, values []float64) float64 {
		slices.Sort(values)
		median := values[len(values)/2]
		fmt.Fprintf(os.Stderr, "%-28s %9.2f %-3s (%.2f to %.2f)\n", name, median, unit, values[0], values[len(values)-1])
		return median
	}
	fmt.Fprintf(os.Stderr, "\nhello, %d pairs: medians, with the least and the most\n", len(m.plain))
	b.ReportMetric(row("confined over the socket", "x", m.ratio), "x-plain")
	b.ReportMetric(row("  plain node", "ms", m.plain), "plain-ms")
	b.ReportMetric(row("  confined", "ms", m.confined), "confined-ms")
	for _, stage := range m.order {
		row("    "+stage, "ms", m.stages[stage])
	}
	row("    outside the stages", "ms", m.outside)
}
