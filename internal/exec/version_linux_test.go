package exec

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"confined/internal/confine"
	"confined/internal/pins"
)

// TestStateThatNoProfileNames: the boundary's cure reaches people, and nothing of it is about Node.
func TestStateThatNoProfileNames(t *testing.T) {
	for _, on := range []platform{onLinux, underDash} {
		t.Run(on.name, func(t *testing.T) {
			w := newWorld(t)
			on.prepare(w)
			w.useStandIn()
			w.state = filepath.Join(w.state, "st\u00e4te")
			w.must(os.Mkdir(w.state, 0o700))
			e := w.executor()
			clear(e.versions.known)
			_, err := e.DescribeRuntime(t.Context())
			var unavailable *pins.UnavailableError
			if !errors.As(err, &unavailable) || unavailable.Cure != "have --state under a path of printable ASCII" {
				t.Error(err)
			}
		})
	}
}

// TestHeldDirIsCanonical: whoever names the parent by a link gets the path that leads through none.
func TestHeldDirIsCanonical(t *testing.T) {
	parent, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(parent, link); err != nil {
		t.Fatal(err)
	}
	held, err := MakeHeldDir(link, "x-", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Remove()
	if real, err := filepath.EvalSymlinks(parent); err != nil || filepath.Dir(held.Path) != real {
		t.Errorf("%s, %v", held.Path, err)
	}
}

// TestScratchOfAKilledDaemonIsSwept: what nobody holds is removed, what somebody
// holds or what is something else stays.
func TestScratchOfAKilledDaemonIsSwept(t *testing.T) {
	state := t.TempDir()
	for _, name := range []string{"left", "held", "foreign"} {
		path := filepath.Join(state, scratchPrefix+name)
		if name == "foreign" {
			path = filepath.Join(state, name)
		}
		if err := os.MkdirAll(filepath.Join(path, "home"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	held, err := lockDir(filepath.Join(state, scratchPrefix+"held"), unix.LOCK_NB)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	s, err := makeScratch(state, confine.Here())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Remove()
	for name, want := range map[string]bool{scratchPrefix + "left": false, scratchPrefix + "held": true, "foreign": true, filepath.Base(s.Path): true} {
		if _, err := os.Stat(filepath.Join(state, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	again, err := makeScratch(state, confine.Here())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Remove()
	if _, err := os.Stat(s.Path); err != nil {
		t.Errorf("a scratch in use was swept: %v", err)
	}
}
