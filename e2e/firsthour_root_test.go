package e2e

import (
	"os"
	"strings"
	"testing"
)

// TestFullRootIsNamed: doctor, /v1/status and a run name what takes up a full
// root and how to be rid of each kind of it, and that is enough.
func TestFullRootIsNamed(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--max-retained=2"))
	notes, kept := d.root+"/notes.txt", d.root+"/slot-0"
	must(t, os.WriteFile(notes, []byte("mine"), 0o600))
	must(t, os.Mkdir(kept, 0o700))
	says := []string{
		"2", "slot-0 (leftover), notes.txt (foreign)",
		"leftovers are never reclaimed automatically: when nothing needs slot-0 any more, `confined slots release slot-0` removes it (GET /v1/slots/slot-0 shows what is in it, DELETE with its ETag removes that)",
		"move notes.txt out of the root, which is for slots only",
	}
	d.mustNotStart(t, goodRun(t, d), "retained-limit", append(says, "the root "+d.root+" holds 2 entries and at most 2 are allowed (--max-retained): ")...)
	d.mustBeReady(t, map[string][]string{"no-free-slot": says})
	doctor := confined(t, d.places, nil, doctorArgs(d.places, "--node=/none/node", "--max-retained=2")...).stdout
	for _, w := range append(says, d.root+", 2 of 2 entries: ") {
		if !strings.Contains(doctor, w) {
			t.Errorf("doctor does not say: %s\nbut: %s", w, doctor)
		}
	}
	must(t, os.Rename(notes, d.dir+"/notes.txt")) // the first cure
	d.mustBeReady(t, nil)
	mustRun(t, d)
	if e := confined(t, d.places, []string{"CONFINED_SOCKET=" + d.socket}, "slots", "release", "--yes", "slot-0"); e.code != 0 { // the other
		t.Errorf("slots release ended with %d: %s%s", e.code, e.stdout, e.stderr)
	}
	if got := names(t, d.root); len(got) != 0 {
		t.Errorf("the root holds %v", got)
	}
}
