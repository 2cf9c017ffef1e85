package client

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"confined/internal/pins"
)

// Digests from docs/snapshot-digest.md.
const (
	emptyDigest = "sha256:c0043fe4568bd869827ca5681438f9dbf6deb6c9070e7b18d59f18cc69c1be61"
	hiDigest    = "sha256:375d22506ae6cd2056ecc6e588f8679fc3fa697a7027399d97dfa77f203bdbf7"
	atDigest    = "sha256:28dde3b61accdde26535befe581773ec1bea2fa20f4f7085de0a87dc92741fc4"
)

func TestNewTree(t *testing.T) {
	t.Parallel()
	var zero Tree
	for _, row := range []struct {
		tree             Tree
		digest, protocol string
		len              int
		bytes            int64
	}{
		{zero, emptyDigest, "sf-confined-snapshot/1", 0, 0},
		{tree(t), emptyDigest, "sf-confined-snapshot/1", 0, 0},
		{tree(t, "main.mjs", "console.log('hi')\n"), hiDigest, "sf-confined-snapshot/1", 1, 18},
		{tree(t, "node_modules/@a/b+c/index.js", "1\n"), atDigest, "sf-confined-snapshot/2", 1, 2},
	} {
		if got := row.tree; got.Digest() != row.digest || got.Protocol() != row.protocol || got.Len() != row.len || got.Bytes() != row.bytes || len(maps.Collect(got.Files())) != row.len {
			t.Errorf("%s %s, %d files, %d bytes, want %+v", got.Digest(), got.Protocol(), got.Len(), got.Bytes(), row)
		}
	}
	if got := tree(t, "a/b", "1"); !got.Has("a/b") || got.Has("a") {
		t.Error("Has is wrong")
	}
	content := []byte("before")
	frozen, err := NewTree(File{"a", content})
	copy(content, "AFTER!")
	for path, held := range frozen.Files() {
		if err != nil || path != "a" || string(held) != "before" {
			t.Errorf("the tree holds %s %q, %v", path, held, err)
		}
		break
	}
	_, err = NewTree(File{Path: "../a"}, File{Path: "b"}, File{Path: "B"}, File{Path: "b"})
	var faulty *TreeError
	if !errors.As(err, &faulty) || !slices.Equal(codes(faulty), []TreeFaultCode{BadPath, PathClash, DuplicatePath}) || !strings.HasPrefix(err.Error(), "these files are no snapshot:\n  \"../a\"") {
		t.Errorf("%v", err)
	}
}

func codes(e *TreeError) []TreeFaultCode {
	var out []TreeFaultCode
	for _, f := range e.Faults {
		out = append(out, f.Code)
	}
	return out
}

