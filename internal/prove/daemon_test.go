package prove

import (
	"os"
	"slices"
	"testing"
)

// TestCarelessness: what the suite does to its own process is taken back.
func TestCarelessness(t *testing.T) {
	t.Setenv("NODE_OPTIONS", "--title=mine")
	before := os.Environ()
	var undo cleanup
	d, err := newDaemon(t.TempDir(), &undo)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("SECRET") != d.secrets["surroundings"] || os.Getenv("NODE_OPTIONS") == "--title=mine" {
		t.Error("the environment is as before")
	}
	undo.now()
	after := os.Environ()
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Errorf("the environment was %q and is %q", before, after)
	}
}
