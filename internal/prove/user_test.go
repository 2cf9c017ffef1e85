package prove

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReaches: a directory that is closed to others is in the way of another user, and not of its owner.
func TestReaches(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "closed")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := user{us().uid + 1, us().gid + 1}
	if !us().reaches(inner + "/x") {
		t.Error("its owner cannot reach it")
	}
	if stranger.reaches(inner + "/x") {
		t.Error("a stranger can reach it")
	}
	if got, err := openDir(stranger, func(string) error { return nil }, inner); err == nil {
		t.Errorf("a directory for everybody is made in %s", got)
	}
}
