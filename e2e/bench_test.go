//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// plan is how long each part of the benchmark is.
type plan struct {
	hello, parallel, programs, small, growth, retained extent
	hellos                                             int // before memory is looked at again
	patience                                           time.Duration
}

// full is about four minutes of two processors.
var full = plan{
	hello:    extent{41, 15, 30 * time.Second},
	parallel: extent{9, 5, 7 * time.Second}, // of each row
	programs: extent{9, 5, 20 * time.Second},
	small:    extent{21, 9, 10 * time.Second},
	growth:   extent{7, 5, 20 * time.Second},
	retained: extent{21, 9, 10 * time.Second},
	hellos:   1000,
	patience: 40 * time.Second,
}

// report is what was measured: the ratios that matter first, then everything.
type report struct {
	ratios table
	tables []*table
}

func (r *report) add(t *table) { r.tables = append(r.tables, t) }

// ratio is a line of the first table.
func (r *report) ratio(what string, s series) {
	r.ratios.row(cells(what, s.ratios())...)
}

// BenchmarkAgainstPlain measures confined programs beside the same ones run by
// plain Node.js and by other sandboxes, in one process, in turn. It is for
// people: nothing is judged. BENCH_TABLES names a file for the tables.
func BenchmarkAgainstPlain(b *testing.B) {
	r := newReport(b)
	for _, part := range []struct {
		name    string
		measure func(*testing.B, plan)
	}{{"hello", r.hello}, {"throughput", r.parallel}, {"programs", r.programs}, {"growth", r.growth}, {"memory", r.memory}} {
		if !b.Run(part.name, func(b *testing.B) { part.measure(b, full) }) {
			b.FailNow()
		}
	}
	r.tables = append([]*table{&r.ratios}, r.tables...)
	r.publish(b)
}

func newReport(b *testing.B) *report {
	b.Helper()
	if b.N > 1 {
		b.Fatal("this benchmark times itself: run it with -benchtime=1x, as `make bench` does")
	}
	return &report{ratios: table{title: "Ratios", head: []string{"", "median", "least to most"}, notes: []string{machine(b)}}}
}

// machine says in words what this is measured on, and how busy that is before.
func machine(b *testing.B) string {
	b.Helper()
	release, err := readText("/proc/sys/kernel/osrelease")
	load, err2 := readText("/proc/loadavg")
	if err := errors.Join(err, err2); err != nil {
		b.Fatal(err)
	}
	version := strings.SplitN(release, ".", 3)
	user := "an ordinary user"
	if syscall.Geteuid() == 0 {
		user = "root"
	}
	return fmt.Sprintf("Measured by %s on %d processors (%s), Linux %s.%s, Node.js %s; the load before was %s.",
		user, runtime.NumCPU(), runtime.GOARCH, version[0], version[1], nodeVersion, strings.Fields(load)[0])
}

// publish writes the report to where it is wanted.
func (r *report) publish(b *testing.B) {
	b.Helper()
	var out strings.Builder
	for i, t := range r.tables {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(t.String())
	}
	path := os.Getenv("BENCH_TABLES")
	if path == "" {
		fmt.Print("\n", out.String(), "\n")
	} else if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}
