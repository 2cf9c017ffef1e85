package pins

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFaults(t *testing.T) {
	rows := []struct {
		name  string
		paths []string
		want  []string // code, a space and the path at fault
	}{
		{"none", []string{"a", "b/a", "b/b", "c.d/a", "a.b"}, nil},
		{"bad path", []string{"../a", "ok", "a b"}, []string{"bad-path ../a", "bad-path a b"}},
		{"empty path", []string{""}, []string{"bad-path "}},
		{"same path twice", []string{"a", "b", "a", "a"}, []string{"duplicate-path a", "duplicate-path a"}},
		{"bad path twice", []string{"/a", "/a"}, []string{"bad-path /a", "bad-path /a"}},
		{"case of a file", []string{"Readme", "README"}, []string{"path-clash README"}},
		{"case of a directory", []string{"src/a", "Src/b"}, []string{"path-clash Src/b"}},
		{"case of an inner directory", []string{"x/src/a", "x/SRC/b"}, []string{"path-clash x/SRC/b"}},
		{"case of a directory and a file", []string{"src/a", "SRC"}, []string{"path-clash SRC"}},
		{"case of a file and a directory", []string{"SRC", "src/a"}, []string{"path-clash src/a"}},
		{"a file, then below it", []string{"a", "a/b"}, []string{"path-clash a/b"}},
		{"below it, then a file", []string{"a/b/c", "a/b"}, []string{"path-clash a/b"}},
		{"case of all segments", []string{"a/b/c", "A/B/C"}, []string{"path-clash A/B/C"}},
		{"case outside ASCII letters is none", []string{"a@", "a`"}, []string{"bad-path a`"}},
		{"@ and ` fold to nothing", []string{"@", "_", "-", "+"}, nil},
		{"all at once", []string{"a", "A", "..", "a", "a/b"}, []string{"path-clash A", "bad-path ..", "duplicate-path a", "path-clash a/b"}},
	}
	for _, row := range rows {
		var files []file
		for _, p := range row.paths {
			files = append(files, file{p, "x"})
		}
		s, faults := snapshotOf(t, files)
		var got []string
		for _, f := range faults {
			got = append(got, string(f.Code)+" "+f.Path)
			if !strings.Contains(f.Detail, fmt.Sprintf("%q", f.Path)) || !strings.Contains(f.Detail, ": ") {
				t.Errorf("%s: the detail does not name %q and a cure: %s", row.name, f.Path, f.Detail)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: faults %q, want %q", row.name, got, row.want)
		}
		if (s.Digest() == "") != (len(row.want) > 0) {
			t.Errorf("%s: a snapshot and faults exclude each other: digest %q", row.name, s.Digest())
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var b Builder
	for i := range 3 * MaxFaults {
		if err := b.Add(fmt.Sprintf("no good %d", i), strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
	}
	if _, faults := b.Snapshot(); len(faults) != MaxFaults || faults[63].Path != "no good 63" {
		t.Errorf("%d faults, want the first %d", len(faults), MaxFaults)
	}
}

func TestTooManyFiles(t *testing.T) {
	var b Builder
	add := func(path string) {
		if err := b.Add(path, strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range MaxSnapshotFiles {
		add(fmt.Sprintf("d%d/f%d", i%100, i))
	}
	if s, faults := b.Snapshot(); len(faults) > 0 || len(s.Files()) != MaxSnapshotFiles {
		t.Fatalf("exactly at the bound: %v", faults)
	}
	add("one-more")
	add("and-another")
	_, faults := b.Snapshot()
	if len(faults) != 1 || faults[0].Code != TooManyFiles || faults[0].Path != "one-more" || !strings.Contains(faults[0].Detail, "10002 files") {
		t.Errorf("faults %v", faults)
	}
}

// zeros is a reader of that many bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestTooLarge(t *testing.T) {
	const near = MaxSnapshotBytes - 100
	rows := []struct {
		name   string
		before int64 // bytes that were added already
		sizes  []int64
		want   string // the file at fault, or empty
	}{
		{"at the bound", near, []int64{99, 1, 0}, ""},
		{"one file at the bound", near, []int64{100}, ""},
		{"one byte more", near, []int64{100, 1}, "f1"},
		{"one file one byte more", near, []int64{101}, "f0"},
		{"far beyond", near, []int64{0, MaxSnapshotBytes, 1, 7}, "f1"},
		{"for real", 0, []int64{MaxSnapshotBytes - 1, 1, 0, 1}, "f3"},
	}
	for _, row := range rows {
		b := Builder{bytes: row.before}
		total := row.before
		for i, size := range row.sizes {
			total += size
			if err := b.Add(fmt.Sprintf("f%d", i), zeros(size)); err != nil {
				t.Fatal(err)
			}
		}
		s, faults := b.Snapshot()
		switch {
		case row.want == "":
			if len(faults) > 0 || s.Bytes() != total-row.before {
				t.Errorf("%s: faults %v", row.name, faults)
			}
		case len(faults) != 1 || faults[0].Code != SnapshotTooLarge || faults[0].Path != row.want || !strings.Contains(faults[0].Detail, fmt.Sprint(total)):
			t.Errorf("%s: faults %v, want snapshot-too-large of %s with %d bytes", row.name, faults, row.want, total)
		case b.contents != nil || b.entries != nil:
			t.Errorf("%s: content is kept past the bound", row.name)
		}
	}
}

func TestNothingIsKeptAfterAFault(t *testing.T) {
	var b Builder
	for _, p := range []string{"good", "..", "after"} {
		if err := b.Add(p, strings.NewReader("content")); err != nil {
			t.Fatal(err)
		}
		if kept := b.contents != nil; kept != (p == "good") {
			t.Errorf("after %q content is kept: %v", p, kept)
		}
	}
}

func TestFaultsOfSizeComeFirst(t *testing.T) {
	var b Builder
	for i := range MaxSnapshotFiles + 1 {
		size := int64(0)
		if i == 1 {
			size = MaxSnapshotBytes + 1
		}
		if err := b.Add(fmt.Sprintf("bad path %d", i), zeros(size)); err != nil {
			t.Fatal(err)
		}
	}
	_, faults := b.Snapshot()
	if len(faults) != MaxFaults || faults[0].Code != TooManyFiles || faults[1].Code != SnapshotTooLarge || faults[2].Code != BadPath {
		t.Errorf("%d faults, first %v", len(faults), faults[:3])
	}
}

func TestAddReadsItsReaderWhole(t *testing.T) {
	for _, path := range []string{"good", "no good"} {
		var b Builder
		r := bytes.NewReader(make([]byte, 100_000))
		if err := b.Add(path, iotest.HalfReader(r)); err != nil || r.Len() != 0 {
			t.Errorf("%s: %v, %d bytes left unread", path, err, r.Len())
		}
	}
}

func TestAddReturnsTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	for _, path := range []string{"good", "no good"} {
		var b Builder
		err := b.Add(path, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("%s: error %v, want that of the reader", path, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a snapshot without a file that was meant", path)
				}
			}()
			b.Snapshot()
		}()
	}
}

// TestDirectoriesAreBounded: few bytes can ask for many directories.
func TestDirectoriesAreBounded(t *testing.T) {
	for _, row := range []struct {
		top    int // directories of their own, each with one more inside
		faulty bool
	}{{MaxSnapshotDirs / 2, false}, {MaxSnapshotDirs/2 + 1, true}} {
		var b Builder
		for i := range row.top {
			if err := b.Add(fmt.Sprintf("%d/a/f", i), strings.NewReader("")); err != nil {
				t.Fatal(err)
			}
		}
		_, faults := b.Snapshot()
		if row.faulty != (len(faults) == 1 && faults[0].Code == TooManyFiles && strings.Contains(faults[0].Detail, "directories")) {
			t.Errorf("%d directories: %v", 2*row.top, faults)
		}
	}
}