// written is a new folder with these files, given as path and content.
func written(t testing.TB, pathsAndContents ...string) string {
	t.Helper()
	dir := shortDir(t)
	for i := 0; i < len(pathsAndContents); i += 2 {
		write(t, filepath.Join(dir, pathsAndContents[i]), pathsAndContents[i+1])
	}
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadTree(t *testing.T) {
	t.Parallel()
	files := []string{"main.mjs", "1", "lib/a.mjs", "22", ".DS_Store", "mac", "lib/.git/x", "", "z/y/x.js", "333"}
	dir := written(t, files...)
	must(t, os.MkdirAll(dir+"/empty/no file", 0o755))
	must(t, os.Chmod(dir+"/main.mjs", 0o755))
	must(t, os.Link(dir+"/main.mjs", dir+"/lib/linked.mjs"))
	must(t, os.Symlink(dir, dir+"-link"))
	t.Cleanup(func() { os.Remove(dir + "-link") })
	want := tree(t, append(files, "lib/linked.mjs", "1")...)
	for _, from := range []string{dir, dir + "/", dir + "-link", dir + "/lib/.."} {
		if got, err := ReadTree(from); err != nil || got.Digest() != want.Digest() {
			t.Errorf("%s: %v, %v", from, maps.Collect(got.Files()), err)
		}
	}
	if got, err := ReadTree(dir + "/empty"); err != nil || got.Digest() != emptyDigest {
		t.Errorf("a folder without files: %s, %v", got.Digest(), err)
	}
	for path, want := range map[string]string{dir + "/main.mjs": "not a directory; name the directory it is in", dir + "/none": "there is no such directory: ", dir + "/none/": "no such file", "": "no such file"} {
		if _, err := ReadTree(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

func TestExclude(t *testing.T) {
	t.Parallel()
	dir := written(t, "a.js", "", "a.map", "", "lib/a.map", "", "lib/b.js", "", "lib/x/b.js", "", "node_modules/m/a.js", "", "lib/node_modules/n.js", "", ".git/HEAD", "")
	must(t, os.Symlink("/", dir+"/lib/link"))
	for _, row := range []struct {
		exclude string
		left    string
	}{
		{"link", ".git/HEAD a.js a.map lib/a.map lib/b.js lib/node_modules/n.js lib/x/b.js node_modules/m/a.js"},
		{"lib", ".git/HEAD a.js a.map node_modules/m/a.js"},
		{"lib/", ".git/HEAD a.js a.map node_modules/m/a.js"},
		{"./lib/", ".git/HEAD a.js a.map node_modules/m/a.js"},
		{"lib/*", ".git/HEAD a.js a.map node_modules/m/a.js"},
		{"l?nk *.map", ".git/HEAD a.js lib/b.js lib/node_modules/n.js lib/x/b.js node_modules/m/a.js"},
		{"link lib/*.map", ".git/HEAD a.js a.map lib/b.js lib/node_modules/n.js lib/x/b.js node_modules/m/a.js"},
		{"link node_modules", ".git/HEAD a.js a.map lib/a.map lib/b.js lib/x/b.js"},
		{"lib/link lib/node_modules .git", "a.js a.map lib/a.map lib/b.js lib/x/b.js node_modules/m/a.js"},
		{"[kl]ink b.js *.zip", ".git/HEAD a.js a.map lib/a.map lib/node_modules/n.js node_modules/m/a.js"},
		{"link x/b.js", ".git/HEAD a.js a.map lib/a.map lib/b.js lib/node_modules/n.js lib/x/b.js node_modules/m/a.js"},
		{"*", ""},
	} {
		got, err := ReadTree(dir, strings.Fields(row.exclude)...)
		left := strings.Join(slices.Sorted(maps.Keys(maps.Collect(got.Files()))), " ")
		if err != nil || left != row.left {
			t.Errorf("without %s: %s, %v, want %s", row.exclude, left, err, row.left)
		}
	}
	for pattern, want := range map[string]string{
		"[": "cannot be read", "a/[b": "cannot be read", "": "matches nothing", "/": "matches nothing", "./": "matches nothing",
		"/lib": "relative to the tree", "lib/**": "every depth", "**/*.map": "every depth",
	} {
		if _, err := ReadTree(dir, "link", pattern); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", pattern)) {
			t.Errorf("%q: %v, want %q", pattern, err, want)
		}
	}
}

// TestNoTree: everything that is wrong is in one error, with the cure.
func TestNoTree(t *testing.T) {
	t.Parallel()
	dir := written(t, "main.mjs", "1", "sub/a b.txt", "", "A", "", "a", "", "n\xffn/x", "", strings.Repeat("d/", 16)+"deep", "")
	must(t, os.MkdirAll(dir+strings.Repeat("/e", maxDepth+4), 0o755))
	must(t, os.Symlink("../lib/node_modules/npm/bin/npm-cli.js", dir+"/sub/npm"))
	must(t, os.Symlink("sub", dir+"/linked"))
	must(t, syscall.Mkfifo(dir+"/pipe", 0o600))
	listener, err := net.Listen("unix", dir+"/sub/sock")
	must(t, err)
	defer listener.Close()

	_, err = ReadTree(dir)
	var faulty *TreeError
	if !errors.As(err, &faulty) || faulty.Dir != dir {
		t.Fatal(err)
	}
	got := map[string]TreeFaultCode{}
	for _, f := range faulty.Faults {
		got[f.Path] = f.Code
		if !strings.Contains(err.Error(), "\n  "+f.Detail) || strings.ContainsAny(f.Detail, "\n\xff") {
			t.Errorf("%q is not in a line of the message", f.Detail)
		}
	}
	want := map[string]TreeFaultCode{
		"sub/npm": Symlink, "linked": Symlink, "pipe": SpecialFile, "sub/sock": SpecialFile, "sub/a b.txt": BadPath, "a": PathClash,
		"n\xffn/x": BadPath, strings.Repeat("d/", 16) + "deep": BadPath, strings.Repeat("e/", maxDepth) + "e": BadPath,
	}
	if !maps.Equal(got, want) {
		t.Errorf("faults %v, want %v", got, want)
	}
	for _, part := range []string{
		dir + " is no snapshot:\n", `"sub/npm" is a symbolic link to "../lib/node_modules/npm/bin/npm-cli.js"`, `"pipe" is a pipe`, `"sub/sock" is a socket`,
		"--exclude", "cp -RL",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in the message:\n%v", part, err)
		}
	}
	if got, err := ReadTree(dir, "npm", "linked", "pipe", "sock", "a b.txt", "A", "n*n", "d", "e"); err != nil || got.Digest() != tree(t, "main.mjs", "1", "a", "").Digest() {
		t.Errorf("with all of it left out: %v", err)
	}
}

// TestManyLinks: a message ends at some point, the error holds all.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	for i := range 100 {
		must(t, os.Symlink("x", fmt.Sprintf("%s/link%d", dir, i)))
	}
	_, err := ReadTree(dir)
	var faulty *TreeError
	if !errors.As(err, &faulty) || len(faulty.Faults) != 100 || !strings.Contains(err.Error(), "\n  and 36 more\n") || strings.Count(err.Error(), "symbolic link") != 64 {
		t.Error(err)
	}
}

