package e2e

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// packed is what the tar of this machine makes of the folder dir.
func packed(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := osexec.Command("tar", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tar %q: %v: %s", args, err, stderr.String())
	}
	return out
}

// postTar sends an archive.
func (d *daemon) postTar(t *testing.T, path string, body []byte) answer {
	t.Helper()
	r := d.newRequest(t, http.MethodPost, path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/x-tar")
	return d.ask(t, r)
}

// folder writes a run down as people who use tar have it: request.json beside
// the folders program and input.
func folder(t *testing.T, r runRequest) string {
	t.Helper()
	dir := t.TempDir()
	writeTree(t, dir, files{"request.json": text(t, r.document())})
	writeTree(t, dir+"/program", r.program)
	writeTree(t, dir+"/input", r.input)
	return dir
}

// TestRealTars: what tar makes of a folder is the run that is in it, in every
// format, and what it makes of links and holes is refused with a cure that is
// one.
func TestRealTars(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := goodRun(t, d)
	long := strings.Repeat("a-long-name/", 12) + strings.Repeat("b", 99)
	r.input = files{"x": "", "data.txt": "1\n", long: "2\n", "binary": strings.Repeat("\x00\xff", 100_000)}
	dir := folder(t, r)
	if err := os.Mkdir(filepath.Join(dir, "input", "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, members := range [][]string{{"request.json", "program", "input"}, {"./request.json", "./input", "./program"}} {
		d.mustBeRight(t, r, d.postTar(t, "/v1/runs", packed(t, dir, append([]string{"-cf", "-"}, members...)...)).result(t))
	}
	for _, format := range []string{"gnu", "oldgnu", "pax", "ustar"} {
		whole := packed(t, filepath.Join(dir, "input"), "-cf", "-", "--format="+format, ".")
		got := decode[struct{ Digest string }](t, d.postTar(t, "/v1/snapshots", whole).body)
		if got.Digest != r.input.digest() {
			t.Errorf("%s: %s, want %s", format, got.Digest, r.input.digest())
		}
	}
	t.Run("cures", func(t *testing.T) { d.cures(t, r) })
}

// cures spoils a folder in ways that tar has an option for.
func (d *daemon) cures(t *testing.T, r runRequest) {
	for name, row := range map[string]struct {
		spoil   func(input string) error
		spoilt  []string // options with which it is refused
		cure    []string
		refused string // the fault, or the status where it is none
	}{
		"a symbolic link": {func(in string) error {
			data := filepath.Join(in, "data.txt")
			return errors.Join(os.Rename(data, filepath.Join(in, "..", "data")), os.Symlink("../data", data))
		}, nil, []string{"-h"}, "wrong-type /input/files/data.txt"},
		"hard links": {func(in string) error {
			return os.Link(filepath.Join(in, "data.txt"), filepath.Join(in, "..", "program", "again"))
		}, nil, []string{"--hard-dereference"}, "wrong-type /input/files/data.txt"},
		"holes": {func(in string) error {
			return errors.Join(os.Chmod(filepath.Join(in, "x"), 0o600), os.Truncate(filepath.Join(in, "x"), 1<<20))
		}, []string{"-S"}, nil, "wrong-type /input/files/x"},
		"compressed": {func(string) error { return nil }, []string{"-z"}, nil, "unsupported-media-type"},
	} {
		dir := folder(t, r)
		if err := row.spoil(filepath.Join(dir, "input")); err != nil {
			t.Fatal(err)
		}
		pack := func(options []string) []byte {
			return packed(t, dir, append(append([]string{"-cf", "-"}, options...), "request.json", "program", "input")...)
		}
		p := d.postTar(t, "/v1/runs", pack(row.spoilt)).problem(t)
		found := []string{p.Code}
		for _, f := range p.Errors {
			found = append(found, f.Code+" "+f.Pointer)
		}
		if all := strings.Join(found, ", "); !strings.Contains(all, row.refused) {
			t.Errorf("%s: %s, want %s", name, all, row.refused)
		}
		// What the cure makes is readable: at most the digests are now others.
		a := d.postTar(t, "/v1/runs", pack(row.cure))
		if a.status == 200 {
			continue
		}
		for _, f := range a.problem(t).Errors {
			if f.Code != "digest-mismatch" {
				t.Errorf("%s, cured by %q: %+v", name, row.cure, f)
			}
		}
	}
}
