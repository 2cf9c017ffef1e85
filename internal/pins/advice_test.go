package pins

import (
	"fmt"
	"strings"
	"testing"
)

func TestStrays(t *testing.T) {
	for path, want := range map[string]bool{
		".DS_Store": true, "a/.DS_Store": true, "._main.mjs": true, "lib/._x": true, "Thumbs.db": true, "a/desktop.ini": true,
		".main.mjs.swp": true, ".git/HEAD": true, "a/.git/x": true, "node_modules/.cache/x": true, "a/node_modules/.cache/b/c": true, "__MACOSX/a": true,
		"main.mjs": false, "DS_Store": false, "a/.gitignore": false, "git/HEAD": false, ".github/x": false, "node_modules/a": false, "my.git/x": false,
		"node_modules/.cachet/x": false, "swp": false, "_.x": false, ".cache/x": false,
	} {
		if got := IsStray(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestDigestIf: it is the digest of the snapshot that would be made of what is kept, under the new names.
func TestDigestIf(t *testing.T) {
	s, _ := snapshotOf(t, []file{{"a", "1"}, {"b/c", "2"}, {"z", "3"}})
	want, _ := snapshotOf(t, []file{{"y/b/c", "2"}, {"@a", "1"}})
	got := s.DigestIf(func(p string) (string, bool) {
		return map[string]string{"a": "@a", "b/c": "y/b/c"}[p], p != "z"
	})
	if got != want.Digest() {
		t.Errorf("got %s, want %s", got, want.Digest())
	}
	if same := s.DigestIf(func(p string) (string, bool) { return p, true }); same != s.Digest() {
		t.Errorf("unchanged, it is %s", same)
	}
}

func TestTally(t *testing.T) {
	var y tally
	for i := range 9_000 {
		y.add(fmt.Sprintf("web/vendor/node_modules/m%d/index.js", i%2000), 1<<20)
	}
	for i := range 600 {
		y.add(fmt.Sprintf("web/src/f%d", i), 10)
		y.add(fmt.Sprintf("data/half%d/f%d", i%2, i), 100<<20)
	}
	y.add("one", 7<<30)
	y.add("/no path", 9<<30)
	y.add("lib/x", 1)
	if got, want := y.fullest(), "web/vendor/node_modules (9000 files), data (600 files), in no folder (1 file)"; got != want {
		t.Errorf("files\n got %s\nwant %s", got, want)
	}
	const want = "one (7168.0 MiB), data/half0/f0 (100.0 MiB), data/half1/f1 (100.0 MiB); by folder data (60000.0 MiB), web/vendor/node_modules (9000.0 MiB), in no folder (7168.0 MiB)"
	if got := y.largestOf(); got != want {
		t.Errorf("bytes\n got %s\nwant %s", got, want)
	}
}

// TestTallyIsBounded: folders beyond the bound, and below its depth, count for those above them.
func TestTallyIsBounded(t *testing.T) {
	var y tally
	for i := range 50_000 {
		y.add(fmt.Sprintf("a/%d/c/d/e/f/%d", i, i), 1)
	}
	if len(y.folders) != talliedFolders || len(y.largest) != talliedNames {
		t.Errorf("%d folders, %d files are remembered", len(y.folders), len(y.largest))
	}
	for dir := range y.folders {
		if strings.Count(dir, "/") >= talliedDepth {
			t.Fatalf("%s is remembered", dir)
		}
	}
	if got := y.fullest(); got != "a (50000 files)" {
		t.Errorf("%s", got)
	}
}
