package ns

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// tampering is one act on a slot, by path as a rival does it, and the entry at which it must be seen.
type tampering struct {
	act  func(t *testing.T, slot string)
	seen string // below the slot
}

// flip changes one byte of a file and restores its mode and times.
func flip(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	content[0] ^= 1
	must(t, os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(content[:1], 0)
	must(t, err)
	must(t, f.Close())
	must(t, os.Chmod(path, info.Mode()))
	must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// outside is a path beside the root, on the same file system.
func outside(slot, name string) string { return filepath.Dir(filepath.Dir(slot)) + "/" + name }

// twin is an equal copy of a file of the slot, outside the root.
func twin(t *testing.T, slot, file string) string {
	t.Helper()
	content, err := os.ReadFile(slot + file)
	must(t, err)
	must(t, os.WriteFile(outside(slot, "twin"), content, 0o400))
	return outside(slot, "twin")
}

// differences are seen by any look at the entries, before and after the launch.
func differences() map[string]tampering {
	all := map[string]tampering{
		"extra file": {func(t *testing.T, s string) { must(t, os.WriteFile(s+"/program/x", nil, 0o400)) }, "program/x"},
		"extra directory in home": {func(t *testing.T, s string) {
			must(t, os.Mkdir(s+"/home/x", 0o700))
		}, "home/x"},
		"extra entry in the slot": {func(t *testing.T, s string) { must(t, os.Symlink("/", s+"/x")) }, "x"},
		"extra name with a line break": {func(t *testing.T, s string) {
			must(t, os.WriteFile(s+"/input/a\nb", nil, 0o400))
		}, `input/"a\nb"`},
		"missing file":      {func(t *testing.T, s string) { must(t, os.Remove(s+"/program/lib/deep/b.js")) }, "program/lib/deep/b.js"},
		"missing directory": {func(t *testing.T, s string) { must(t, os.Remove(s+"/home")) }, "home"},
		"longer file":       {func(t *testing.T, s string) { resize(t, s+"/input/data.txt", 20_000) }, "input/data.txt"},
		"empty file":        {func(t *testing.T, s string) { resize(t, s+"/program/main.mjs", 0) }, "program/main.mjs"},
		"file swapped for an equal one": {func(t *testing.T, s string) {
			must(t, os.Rename(twin(t, s, "/program/main.mjs"), s+"/program/main.mjs"))
		}, "program/main.mjs"},
		"canary swapped for an equal one": {func(t *testing.T, s string) {
			must(t, os.Rename(twin(t, s, "/canary"), s+"/canary"))
		}, "canary"},
		"hard link planted": {func(t *testing.T, s string) {
			must(t, os.Link(s+"/input/data.txt", outside(s, "link")))
		}, "input/data.txt"},
		"file replaced by a link to an equal one": {func(t *testing.T, s string) {
			to := twin(t, s, "/program/main.mjs")
			must(t, os.Remove(s+"/program/main.mjs"))
			must(t, os.Symlink(to, s+"/program/main.mjs"))
		}, "program/main.mjs"},
		"directory replaced by a link to itself": {func(t *testing.T, s string) {
			moved := outside(s, "moved")
			must(t, os.Rename(s+"/program/lib", moved))
			must(t, os.Symlink(moved, s+"/program/lib"))
		}, "program/lib"},
		"file replaced by a FIFO": {func(t *testing.T, s string) {
			must(t, os.Remove(s+"/input/data.txt"))
			must(t, unix.Mkfifo(s+"/input/data.txt", 0o600))
		}, "input/data.txt"},
		"file replaced by a directory": {func(t *testing.T, s string) {
			must(t, os.Remove(s+"/input/data.txt"))
			must(t, os.Mkdir(s+"/input/data.txt", 0o700))
		}, "input/data.txt"},
		"directory replaced by a file": {func(t *testing.T, s string) {
			must(t, os.Remove(s+"/home"))
			must(t, os.WriteFile(s+"/home", nil, 0o400))
		}, "home"},
		"directory opened to others":     {func(t *testing.T, s string) { must(t, os.Chmod(s+"/program/lib", 0o755)) }, "program/lib"},
		"slot opened to others":          {func(t *testing.T, s string) { must(t, os.Chmod(s, 0o711)) }, "."},
		"directory swapped with another": {func(t *testing.T, s string) { exchange(t, s+"/program", s+"/input") }, "program"},
		"slot moved away":                {func(t *testing.T, s string) { must(t, os.Rename(s, s+"-moved")) }, "."},
		"slot swapped for an empty one":  {func(t *testing.T, s string) { must(t, os.Rename(s, s+"-moved")); must(t, os.Mkdir(s, 0o700)) }, "."},
		"slot replaced by a link to itself": {func(t *testing.T, s string) {
			must(t, os.Rename(s, s+"-moved"))
			must(t, os.Symlink(s+"-moved", s))
		}, "."},
	}
	if isRoot() {
		all["file given away"] = tampering{func(t *testing.T, s string) { must(t, os.Chown(s+"/input/none", 65534, -1)) }, "input/none"}
		all["directory given away"] = tampering{func(t *testing.T, s string) { must(t, os.Chown(s+"/home", 65534, -1)) }, "home"}
	}
	return all
}

func resize(t *testing.T, path string, size int64) {
	t.Helper()
	must(t, os.Chmod(path, 0o600))
	must(t, os.Truncate(path, size))
	must(t, os.Chmod(path, 0o400))
}

func exchange(t *testing.T, a, b string) {
	t.Helper()
	must(t, os.Rename(a, a+"-x"))
	must(t, os.Rename(b, a))
	must(t, os.Rename(a+"-x", b))
}

// TestVerifySeesTampering: each act between Materialise and Verify is a mismatch at the entry; the slot then stays, and nothing is deleted.
func TestVerifySeesTampering(t *testing.T) {
	acts := differences()
	acts["contents flipped"] = tampering{func(t *testing.T, s string) { flip(t, s+"/program/lib/a.js") }, "program/lib/a.js"}
	acts["canary flipped"] = tampering{func(t *testing.T, s string) { flip(t, s+"/canary") }, "canary"}
	for name, c := range acts {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			s := w.filled()
			c.act(t, s.Path())
			before := tree(t, w.root)
			_, err := s.Verify()
			mismatchAt(t, err, filepath.Clean(s.Path()+"/"+c.seen))
			stays(t, w, s.Quarantine(SnapshotMismatch, err.Error()), before, SnapshotMismatch)
		})
	}
}

