package exec

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"confined/internal/pins"
)

// standIn is a small program that plays Node's part where a fault is not about
// Node: what the executor watches, hashes, signals and removes is the same, and
// a run of it costs a tenth.
var standIn = struct {
	once sync.Once
	dir  string
	err  error
}{}

const partName = "libpart.so" // the stand-in's library

// buildStandIn compiles the stand-in once and is its directory.
func buildStandIn(t testing.TB) string {
	t.Helper()
	standIn.once.Do(func() {
		if standIn.dir, standIn.err = os.MkdirTemp("", "exec-standin-"); standIn.err == nil {
			standIn.dir, standIn.err = filepath.EvalSymlinks(standIn.dir)
		}
		compile := func(args ...string) {
			if standIn.err == nil {
				standIn.err = cc(args...)
			}
		}
		compile("-shared", "-fPIC", "-o", filepath.Join(standIn.dir, partName), "testdata/part.c")
		compile("-Wall", "-Wextra", "-Werror", "-O1", "-o", filepath.Join(standIn.dir, "node"),
			"testdata/standin.c", "-L"+standIn.dir, "-lpart", "-Wl,-rpath,$ORIGIN/first:$ORIGIN")
	})
	if standIn.err != nil {
		t.Fatal(standIn.err)
	}
	return standIn.dir
}

func cc(args ...string) error {
	cmd := osexec.Command("cc", args...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// forgetStandIn removes what buildStandIn made.
func forgetStandIn() {
	if standIn.dir != "" {
		_ = os.RemoveAll(standIn.dir)
	}
}

// useStandIn has the world's program run by the stand-in, which counts as proven.
func (w *world) useStandIn() {
	w.node = filepath.Join(buildStandIn(w.t), "node")
	w.proven = func(pins.Runtime) (pins.Proof, error) {
		return pins.Proof{Kind: pins.ProofReceipt, ProvenAt: time.Unix(0, 0)}, nil
	}
	w.does("exit")
}

// does replaces the program with one act of the stand-in's.
func (w *world) does(act string) {
	w.program(map[string]string{"main.mjs": act, "sub/lib.js": "a library\n"})
}

// part is the path of the library of this world's own stand-in.
func (w *world) part() string { return filepath.Join(filepath.Dir(w.node), partName) }

// ownNode gives the world a stand-in of its own, with its library, which the
// row may change.
func (w *world) ownNode() {
	dir := filepath.Join(w.state, "runtime")
	w.must(os.Mkdir(dir, 0o755))
	for _, name := range []string{"node", partName} {
		w.must(copyAs(filepath.Join(filepath.Dir(w.node), name), filepath.Join(dir, name)))
	}
	w.node = filepath.Join(dir, "node")
}

// otherNode is a copy of the stand-in with one byte more: it runs, and is not
// the same.
func (w *world) otherNode() string {
	other := w.node + ".other"
	w.must(copyAs(w.node, other))
	w.must(appendTo(other, "x"))
	return other
}

// aliasNode has a symlink lead to a stand-in of the world's own, whose path it
// returns.
func (w *world) aliasNode() (real string) {
	w.ownNode()
	real = w.node
	w.node = filepath.Join(w.state, "node")
	w.must(os.Symlink(real, w.node))
	return real
}

// pointNode has the symlink lead to another path, at once.
func (w *world) pointNode(target string) error {
	if err := os.Symlink(target, w.node+".new"); err != nil {
		return err
	}
	return os.Rename(w.node+".new", w.node)
}

// ownLauncher gives the world's daemon a binary of its own.
func (w *world) ownLauncher() {
	self, err := os.ReadFile("/proc/self/exe")
	w.must(err)
	w.launcher = filepath.Join(w.state, "launcher")
	w.must(write(w.launcher, self, 0o755))
}

// startFrom makes e what a daemon is that was started from the world's own
// launcher: that file is the one of its runtime's identity.
func (w *world) startFrom(e *Executor) {
	w.must(e.runtimes.launchers[0].File.Close())
	f, err := os.Open(w.launcher)
	w.must(err)
	e.runtimes.launchers = []pins.Launcher{{Path: f.Name(), File: f}}
}
