package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestResolve compares with filepath.EvalSymlinks where that resolves as the kernel does.
func TestResolve(t *testing.T) {
	tr := &tree{t: t, root: canonicalTemp(t)}
	tr.write("a/b/file", "")
	tr.link("a", "rel")
	tr.link(tr.at("a/b"), "abs")
	tr.link("../abs/./../b/", "a/up")
	tr.link("/", "slash")
	rows := []struct {
		path    string
		aliases []string
		left    []string
	}{
		{"a/b/file", nil, nil},
		{"a//./b/file", nil, nil},
		{"rel/b/file", []string{"rel"}, nil},
		{"abs/file", []string{"abs"}, nil},
		{"abs/../b/file", []string{"abs"}, []string{"a/b"}},
		{"a/up/file", []string{"a/up", "abs"}, []string{"a", "a/b"}},
		{"slash/.." + tr.root + "/a/b/file", []string{"slash"}, nil},
	}
	for _, row := range rows {
		w, err := view{}.resolve(tr.at(row.path))
		want, evalErr := filepath.EvalSymlinks(tr.at(row.path))
		if err != nil || evalErr != nil || w.canonical != want || w.canonical != tr.at("a/b/file") {
			t.Errorf("%s: %q, %v, want %q, %v", row.path, w.canonical, err, want, evalErr)
		}
		var aliases []string
		for _, a := range w.aliases {
			aliases = append(aliases, a.Path[len(tr.root)+1:])
		}
		if !slices.Equal(aliases, row.aliases) {
			t.Errorf("%s: aliases %q, want %q", row.path, aliases, row.aliases)
		}
		for _, dir := range row.left {
			if !slices.Contains(w.left, tr.at(dir)) {
				t.Errorf("%s: left %q, want %q among them", row.path, w.left, dir)
			}
		}
	}
}

func TestResolveErrors(t *testing.T) {
	tr := &tree{t: t, root: canonicalTemp(t)}
	tr.write("file", "")
	for i := range maxSymlinks + 1 {
		tr.link(fmt.Sprintf("link%d", i-1), fmt.Sprintf("link%d", i))
	}
	tr.link("file", "link-1")
	rows := map[string]error{"none": fs.ErrNotExist, "file/x": syscall.ENOTDIR, "file/../file": syscall.ENOTDIR, fmt.Sprintf("link%d", maxSymlinks-1): syscall.ELOOP}
	for path, want := range rows {
		if w, err := (view{}).resolve(tr.at(path)); !errors.Is(err, want) || w.canonical != "" {
			t.Errorf("%s: %+v, %v, want %v", path, w, err, want)
		}
	}
	if _, err := (view{}).resolve(tr.at(fmt.Sprintf("link%d", maxSymlinks-2))); err != nil {
		t.Errorf("as many symlinks as the kernel follows: %v", err)
	}
}