// stays demands that a slot was quarantined for that reason and that nothing in the root came or went.
func stays(t *testing.T, w *world, d Disposition, before map[string]uint64, reason QuarantineReason) {
	t.Helper()
	if d.State != StateQuarantined || d.Reason != reason || d.Path != w.root+"/slot-0" || d.Durable || d.Message == "" {
		t.Errorf("%+v, want quarantined with %s", d, reason)
	}
	after := tree(t, w.root)
	for path, ino := range before {
		if after[path] != ino {
			t.Errorf("%s was deleted or replaced", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d entries became %d", len(before), len(after))
	}
}

// TestVerifyOfAnUntouchedSlot is the twin of all the others: its evidence names the verified inodes, it stays true, and the slot goes away.
func TestVerifyOfAnUntouchedSlot(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	must(t, os.Chmod(s.Path()+"/program/main.mjs", 0o444)) // a file's mode alone is not compared
	v, err := s.Verify()
	must(t, err)
	for name, source := range map[string]pins.Source{"program": v.Program(), "input": v.Input(), "canary": v.Canary()} {
		f, err := statAt(unix.AT_FDCWD, s.Path()+"/"+name)
		must(t, err)
		if source.Path != s.Path()+"/"+name || source.Dev != f.dev || source.Ino != f.ino {
			t.Errorf("%s: %+v, want %+v", name, source, f)
		}
	}
	if v.Home() != s.Path()+"/home" || v.Path() != s.Path() {
		t.Errorf("home %s, path %s", v.Home(), v.Path())
	}
	for _, file := range []string{"/program/main.mjs", "/input/data.txt", "/canary"} {
		_, err := os.ReadFile(s.Path() + file)
		must(t, err)
	}
	must(t, s.Recheck(v))
	if d := s.Remove(NamespaceChanged); d != (Disposition{State: StateRemoved, Durable: true}) {
		t.Errorf("%+v", d)
	}
	w.mustBeEmpty()
}

// TestContents: what is read back by path is what the snapshots hold, and the canary is 64 hex digits of its own.
func TestContents(t *testing.T) {
	w := newWorld(t, 8)
	s, other := w.filled(), w.filled()
	for dir, snap := range map[string]pins.Snapshot{"program": programOf(t), "input": inputOf(t)} {
		for e, content := range snap.All() {
			got, err := os.ReadFile(s.Path() + "/" + dir + "/" + e.Path)
			must(t, err)
			if string(got) != string(slices.Concat(content...)) {
				t.Errorf("%s/%s differs", dir, e.Path)
			}
		}
	}
	one, err := os.ReadFile(s.Path() + "/canary")
	must(t, err)
	two, err := os.ReadFile(other.Path() + "/canary")
	must(t, err)
	if len(one) != 64 || strings.Trim(string(one), "0123456789abcdef") != "" || string(one) == string(two) {
		t.Errorf("canaries %q and %q", one, two)
	}
}

// TestRecheckSeesTampering: each act between Verify and Recheck is seen, those that restore everything but ctime too, and nothing is removed.
func TestRecheckSeesTampering(t *testing.T) {
	acts := differences()
	for name, act := range restored() {
		acts[name] = act
	}
	for name, c := range acts {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			s, v := w.verified()
			letClockTick(t)
			c.act(t, s.Path())
			before := tree(t, w.root)
			if err := s.Recheck(v); !isMismatch(err) {
				t.Errorf("got %v, want a mismatch", err)
			}
			stays(t, w, s.Remove(NamespaceChanged), before, NamespaceChanged)
		})
	}
}

