package prove

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

// TestCarelessness: what the suite does to its own process is taken back.
func TestCarelessness(t *testing.T) {
	t.Setenv("NODE_OPTIONS", "--title=mine")
	before := os.Environ()
	umask := syscall.Umask(0o077)
	defer syscall.Umask(umask)
	var undo cleanup
	beOrdinary(&undo)
	d, err := newDaemon(t.TempDir(), &undo)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SECRET") != d.secrets["surroundings"] || os.Getenv("NODE_OPTIONS") == "--title=mine" {
		t.Error("the environment is as before")
	}
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	if undo.now(&err); err != nil || mask != 0o022 {
		t.Errorf("%v, with the umask %03o", err, mask)
	}
	if mask = syscall.Umask(0o077); mask != 0o077 {
		t.Errorf("the umask is %03o", mask)
	}
	after := os.Environ()
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Errorf("the environment was %q and is %q", before, after)
	}
}
