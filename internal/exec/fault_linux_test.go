package exec

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
)

// The fault table is the specification: every reason, stop, admission, problem,
// disposition and quarantine reason, each from a real cause. Its rows are in
// groups by moment, one file each; sources_linux_test.go says which sentence of
// the contract each is there for.

// fault is one row: its hooks act on the world, never on the executor.
type fault struct {
	name string
	act  func(*world)
	want outcome
}

// group is rows of one moment. Those that change this process, or look at all
// of it, are alone; the others share the processors.
type group struct {
	name  string
	alone bool
	rows  []fault
	marks marks
}

func groups() []group {
	return []group{
		{name: "before", rows: beforeFaults},
		{name: "rivals", rows: rivalFaults},
		{name: "setup", rows: setupFaults, alone: true},
		{name: "gate", rows: gateFaults},
		{name: "contact", rows: contactFaults, alone: true},
		{name: "process", rows: processFaults},
		{name: "program", rows: programFaults},
		{name: "runtime", rows: runtimeFaults, marks: marks{only: onLinux.name, because: "no sealed copies there: the same rows run without"}},
		{name: "runtime hashed", rows: hashed(runtimeFaults)},
		{name: "namespace", rows: namespaceFaults()},
		{name: "after", rows: afterFaults, alone: true},
		{name: "launchers", rows: launcherFaults(), marks: marks{only: underDash.name, because: "Linux starts Node without them"}},
		{name: "tools", rows: toolFaults(), marks: marks{only: underDash.name, because: "Linux starts Node without them"}},
	}
}

// rounds is how often the whole table runs: FAULT_ROUNDS, or once.
func rounds(t *testing.T) int {
	text, given := os.LookupEnv("FAULT_ROUNDS")
	if !given {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("FAULT_ROUNDS is %q, expected how often the fault table is to run", text)
	}
	return n
}

// TestFaults runs the rows of the Linux boundary.
func TestFaults(t *testing.T) { onLinux.runTable(t) }

// runTable runs every row of a platform and then asks whether the rows together
// produced every value the contract knows.
func (on platform) runTable(t *testing.T) {
	startPoller(t)
	seen := &sightings{values: map[string]bool{}}
	rows := 0
	for range rounds(t) {
		for _, g := range groups() {
			if g.rows = on.rowsOf(g); len(g.rows) > 0 {
				rows += len(g.rows)
				t.Run(g.name, func(t *testing.T) { g.run(t, on, seen) })
			}
		}
	}
	if t.Failed() || seen.rows < rows { // some rows were selected by -run
		return
	}
	for _, value := range everyValue() {
		if !seen.values[value] {
			t.Errorf("no row produces %s", value)
		}
	}
}

// sightings are the values that results held. Its methods may be called from
// any goroutine.
type sightings struct {
	mu     sync.Mutex
	values map[string]bool
	rows   int
}

func (s *sightings) note(r Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows++
	note(s.values, r)
}

func (g group) run(t *testing.T, on platform, seen *sightings) {
	before := len(openDescriptors(t))
	t.Run("", func(t *testing.T) { // ends when its parallel rows have
		for _, row := range g.rows {
			t.Run(row.name, func(t *testing.T) {
				if !g.alone {
					t.Parallel()
				}
				row.run(t, on, seen)
			})
		}
	})
	if after := len(openDescriptors(t)); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func (f fault) run(t *testing.T, on platform, seen *sightings) {
	w := newWorld(t)
	on.prepare(w)
	w.useStandIn()
	f.act(w)
	e := w.executor()
	if w.spec.Runtime == unpinned {
		w.pin(e)
	}
	result := w.run(e)
	f.want.on(on).check(t, result, w)
	seen.note(result)
}

// many is a program that takes long enough to write and to remove that another
// process can get in between.
func many(last string) map[string]string {
	files := map[string]string{"main.mjs": "exit"}
	for i := range 3000 {
		files[fmt.Sprintf("many/f%04d.js", i)] = "1\n"
	}
	files["zz/last.bin"] = last
	return files
}
