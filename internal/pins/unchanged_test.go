package pins

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestUnchanged acts on a real tree between two readings.
func TestUnchanged(t *testing.T) {
	seeChanges(t, func(tr *tree) (Closure, func() (Closure, error)) {
		subject := tr.subject("bin/node")
		read := func() (Closure, error) { return subject.take(context.Background(), nil, nil) }
		return tr.must(read()), read
	})
}

// seeChanges wants each change to be seen between what taken takes, and what it can take again.
func seeChanges(t *testing.T, taken func(*tree) (Closure, func() (Closure, error))) {
	t.Helper()
	const lib = "usr/lib/x/libb.so"
	rows := []struct {
		name          string
		act           func(*tree) error
		path, problem string // both empty: unchanged
	}{
		{"nothing", func(*tree) error { return nil }, "", ""},
		{"reading", func(tr *tree) error { _, err := os.ReadFile(tr.at(lib)); return err }, "", ""},
		{"something beside it", func(tr *tree) error { tr.write("usr/lib/x/libother.so", "x"); return nil }, "", ""},
		{"content", func(tr *tree) error { tr.write(lib, string(elfSpec{data: "x"}.encode())); return nil }, lib, "another content"},
		{"a byte and its time back", func(tr *tree) error { return rewriteKeepingTime(tr.at(lib)) }, lib, "another content"},
		{"rewritten and written back", func(tr *tree) error { return rewriteAndBack(tr.at(lib)) }, lib, "was touched"},
		{"written with the same bytes", func(tr *tree) error { return rewrite(tr.at(lib)) }, lib, "was touched"},
		{"mode", func(tr *tree) error { return os.Chmod(tr.at(lib), 0o640) }, lib, "was touched"},
		{"time", func(tr *tree) error { return os.Chtimes(tr.at(lib), time.Time{}, time.Unix(1, 0)) }, lib, "was touched"},
		{"replaced by an equal file", func(tr *tree) error { return replace(tr.at(lib)) }, lib, "replaced by another file"},
		{"swapped and swapped back", func(tr *tree) error { return swapAndBack(tr.at(lib)) }, lib, "was touched"},
		{"the Node binary", func(tr *tree) error { return replace(tr.at("opt/bin/node")) }, "opt/bin/node", "replaced by another file"},
		{"another Node", func(tr *tree) error {
			tr.elf("opt/bin/node2", tr.node)
			tr.link("../opt/bin/node2", "bin/node")
			return nil
		}, "opt/bin/node", "no longer the Node binary"},
		{"another loader", func(tr *tree) error {
			spec := tr.node
			spec.interp = tr.at("lib/x/ld-linux-x86-64.so.2")
			tr.elf("opt/bin/node", spec)
			return nil
		}, "lib64/ld-linux-x86-64.so.2", "no longer the loader"},
		{"a library more", func(tr *tree) error {
			tr.elf(lib, elfSpec{needed: []string{"libz.so"}})
			tr.elf("usr/lib/x/liba0.so", elfSpec{})
			tr.link("liba0.so", "usr/lib/x/libz.so")
			return nil
		}, "usr/lib/x/liba0.so", "has become part"},
		{"a library less", func(tr *tree) error { tr.elf("usr/lib/x/liba.so.1.2", elfSpec{soname: "liba.so.1"}); return nil }, "usr/lib/x/liba.so.1.2", "another content"},
		{"a symlink more", func(tr *tree) error {
			tr.link("../opt/bin/../bin/node", "bin/node2")
			tr.link("node2", "bin/node")
			return nil
		}, "bin/node", `is a symlink to "node2"`},
		{"a symlink elsewhere of no effect", func(tr *tree) error { tr.link("./usr/lib", "lib"); return nil }, "lib", `is a symlink to "./usr/lib", no longer to "usr/lib"`},
	}
	for _, row := range rows {
		tr := newTree(t)
		var was Closure
		var again func() (Closure, error)
		if err := touch(tr.at(lib), func(string) error { was, again = taken(tr); return row.act(tr) }); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		err := was.Unchanged(tr.must(again()))
		var changed *ChangedError
		switch {
		case row.problem == "" && err != nil:
			t.Errorf("%s: %v", row.name, err)
		case row.problem != "" && (!errors.As(err, &changed) || changed.Path != tr.at(row.path) || !strings.Contains(changed.Problem, row.problem)):
			t.Errorf("%s: %v, want %s: %s", row.name, err, row.path, row.problem)
		}
	}
}

