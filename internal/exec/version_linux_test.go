package exec

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"confined/internal/confine"
)

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
