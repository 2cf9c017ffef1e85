package pins

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a made-up file system below a temporary directory, laid out as a distribution would:
//
//	bin/node                             -> ../opt/bin/node
//	lib, lib64                           -> usr/lib, usr/lib64
//	opt/bin/node                         needs liba.so.1, and ld-linux by its soname
//	usr/lib64/ld-linux-x86-64.so.2       -> <root>/lib/x/ld-linux-x86-64.so.2
//	usr/lib/x/ld-linux-x86-64.so.2       has the default directories lib/x and usr/lib/x
//	usr/lib/x/liba.so.1                  -> liba.so.1.2
//	usr/lib/x/liba.so.1.2                needs libb.so, whose directory is not in a run path
//	usr/lib/x/libb.so                    needs nothing
type tree struct {
	t    *testing.T
	root string
	node elfSpec // as it was written, for tests that change one thing of it
}

func newTree(t *testing.T) *tree {
	t.Helper()
	tr := &tree{t: t, root: canonicalTemp(t)}
	tr.link("usr/lib", "lib")
	tr.link("usr/lib64", "lib64")
	tr.link("../opt/bin/node", "bin/node")
	tr.link(tr.at("lib/x/ld-linux-x86-64.so.2"), "usr/lib64/ld-linux-x86-64.so.2")
	tr.interpreter(tr.systemDirs()...)
	tr.link("liba.so.1.2", "usr/lib/x/liba.so.1")
	tr.elf("usr/lib/x/liba.so.1.2", elfSpec{soname: "liba.so.1", needed: []string{"libb.so"}})
	tr.elf("usr/lib/x/libb.so", elfSpec{})
	tr.node = elfSpec{kind: elfExec, interp: tr.at("lib64/ld-linux-x86-64.so.2"), needed: []string{"liba.so.1", "ld-linux-x86-64.so.2"}}
	tr.elf("opt/bin/node", tr.node)
	return tr
}

// at is the whole path of a path within the tree.
func (tr *tree) at(path string) string { return tr.root + "/" + path }

// systemDirs are the candidates of default directories that the tests give to takeClosure.
func (tr *tree) systemDirs() []string { return []string{tr.at("lib/x"), tr.at("usr/lib/x")} }

func (tr *tree) elf(path string, spec elfSpec) {
	tr.t.Helper()
	tr.write(path, string(spec.encode()))
}

func (tr *tree) write(path, content string) {
	tr.t.Helper()
	if err := os.Remove(tr.at(path)); err != nil && !os.IsNotExist(err) {
		tr.t.Fatal(err)
	}
	writeFile(tr.t, tr.at(path), []byte(content))
}

func (tr *tree) link(target, path string) {
	tr.t.Helper()
	tr.remove(path)
	symlink(tr.t, target, tr.at(path))
}

func (tr *tree) remove(path string) {
	tr.t.Helper()
	if err := os.RemoveAll(tr.at(path)); err != nil {
		tr.t.Fatal(err)
	}
}

// interpreter writes the loader with these default directories, as glibc keeps them.
func (tr *tree) interpreter(dirs ...string) {
	tr.t.Helper()
	var data strings.Builder
	for _, dir := range dirs {
		data.WriteString(dir + "/\x00")
	}
	tr.elf("usr/lib/x/ld-linux-x86-64.so.2", elfSpec{soname: "ld-linux-x86-64.so.2", data: data.String()})
}

// subject is whose closure is taken: of the Node at that path of the tree.
func (tr *tree) subject(node string) subject {
	tr.t.Helper()
	return subject{tr.at(node), openLauncher(tr.t), &elfHost{machineAMD64, tr.systemDirs()}}
}

func (tr *tree) take(node string) (Closure, error) {
	tr.t.Helper()
	return tr.subject(node).take(context.Background(), nil, nil)
}

// mustTake is take of bin/node, which must succeed.
func (tr *tree) mustTake() Closure {
	tr.t.Helper()
	return tr.must(tr.take("bin/node"))
}

func (tr *tree) must(c Closure, err error) Closure {
	tr.t.Helper()
	if err != nil {
		tr.t.Fatal(err)
	}
	return c
}

// paths are the files of a closure below the tree's root.
func (tr *tree) paths(c Closure) []string {
	tr.t.Helper()
	var paths []string
	for _, f := range c.Files {
		path, err := filepath.Rel(tr.root, f.Path)
		if err != nil {
			tr.t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// openLauncher opens a small file that stands for the launcher, executed by its handle.
func openLauncher(t testing.TB) []Launcher {
	t.Helper()
	path := filepath.Join(canonicalTemp(t), "launcher")
	writeFile(t, path, []byte("launcher\n"))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return []Launcher{{Path: path, File: f}}
}