func rewrite(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// restorable is what a file holds, and the time to put back once it was written to.
func restorable(path string) (content []byte, modified time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	content, err = os.ReadFile(path)
	return content, info.ModTime(), err
}

// rewriteKeepingTime changes a byte of the content and puts the modification time back.
func rewriteKeepingTime(path string) error {
	content, modified, err := restorable(path)
	if err != nil {
		return err
	}
	content[bodyAt]++
	return errors.Join(os.WriteFile(path, content, 0o600), os.Chtimes(path, time.Time{}, modified))
}

// rewriteAndBack changes a byte of the content, and then all is as it was.
func rewriteAndBack(path string) error {
	content, modified, err := restorable(path)
	if err != nil {
		return err
	}
	return errors.Join(rewriteKeepingTime(path), os.WriteFile(path, content, 0o600), os.Chtimes(path, time.Time{}, modified))
}

func replace(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path+".new", content, 0o600), os.Rename(path+".new", path))
}

func swapAndBack(path string) error {
	return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("other"), 0o600), os.Rename(path+".old", path))
}

// TestUnchangedComparesEveryField edits a closure instead of a tree.
func TestUnchangedComparesEveryField(t *testing.T) {
	rows := []struct {
		name string
		edit func(*Closure)
		path string
	}{
		{"dev", func(c *Closure) { c.Files[0].ID.Dev++ }, "/lib/ld.so"},
		{"inode", func(c *Closure) { c.Files[1].ID.Ino++ }, "/n/node"},
		{"owner", func(c *Closure) { c.Files[1].ID.UID++ }, "/n/node"},
		{"mtime", func(c *Closure) { c.Files[1].ID.MtimeNs++ }, "/n/node"},
		{"ctime", func(c *Closure) { c.Files[1].ID.CtimeNs-- }, "/n/node"},
		{"size", func(c *Closure) { c.Files[1].Size++ }, "/n/node"},
		{"hash", func(c *Closure) { c.Files[1].SHA256[5]++ }, "/n/node"},
		{"a file less", func(c *Closure) { c.Files = c.Files[:1] }, "/n/node"},
		{"the first file less", func(c *Closure) { c.Files = c.Files[1:] }, "/lib/ld.so"},
		{"a file more at the end", func(c *Closure) { c.Files = append(c.Files, RuntimeFile{Path: "/z"}) }, "/z"},
		{"a file more at the start", func(c *Closure) { c.Files = append([]RuntimeFile{{Path: "/a"}}, c.Files...) }, "/a"},
		{"launcher", func(c *Closure) { c.Launchers[0].ID.CtimeNs++ }, "/c"},
		{"a launcher less", func(c *Closure) { c.Launchers = c.Launchers[:1] }, "/d"},
		{"an alias less", func(c *Closure) { c.Aliases = c.Aliases[:1] }, "/lib64"},
		{"the first alias less", func(c *Closure) { c.Aliases = c.Aliases[1:] }, "/l"},
		{"an alias more at the end", func(c *Closure) { c.Aliases = append(c.Aliases, Alias{"/z", "y"}) }, "/z"},
		{"an alias more at the start", func(c *Closure) { c.Aliases = append([]Alias{{"/a", "b"}}, c.Aliases...) }, "/a"},
		{"target", func(c *Closure) { c.Aliases[1].Target = "usr/lib" }, "/lib64"},
		{"node", func(c *Closure) { c.Node = "/lib/ld.so" }, "/n/node"},
		{"interpreter", func(c *Closure) { c.Interpreter = "/lib/ld.so" }, "/lib64/ld.so"},
	}
	if err := sampleClosure().Unchanged(sampleClosure()); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		again := sampleClosure()
		row.edit(&again)
		var changed *ChangedError
		if err := sampleClosure().Unchanged(again); !errors.As(err, &changed) || changed.Path != row.path {
			t.Errorf("%s: %v, want a ChangedError about %s", row.name, err, row.path)
		}
		if again.Unchanged(sampleClosure()) == nil {
			t.Errorf("%s: the other way round there is no change", row.name)
		}
	}
}
