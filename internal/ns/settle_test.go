package ns

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemoveBeforeVerify: a fresh claim, and a slot that was written but not verified, go away too.
func TestRemoveBeforeVerify(t *testing.T) {
	w := newWorld(t, 8)
	for _, s := range []*Slot{claim(t, w.pool), w.filled()} {
		if d := s.Remove(SetupIncomplete); d != (Disposition{State: StateRemoved, Durable: true}) {
			t.Errorf("%+v", d)
		}
	}
	w.mustBeEmpty()
}

// TestRemoveBeforeVerifySeesStrangers: without noted ctimes too, no entry that was not put there is deleted, nor anything beside it.
func TestRemoveBeforeVerifySeesStrangers(t *testing.T) {
	for name, c := range differences() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			s := w.filled()
			c.act(t, s.Path())
			before := tree(t, w.root)
			stays(t, w, s.Remove(SetupIncomplete), before, SetupIncomplete)
		})
	}
}

// TestRemovalStopsAtTheFirstSurprise begins the deletion itself, as if the surprise came after the check of everything: what was deleted by
// then was ours, and the stranger and all after it stays.
func TestRemovalStopsAtTheFirstSurprise(t *testing.T) {
	for name, c := range map[string]struct {
		act           func(slot string) error
		at            string
		gone, staying []string
	}{
		"a stranger in home": {
			func(s string) error { return os.WriteFile(s+"/home/stranger", nil, 0o600) },
			"/home", []string{"/program", "/input"}, []string{"/home/stranger", "/canary"},
		},
		"a file replaced": {
			func(s string) error { return os.WriteFile(s+"/x", []byte("1\n"), 0o400) },
			"/program/lib/deep/b.js", []string{"/program/lib/a.js/"}, []string{"/program/lib/deep/b.js", "/input/data.txt", "/canary"},
		},
		"a directory moved away": {
			func(s string) error { return os.Rename(s+"/input", s+"-input") },
			"/input", []string{"/program"}, []string{"-input/data.txt", "/canary"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			s, _ := w.verified()
			must(t, c.act(s.Path()))
			if name == "a file replaced" {
				must(t, os.Rename(s.Path()+"/x", s.Path()+c.at))
			}
			mismatchAt(t, s.clear(), s.Path()+c.at)
			for _, path := range c.gone {
				if _, err := os.Lstat(s.Path() + path); err == nil {
					t.Errorf("%s is still there", path)
				}
			}
			for _, path := range c.staying {
				if _, err := os.Lstat(s.Path() + path); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestUnreadableSlotIsRemovalFailed: not being able to look is no surprise but a refusal.
func TestUnreadableSlotIsRemovalFailed(t *testing.T) {
	if isRoot() { // to whom no directory is closed
		return
	}
	w := newWorld(t, 8)
	s := w.filled()
	must(t, os.Chmod(s.Path()+"/program", 0))
	t.Cleanup(func() { os.Chmod(s.Path()+"/program", 0o700) })
	if _, err := s.Verify(); err == nil || isMismatch(err) {
		t.Errorf("got %v, want what the system said", err)
	}
	if d := s.Remove(NamespaceChanged); d.State != StateQuarantined || d.Reason != RemovalFailed {
		t.Errorf("%+v", d)
	}
}

// TestContentsAreComparedToo: a change that no stat call tells is found by reading, and is not forgotten when it comes to removing.
func TestContentsAreComparedToo(t *testing.T) {
	hide := func(s *Slot) {
		path := s.Path() + "/input/data.txt"
		flip(t, path)
		f, err := statAt(unix.AT_FDCWD, path)
		must(t, err)
		s.tree.child("input").child("data.txt").ctimeNs = f.ctimeNs // as if the file system had told nothing
	}
	w := newWorld(t, 8)
	s, v := w.verified()
	hide(s)
	mismatchAt(t, s.Recheck(v), s.Path()+"/input/data.txt")
	before := tree(t, w.root)
	stays(t, w, s.Remove(NamespaceChanged), before, NamespaceChanged)
	s = w.filled()
	hide(s)
	_, err := s.Verify()
	mismatchAt(t, err, s.Path()+"/input/data.txt")
	if d := s.Remove(SnapshotMismatch); d.State != StateQuarantined || d.Reason != SnapshotMismatch {
		t.Errorf("%+v", d)
	}
}

// TestPartialMaterialise: when something has a name already, the part that was made is told from the stranger.
func TestPartialMaterialise(t *testing.T) {
	w := newWorld(t, 8)
	for _, removedFirst := range []bool{false, true} {
		s := claim(t, w.pool)
		must(t, os.WriteFile(s.Path()+"/input", []byte("stranger"), 0o600))
		if err := s.Materialise("r", programOf(t), inputOf(t), ourselves()); err == nil {
			t.Fatal("the stranger went unnoticed")
		}
		if removedFirst {
			must(t, os.Remove(s.Path()+"/input"))
			if d := s.Remove(SetupIncomplete); d != (Disposition{State: StateRemoved, Durable: true}) {
				t.Errorf("%+v", d)
			}
			continue
		}
		before := tree(t, w.root)
		stays(t, w, s.Remove(SetupIncomplete), before, SetupIncomplete)
	}
}

// TestPartialForWantOf: a Materialise that the system cut short is taken away whole.
func TestPartialForWantOf(t *testing.T) {
	for _, act := range []string{"few-descriptors", "full"} {
		w := newWorld(t, 8)
		out, err := helperCommand(t, act, w.root, w.state).Output()
		if err != nil {
			t.Errorf("%s: %v", act, err)
		}
		t.Logf("%s: %s", act, out)
		w.mustBeEmpty()
	}
}

// TestManyFiles takes 10,000 files and a path of 16 segments through a slot with a bounded number of descriptors.
func TestManyFiles(t *testing.T) {
	w := newWorld(t, 8)
	out, err := helperCommand(t, "many", w.root, w.state, "10000").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out)
	w.mustBeEmpty()
}