// TestTooMany: the bound on files, with the directories that hold most of them.
func TestTooMany(t *testing.T) {
	t.Parallel()
	w := walk{files: []listed{{"main.mjs", 0}}}
	for i := range pins.MaxSnapshotFiles {
		dir := "node_modules"
		if i%3 == 0 {
			dir = "dist/x"
		}
		w.files = append(w.files, listed{fmt.Sprintf("%s/%d", dir, i), 0})
	}
	fits := walk{files: w.files[1:]}
	if fits.judge(); len(fits.faults) != 0 {
		t.Errorf("as many as may be: %v", fits.faults)
	}
	w.judge()
	want := `there are 10001 files, and a snapshot holds at most 10000: "node_modules" has 6666, "dist" has 3334; exclude what the run does not read`
	if len(w.faults) != 1 || w.faults[0] != (TreeFault{TooManyFiles, w.files[pins.MaxSnapshotFiles].path, want}) {
		t.Errorf("%q", w.faults)
	}
	w = walk{files: fits.files[:1], entries: maxEntries}
	if w.judge(); len(w.faults) != 1 || w.faults[0].Code != TooManyFiles || !strings.Contains(w.faults[0].Detail, "more than 200000 entries") {
		t.Errorf("%q", w.faults)
	}
}

// TestTooLarge: the bound on bytes, with the largest files; none of them is read.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	dir := written(t, "small", "1")
	for name, size := range map[string]int64{"big": 100 << 30, "bigger": 200 << 30, "sub/most": 300 << 30} {
		write(t, dir+"/"+name, "")
		must(t, os.Truncate(dir+"/"+name, size)) // a hole: it takes no room
	}
	_, err := ReadTree(dir)
	var faulty *TreeError
	if !errors.As(err, &faulty) || !slices.Equal(codes(faulty), []TreeFaultCode{SnapshotTooLarge}) || faulty.Faults[0].Path != "sub/most" ||
		!strings.Contains(err.Error(), `there are 644245094401 bytes, and a snapshot holds at most 67108864: "sub/most" has 322122547200, "bigger" has 214748364800, "big" has 107374182400; exclude`) {
		t.Error(err)
	}
}

