package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// toolbox is what `make tools` brings: npm packages at the versions and with the
// digests that packaging/tools/package-lock.json has.
type toolbox struct {
	dir    string
	pinned map[string]struct { // by the path in dir
		Version      string
		Dependencies map[string]string
	}
}

func openToolbox(t *testing.T) toolbox {
	t.Helper()
	b := toolbox{dir: filepath.Join(shared.repo, ".node", "tools")}
	lock := document(t, "packaging/tools/package-lock.json").text
	if complete, err := os.ReadFile(filepath.Join(b.dir, "complete")); err != nil || string(complete) != lock {
		t.Fatalf("the pinned tools are not there: run `make tools` (%v)", err)
	}
	all := struct{ Packages any }{&b.pinned}
	if err := json.Unmarshal([]byte(lock), &all); err != nil {
		t.Fatal(err)
	}
	return b
}

// version is that of a package at the top.
func (b toolbox) version(name string) string { return b.pinned["node_modules/"+name].Version }

// with is a program of these packages and all that they need, at the paths where
// Node looks for them.
func (b toolbox) with(t *testing.T, names ...string) files {
	t.Helper()
	program, had := files{}, map[string]bool{}
	var add func(path string)
	add = func(path string) {
		if had[path] {
			return
		}
		had[path] = true
		maps.Copy(program, b.under(t, path))
		for name := range b.pinned[path].Dependencies {
			add(b.resolve(t, path, name))
		}
	}
	for _, name := range names {
		add("node_modules/" + name)
	}
	return program
}

// resolve is the path of what the package at path gets when it asks for name:
// its own, or the nearest one upwards.
func (b toolbox) resolve(t *testing.T, path, name string) string {
	t.Helper()
	for from := path + "/"; ; {
		if candidate := from + "node_modules/" + name; b.pinned[candidate].Version != "" {
			return candidate
		}
		up := strings.LastIndex(from, "node_modules/")
		if up < 0 {
			t.Fatalf("%s needs %s, which is not pinned", path, name)
		}
		from = from[:up]
	}
}

// under is every file below a folder of the toolbox, by its path in the toolbox,
// except for packages below a package.
func (b toolbox) under(t *testing.T, path string) files {
	t.Helper()
	found := files{}
	err := filepath.WalkDir(filepath.Join(b.dir, path), func(full string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "node_modules":
			return fs.SkipDir
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is no file", full)
		}
		content, err := os.ReadFile(full)
		found[strings.TrimPrefix(full, b.dir+"/")] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// input is files of the toolbox as the input of a run: each of these paths, and
// where it is a folder all that is below it, without what is before its last part.
func (b toolbox) input(t *testing.T, paths ...string) files {
	t.Helper()
	input := files{}
	for _, path := range paths {
		before := filepath.Dir("node_modules/"+path) + "/"
		for name, content := range b.under(t, "node_modules/"+path) {
			input[strings.TrimPrefix(name, before)] = content
		}
	}
	return input
}
