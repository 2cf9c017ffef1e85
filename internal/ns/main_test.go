package ns

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// TestMain lets the test binary play the other daemon: started as "ns-helper <act> <args>" it does that act in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "ns-helper" {
		if err := helper(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "helper", os.Args[2]+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func helperCommand(t *testing.T, args ...string) *osexec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := osexec.Command(self, append([]string{"ns-helper"}, args...)...)
	cmd.Stderr = &stderr
	t.Cleanup(func() {
		if t.Failed() && stderr.Len() > 0 {
			t.Log(stderr.String())
		}
	})
	return cmd
}

// fitDir is a fresh canonical 0700 directory on a file system that a root may be on, removed with all in it when the test ends.
func fitDir(t testing.TB) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{os.TempDir(), here} {
		dir, err := os.MkdirTemp(parent, "ns-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if real, err := filepath.EvalSymlinks(dir); err == nil && judgeFit(real) {
			return real
		}
	}
	t.Fatalf("neither %s nor %s is a writable directory on %s: set TMPDIR to one that is", os.TempDir(), here, fitFileSystems)
	return ""
}

func judgeFit(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	problem, err := fileSystemProblem(fd)
	return err == nil && problem == ""
}

// world is one root with its state directory, as one daemon sees it.
type world struct {
	t           testing.TB
	root, state string
	pool        *Pool
}

func newWorld(t testing.TB, maxRetained int) *world {
	t.Helper()
	dir := fitDir(t)
	w := &world{t: t, root: dir + "/root", state: dir + "/state"}
	for _, d := range []string{w.root, w.state} {
		must(t, os.Mkdir(d, 0o700))
		must(t, os.Chmod(d, 0o700))
	}
	w.pool = w.newPool(maxRetained)
	return w
}

// newPool is another daemon on the same root and state, or this one after a restart.
func (w *world) newPool(maxRetained int) *Pool {
	w.t.Helper()
	p, err := NewPool(Config{Root: w.root, MaxRetained: maxRetained, State: w.state})
	must(w.t, err)
	return p
}

func claim(t testing.TB, p *Pool) *Slot {
	t.Helper()
	s, err := tryClaim(p)
	must(t, err)
	return s
}

func tryClaim(p *Pool) (*Slot, error) {
	root, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Claim()
}

// filled is a claimed slot with a small program and input in it.
func (w *world) filled() *Slot {
	w.t.Helper()
	s := claim(w.t, w.pool)
	must(w.t, s.Materialise("run-1", programOf(w.t), inputOf(w.t), ourselves()))
	return s
}

func (w *world) verified() (*Slot, *Verified) {
	w.t.Helper()
	s := w.filled()
	v, err := s.Verify()
	must(w.t, err)
	return s, v
}

func (w *world) mustBeEmpty() {
	w.t.Helper()
	if left := tree(w.t, w.root); len(left) != 0 {
		w.t.Errorf("left in the root: %v", left)
	}
}

func (w *world) row(p *Pool, name string) SlotInfo {
	w.t.Helper()
	l, err := p.List()
	must(w.t, err)
	for _, s := range l.Slots {
		if s.Name == name {
			return s
		}
	}
	w.t.Fatalf("the listing has no %s: %+v", name, l)
	return SlotInfo{}
}

func programOf(t testing.TB) pins.Snapshot {
	return snapshot(t, map[string]string{
		"main.mjs": "console.log('hi')\n", "lib/a.js": "1\n", "lib/deep/b.js": "2\n", "node_modules/@a/b+c/index.js": "3\n",
	})
}

func inputOf(t testing.TB) pins.Snapshot {
	return snapshot(t, map[string]string{"data.txt": strings.Repeat("0123456789abcdef", 1000), "none": ""})
}

func snapshot(t testing.TB, files map[string]string) pins.Snapshot {
	t.Helper()
	var b pins.Builder
	for path, content := range files {
		must(t, b.Add(path, strings.NewReader(content)))
	}
	s, faults := b.Snapshot()
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return s
}

func ourselves() Owner { return Owner{os.Geteuid(), os.Getegid()} }

func isRoot() bool { return os.Geteuid() == 0 }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mismatchAt demands a *MismatchError about that path.
func mismatchAt(t *testing.T, err error, path string) {
	t.Helper()
	var m *MismatchError
	if !errors.As(err, &m) {
		t.Fatalf("got %v, want a mismatch at %s", err, path)
	}
	if m.Path != path {
		t.Errorf("mismatch at %s (%s), want it at %s", m.Path, m.Problem, path)
	}
}

// tree is everything below a directory with its inode, links not followed.
func tree(t testing.TB, dir string) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		f, err := statAt(unix.AT_FDCWD, path)
		found[path] = f.ino
		return err
	}))
	return found
}

// letClockTick returns once a change made now gets a later ctime than every change made before: kernels may take ctimes from a clock that
// ticks every few milliseconds.
func letClockTick(t *testing.T) {
	t.Helper()
	probe := fitDir(t)
	before, err := statAt(unix.AT_FDCWD, probe)
	must(t, err)
	for {
		must(t, os.Chmod(probe, 0o700))
		now, err := statAt(unix.AT_FDCWD, probe)
		must(t, err)
		if now.ctimeNs > before.ctimeNs {
			return
		}
	}
}