// TestChangedMeanwhile changes a directory between the look at it and the
// reading: nothing outside is read, nothing waits, and the error names the file.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	outside := written(t, "secret", "s3cret")
	for name, row := range map[string]struct {
		change func(dir string) error
		want   string // empty: no fault
		code   TreeFaultCode
	}{
		"nothing":          {func(string) error { return nil }, "", ""},
		"other content":    {func(dir string) error { return os.WriteFile(dir+"/sub/a", []byte("other"), 0o600) }, "", ""},
		"gone":             {func(dir string) error { return os.Remove(dir + "/sub/a") }, "no such file", Unreadable},
		"a link outside":   {func(dir string) error { return swap(dir+"/sub/a", outside+"/secret") }, "escapes", Unreadable},
		"a link inside":    {func(dir string) error { return swap(dir+"/sub/a", "../b") }, "replaced", Unreadable},
		"a folder outside": {func(dir string) error { return swap(dir+"/sub", outside) }, "escapes", Unreadable},
		"a pipe": {func(dir string) error {
			return errors.Join(os.Remove(dir+"/sub/a"), syscall.Mkfifo(dir+"/sub/a", 0o600))
		}, "replaced", Unreadable},
		"a folder": {func(dir string) error { return errors.Join(os.Remove(dir+"/sub/a"), os.Mkdir(dir+"/sub/a", 0o700)) }, "replaced", Unreadable},
		"growth":   {func(dir string) error { return os.Truncate(dir+"/sub/a", 1<<40) }, "bound of 67108864 bytes", SnapshotTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := written(t, "b", "inside", "sub/a", "1", "z", "last")
			root, err := os.OpenRoot(dir)
			must(t, err)
			defer root.Close()
			w := walk{root: root}
			w.list(".")
			w.judge()
			if len(w.faults) > 0 || len(w.files) != 3 {
				t.Fatalf("listed %v, %v", w.files, w.faults)
			}
			must(t, row.change(dir))
			taken := Tree{w.take()}
			if row.want == "" {
				if got := maps.Collect(taken.Files()); len(w.faults) > 0 || len(got) != 3 || taken.Digest() != tree(t, "b", string(got["b"]), "sub/a", string(got["sub/a"]), "z", "last").Digest() {
					t.Errorf("took %q, %v", got, w.faults)
				}
				return
			}
			if len(w.faults) != 1 || w.faults[0].Code != row.code || w.faults[0].Path != "sub/a" || !strings.Contains(w.faults[0].Detail, row.want) {
				t.Errorf("faults %v, want %q", w.faults, row.want)
			}
		})
	}
}

// swap puts a symbolic link in the place of path.
func swap(path, target string) error {
	return errors.Join(os.RemoveAll(path), os.Symlink(target, path))
}

// TestUnreadable: what the user may not read is named. To root nothing is
// unreadable, which is what makes it the control.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := written(t, "a", "1", "b", "2", "sub/c", "3")
	must(t, os.Chmod(dir+"/a", 0))
	must(t, os.Chmod(dir+"/sub", 0))
	t.Cleanup(func() { os.Chmod(dir+"/sub", 0o700) })
	got, err := ReadTree(dir)
	if os.Geteuid() == 0 {
		if err != nil || got.Len() != 3 {
			t.Error(got.Len(), err)
		}
		return
	}
	var faulty *TreeError
	if !errors.As(err, &faulty) || !slices.Equal(codes(faulty), []TreeFaultCode{Unreadable}) || !strings.Contains(err.Error(), `"sub" cannot be read: permission denied`) {
		t.Error(err)
	}
	if _, err := ReadTree(dir, "sub"); !errors.As(err, &faulty) || !strings.Contains(err.Error(), `"a" cannot be read: permission denied`) {
		t.Error(err)
	}
}
