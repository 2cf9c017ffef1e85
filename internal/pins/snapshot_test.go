package pins

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type file struct{ path, content string }

// vector is a snapshot whose digest was computed elsewhere.
type vector struct {
	name     string
	files    []file
	protocol string
	digest   Digest
}

func vectors() []vector {
	var bytes256 []byte
	for i := range 256 {
		bytes256 = append(bytes256, byte(i))
	}
	return []vector{
		{"empty", nil, "sf-confined-snapshot/1", "sha256:c0043fe4568bd869827ca5681438f9dbf6deb6c9070e7b18d59f18cc69c1be61"},
		{"one file", []file{{"main.mjs", "console.log('hi')\n"}}, "sf-confined-snapshot/1", "sha256:375d22506ae6cd2056ecc6e588f8679fc3fa697a7027399d97dfa77f203bdbf7"},
		{"order", []file{{"b/x.js", ""}, {"a.txt", "hello\n"}, {"B.txt", string(bytes256)}}, "sf-confined-snapshot/1", "sha256:3317aab87a5603e966da3fc10a0eff96ae777f1251722a1fc5a25740df9ef0bb"},
		{"second protocol", []file{{"node_modules/@a/b+c/index.js", "1\n"}}, "sf-confined-snapshot/2", "sha256:28dde3b61accdde26535befe581773ec1bea2fa20f4f7085de0a87dc92741fc4"},
	}
}

// snapshotOf builds the snapshot of files, or its faults.
func snapshotOf(t *testing.T, files []file) (Snapshot, []Fault) {
	t.Helper()
	var b Builder
	for _, f := range files {
		if err := b.Add(f.path, strings.NewReader(f.content)); err != nil {
			t.Fatalf("Add(%q): %v", f.path, err)
		}
	}
	return b.Snapshot()
}

func TestVectors(t *testing.T) {
	for _, v := range vectors() {
		s, faults := snapshotOf(t, v.files)
		if len(faults) > 0 || s.Digest() != v.digest || s.Protocol() != v.protocol {
			t.Errorf("%s: digest %s protocol %s faults %v, want %s %s", v.name, s.Digest(), s.Protocol(), faults, v.digest, v.protocol)
		}
		if len(v.files) > 0 { // the comparison can fail
			changed := slices.Clone(v.files)
			changed[0].content += "x"
			if s, _ := snapshotOf(t, changed); s.Digest() == v.digest {
				t.Errorf("%s: the digest does not depend on the content", v.name)
			}
		}
	}
}

// TestDigestScript runs the script of docs/snapshot-digest.md on the vectors.
func TestDigestScript(t *testing.T) {
	doc, err := os.ReadFile(repoFile(t, "docs/snapshot-digest.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(doc), "```sh\n")
	script, _, closed := strings.Cut(after, "```")
	if !found || !closed || strings.Count(script, "\n") != 8 {
		t.Fatalf("docs/snapshot-digest.md holds no sh script of 8 lines, but\n%s", script)
	}
	for _, v := range vectors() {
		dir := t.TempDir()
		for _, f := range v.files {
			writeFile(t, filepath.Join(dir, f.path), []byte(f.content))
		}
		out, err := exec.Command("sh", "-c", script, "snapshot-digest", dir).CombinedOutput()
		if err != nil || string(out) != string(v.digest)+"\n" {
			t.Errorf("%s: the script of the docs says %q, %v, want %s", v.name, out, err, v.digest)
		}
		if !strings.Contains(string(doc), string(v.digest)) {
			t.Errorf("%s: the docs do not list %s", v.name, v.digest)
		}
	}
}

func TestSnapshotViews(t *testing.T) {
	files := []file{{"b/c/d", "4"}, {"b.x/e", "22"}, {"b/a", "333"}, {"a", ""}, {"B2/z", "1"}}
	s, faults := snapshotOf(t, files)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := []string{"B2/z", "a", "b.x/e", "b/a", "b/c/d"} // bytewise: '.' before '/', upper case before lower
	var paths []string
	for e, content := range s.All() {
		paths = append(paths, e.Path)
		i := slices.IndexFunc(files, func(f file) bool { return f.path == e.Path })
		if string(slices.Concat(content...)) != files[i].content || e.Size != content.Size() {
			t.Errorf("%s holds %q, size %d", e.Path, content, e.Size)
		}
	}
	if !slices.Equal(paths, want) {
		t.Errorf("All yields %q, want %q", paths, want)
	}
	if dirs := s.Dirs(); !slices.Equal(dirs, []string{"B2", "b", "b.x", "b/c"}) {
		t.Errorf("Dirs = %q", dirs)
	}
	if s.Bytes() != 7 {
		t.Errorf("Bytes = %d, want 7", s.Bytes())
	}
	for p, has := range map[string]bool{"a": true, "b/c/d": true, "b": false, "b/c": false, "A": false, "": false, "zz": false} {
		if s.Has(p) != has {
			t.Errorf("Has(%q) = %v", p, !has)
		}
	}
	s.Files()[0].Path, s.Dirs()[0] = "changed", "changed"
	if s.Files()[0].Path != "B2/z" || s.Dirs()[0] != "B2" {
		t.Error("a caller can change the snapshot through a slice it was given")
	}
	for range s.All() {
		break // stopping early is allowed
	}
}

func TestSnapshotIsFrozen(t *testing.T) {
	var b Builder
	content := []byte("before")
	if err := b.Add("a", bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	s, _ := b.Snapshot()
	copy(content, "AFTER!")
	if err := b.Add("0", strings.NewReader("more")); err != nil {
		t.Fatal(err)
	}
	for e, held := range s.All() {
		if e.Path != "a" || string(slices.Concat(held...)) != "before" {
			t.Errorf("the snapshot holds %s = %q", e.Path, held)
		}
	}
	if again, faults := b.Snapshot(); len(faults) > 0 || len(again.Files()) != 2 || again.Digest() == s.Digest() {
		t.Errorf("a second snapshot of the builder: %v %v", again.Files(), faults)
	}
}
