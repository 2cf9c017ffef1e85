package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// batch runs examples/batch.py at a socket, with its results in a file of dir.
func (d *daemon) batch(t testing.TB, socket, results string, args ...string) spoken {
	t.Helper()
	command := append([]string{"python3", "examples/batch.py", "--results", filepath.Join(d.dir, results)}, args...)
	return speak(t, exampleCommand(t.Context(), d.dir, socket, command...))
}

// batchLine is one line of its results.
type batchLine struct {
	ID, Input, Outcome string
	Answer             struct {
		RunID   string
		Process struct{ Stdout octets }
	}
}

func (d *daemon) batchLines(t testing.TB, results string) (lines []batchLine) {
	t.Helper()
	all, err := os.ReadFile(filepath.Join(d.dir, results))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(all) {
		lines = append(lines, decode[batchLine](t, line))
	}
	return lines
}

// counted is the number in a line of the closing table.
func (s spoken) counted(t testing.TB, outcome string) int {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + outcome + ` +(\d+)$`).FindStringSubmatch(s.stdout)
	if found == nil {
		t.Fatalf("the table has no %s\n%s\n%s", outcome, s.stdout, s.stderr)
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// TestBatch: more inputs than the queue takes at once are all run once, by a
// client that comes again only when it is told to. Begun again it starts
// nothing, whether it still has its results or not.
func TestBatch(t *testing.T) {
	t.Parallel()
	const runs = 14
	d := startDaemon(t, withFlags("--workers=2", "--queue=4"))
	refusals := func() float64 { return d.metric(t, `confined_refusals_total{code="queue-full"}`) }

	one, two := d.live(t, d.waiter(t, "batch-one"), "batch-one"), d.live(t, d.waiter(t, "batch-two"), "batch-two")
	batched := make(chan spoken, 1)
	go func() {
		defer close(batched)
		batched <- d.batch(t, d.socket, "results", "--runs", fmt.Sprint(runs), "--connections", fmt.Sprint(runs))
	}()
	poll(t, func() bool { return refusals() > 0 }, func() string { return "no request is refused" })
	one.release(t)
	two.release(t)
	first := <-batched
	waited := refusals()
	first.must(t, 0, fmt.Sprintf("%v answers of 429 and 0 of 503", waited), "")
	if n := first.counted(t, "ok"); n != runs {
		t.Errorf("%d of %d are ok", n, runs)
	}
	lines := d.batchLines(t, "results")
	for _, l := range lines {
		var number int
		fmt.Sscanf(l.Input, "text-%04d.txt", &number)
		want := fmt.Sprintf("{\"name\":%q,\"words\":%d}\n", l.Input, number)
		if got := l.Answer.Process.Stdout.plain(t); got != want || l.Answer.RunID != l.ID {
			t.Errorf("%s, run %s: %q, want %q", l.ID, l.Answer.RunID, got, want)
		}
	}
	if len(lines) != runs {
		t.Errorf("%d results of %d runs", len(lines), runs)
	}

	if n := d.batch(t, d.socket, "results", "--runs", fmt.Sprint(runs)).counted(t, "ok"); n != runs {
		t.Errorf("begun again with its results, %d of %d are ok", n, runs)
	}
	again := d.batch(t, d.socket, "other", "--runs", fmt.Sprint(runs), "--connections", "3")
	again.must(t, 127, "", "")
	if n := again.counted(t, "used"); n != runs {
		t.Errorf("begun again without its results, %d of %d ids were used", n, runs)
	}
	if n := d.programsRun(t); n != runs+2 {
		t.Errorf("%v programs ran for %d inputs and two that kept the workers busy", n, runs)
	}
}

// TestBatchTellsOfEveryInput: each input ends under the one word that is true
// of it, and a bad one does not keep the others from being run.
func TestBatchTellsOfEveryInput(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	inputs := filepath.Join(d.dir, "inputs")
	writeTree(t, inputs, files{"a.txt": "one two", "b@2+.txt": "", "c.txt": "", "d.txt": "d", "odd name.txt": ""})
	for _, c := range []struct {
		name     string
		meddle   func(http.Handler) http.Handler
		inputs   []string
		outcomes map[string]int
		programs float64 // so far
	}{
		{"cut", cutFirst, []string{"a.txt", "b@2+.txt", "odd name.txt"}, map[string]int{"unknown": 1, "ok": 1, "refused": 1}, 2},
		{"lost", lostFirst, []string{"c.txt"}, map[string]int{"unknown": 1}, 3},
		{"failed on the way", failedFirst, []string{"d.txt"}, map[string]int{"unknown": 1}, 4},
		{"begun again", passing, []string{"a.txt", "c.txt"}, map[string]int{"used": 2}, 4},
	} {
		given := []string{"--connections", "1"}
		for _, name := range c.inputs {
			given = append(given, filepath.Join(inputs, name))
		}
		got := d.batch(t, meddler(t, d, c.meddle), "results", given...)
		got.must(t, 127, "", "")
		for outcome, want := range c.outcomes {
			if n := got.counted(t, outcome); n != want {
				t.Errorf("%s: %d inputs are %s, want %d\n%s", c.name, n, outcome, want, got.stdout)
			}
		}
		if n := d.programsRun(t); n != c.programs {
			t.Errorf("%s: %v programs ran so far, want %v", c.name, n, c.programs)
		}
	}
	d.batch(t, d.dir+"/none", "none").must(t, 125, "", "no daemon listens")
}