// restored are acts after which contents, modes, names, inodes and times of modification are as they were.
func restored() map[string]tampering {
	return map[string]tampering{
		"contents flipped and flipped back": {func(t *testing.T, s string) {
			flip(t, s+"/program/lib/a.js")
			flip(t, s+"/program/lib/a.js")
		}, "program/lib/a.js"},
		"file swapped and swapped back": {func(t *testing.T, s string) {
			exchange(t, s+"/program/main.mjs", twin(t, s, "/program/main.mjs"))
			exchange(t, s+"/program/main.mjs", outside(s, "twin"))
		}, "program"},
		"directory swapped and swapped back": {func(t *testing.T, s string) {
			exchange(t, s+"/program", s+"/input")
			exchange(t, s+"/program", s+"/input")
		}, "program"},
		"slot renamed and renamed back": {func(t *testing.T, s string) {
			must(t, os.Rename(s, s+"-moved"))
			must(t, os.Rename(s+"-moved", s))
		}, "."},
		"file made and removed": {func(t *testing.T, s string) {
			must(t, os.WriteFile(s+"/home/x", nil, 0o600))
			must(t, os.Remove(s+"/home/x"))
		}, "home"},
		"hard link made and removed": {func(t *testing.T, s string) {
			link := outside(s, "link")
			must(t, os.Link(s+"/canary", link))
			must(t, os.Remove(link))
		}, "canary"},
		"directory opened to others and closed": {func(t *testing.T, s string) {
			must(t, os.Chmod(s+"/home", 0o755))
			must(t, os.Chmod(s+"/home", 0o700))
		}, "home"},
		"file's mode changed": {func(t *testing.T, s string) { must(t, os.Chmod(s+"/canary", 0o444)) }, "canary"},
	}
}
