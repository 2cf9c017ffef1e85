package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// edit replaces a piece of a source file. It must occur there exactly once.
type edit struct{ file, old, new string }

// mutant is this program without one layer of the boundary.
type mutant struct {
	layer   string
	edits   []edit
	refused string   // what is said while something still looks after the layer, and no program runs; empty when nothing does
	blinded []edit   // take that away as well
	fails   []string // rows of the suite that must fail then
	root    bool     // only a root daemon has the layer
}

// TestEveryLayerIsMissed removes one layer of the boundary after the other. Where something looks after the layer, no program runs; and `confined
// prove`, with that taken away as well, fails in the rows that are there for the layer. That it passes when nothing is removed, TestProve shows.
//
// Mutants are built while others act, but one suite acts at a time: what one wrongly can do to every process of its user, it does to others' too.
func TestEveryLayerIsMissed(t *testing.T) {
	var turn sync.Mutex
	for _, m := range mutants() {
		if m.root && os.Geteuid() != 0 {
			continue
		}
		if m.refused != "" {
			t.Run(m.layer+", which is seen", func(t *testing.T) {
				t.Parallel()
				mustBeRefused(t, m.build(t, m.edits), m.refused)
			})
		}
		if len(m.fails) > 0 {
			t.Run(m.layer, func(t *testing.T) {
				t.Parallel()
				binary := m.build(t, append(slices.Clip(m.edits), m.blinded...))
				turn.Lock()
				defer turn.Unlock()
				mustFail(t, binary, m.fails)
			})
		}
	}
}

// build compiles the program with edits, which are laid over the tree: nothing is written into it.
func (m mutant) build(t *testing.T, edits []edit) string {
	t.Helper()
	dir, texts := t.TempDir(), map[string]string{}
	for _, e := range edits {
		if texts[e.file] == "" {
			text, err := os.ReadFile(filepath.Join(shared.repo, e.file))
			must(t, err)
			texts[e.file] = string(text)
		}
		if n := strings.Count(texts[e.file], e.old); n != 1 {
			t.Fatalf("the table of mutants is stale: %q occurs %d times in %s", e.old, n, e.file)
		}
		texts[e.file] = strings.Replace(texts[e.file], e.old, e.new, 1)
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for file, text := range texts {
		edited := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		must(t, os.WriteFile(edited, []byte(text), 0o600))
		overlay["Replace"][filepath.Join(shared.repo, file)] = edited
	}
	words, err := json.Marshal(overlay)
	must(t, err)
	list, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "confined")
	must(t, os.WriteFile(list, words, 0o600))
	if out, err := buildDaemon(shared.repo, binary, "-overlay="+list, "-ldflags=-s -w"); err != nil {
		t.Fatalf("building the mutant: %v\n%s", err, out)
	}
	return binary
}

// mustBeRefused: a daemon made of the binary runs no program, and says why.
func mustBeRefused(t *testing.T, binary, why string) {
	t.Helper()
	e := startDaemon(t, withBinary(binary), unready()).cli(t, "console.log('ran')", "run", "-")
	if e.code != 125 && e.code != 126 || e.stdout != "" || !strings.Contains(e.stderr, why) {
		t.Errorf("exit code %d, want 125 or 126 and %q: stdout %q, stderr %q", e.code, why, e.stdout, e.stderr)
	}
}

// mustFail: the suite of the binary is tried to its end, and the named rows are among those that fail.
func mustFail(t *testing.T, binary string, names []string) {
	t.Helper()
	e := startProveOf(t, binary, newPlaces(t), "--json", "--node="+shared.node).end()
	if e.code != 1 || e.stdout == "" {
		t.Fatalf("exit code %d, want 1: %s%s", e.code, e.stdout, e.stderr)
	}
	p := decode[proved](t, []byte(e.stdout))
	failed := map[string]bool{}
	for _, row := range p.Receipt.Rows {
		if row.Verdict == "failed" {
			failed[row.Name] = true
		}
	}
	for _, name := range names {
		if !failed[name] {
			t.Errorf("%q is no row that failed", name)
		}
	}
	if p.Verdict != "failed" || p.ReceiptFile != "" || len(failed) == len(p.Receipt.Rows) {
		t.Errorf("%s, receipt %q, %d of %d rows failed", p.Verdict, p.ReceiptFile, len(failed), len(p.Receipt.Rows))
	}
	if t.Failed() {
		t.Logf("what failed: %q", slices.Sorted(maps.Keys(failed)))
	}
}
