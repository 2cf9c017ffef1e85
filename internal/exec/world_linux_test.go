package exec

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"confined/internal/confine"
	"confined/internal/ns"
	"confined/internal/pins"
)

// TestMain lets the test binary be a liar in the place of a confined process, and
// the foreign tracer that one fault needs.
func TestMain(m *testing.M) {
	lie(os.Args)
	if len(os.Args) == 3 && os.Args[1] == tracerMark {
		trace(os.Args[2])
	}
	code := m.Run()
	forgetStandIn()
	os.Exit(code)
}

// world is what one run happens in: its own root, state directory and pool. A
// fault acts on it, never on the executor.
type world struct {
	t        *testing.T
	boundary confine.Boundary
	root     string
	state    string
	node     string
	proven   func(pins.Runtime) (pins.Proof, error)
	max      int
	spec     Spec
	cancel   context.CancelFunc
	trace    Trace    // the executor's
	own      *Trace   // the run's own, beside it
	pid      int      // of the process, once it is launched
	after    []func() // undo what a hook did to this process, newest first

	unsealable *pins.UnsealableError // why this host has no sealed copies; nil: it has

	launcher string    // a daemon's binary of this world's own; empty is this test's
	pinning  *Executor // made already, for its pins
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "exec-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, boundary: confine.Here(), root: filepath.Join(dir, "root"), state: filepath.Join(dir, "state"), node: testNode(t), proven: pins.NewProofs(pins.ProofOptions{}).Of, max: 4}
	for _, d := range []string{w.root, w.state} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.spec = goodSpec(t, map[string]string{"main.mjs": "console.log('hello')\n"})
	w.spec.Profile = w.boundary.Profile().Digest
	t.Cleanup(w.undo)
	return w
}

// program replaces the program's files.
func (w *world) program(files map[string]string) {
	w.spec.Program = snapshotOf(w.t, files)
	w.spec.ProgramDigest = w.spec.Program.Digest()
}

// main replaces the program with one file, which Node runs.
func (w *world) main(source string) {
	w.program(map[string]string{"main.mjs": source})
	w.node, w.proven = testNode(w.t), pins.NewProofs(pins.ProofOptions{}).Of
}

func (w *world) slot() string { return filepath.Join(w.root, "slot-0") }

func (w *world) must(err error) {
	if err != nil {
		w.t.Helper()
		w.t.Error(err)
	}
}

// executor is the daemon's, made once the row has made its world.
func (w *world) executor() *Executor {
	w.t.Helper()
	if w.pinning != nil {
		return w.pinning
	}
	pool, err := ns.NewPool(ns.Config{Root: w.root, MaxRetained: w.max, State: w.state})
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := newExecutor(w.boundary, Options{Pool: pool, Node: w.node, State: w.state, Proven: w.proven, Trace: &w.trace})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.must(e.Close()) })
	experience.teach(e)
	e.runtimes.unsealable, e.runtimes.refusedAt = w.unsealable, time.Now()
	if w.launcher != "" {
		w.startFrom(e)
	}
	return e
}

// next makes the world ready for another run, of another row.
func (w *world) next(t *testing.T) {
	w.t, w.cancel, w.own = t, nil, nil
	w.spec.Args, w.spec.Bounds = nil, goodSpec(t, map[string]string{"main.mjs": ""}).Bounds
}

// pinNow pins the runtime as it is before the row changes it. Hooks that are
// set later are not called.
func (w *world) pinNow() {
	w.t.Helper()
	w.pinning = w.executor()
	w.pin(w.pinning)
}

func (w *world) pin(e *Executor) {
	w.t.Helper()
	daemon := fmt.Sprint(w.boundary, w.node, w.launcher)
	pinned, known := experience.pinned(daemon)
	if !known {
		d, err := e.DescribeRuntime(w.t.Context())
		if err != nil {
			w.t.Fatalf("this host cannot run the tests: %v", err)
		}
		pinned = d.Runtime.Digest
		experience.learn(daemon, pinned, e)
	}
	w.spec.Runtime = pinned
}

// experience is what a daemon that has run for a while knows, so that a row
// need not pay for it: what was pinned, by the boundary and the paths of Node and the
// launcher, and the versions, by the digest of Node.
var experience = &memory{pins: map[string]pins.Digest{}, versions: map[string]string{}}

type memory struct {
	mu       sync.Mutex
	pins     map[string]pins.Digest
	versions map[string]string
}

func (m *memory) pinned(daemon string) (pins.Digest, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, known := m.pins[daemon]
	return d, known
}

func (m *memory) learn(daemon string, pinned pins.Digest, e *Executor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pins[daemon] = pinned
	maps.Copy(m.versions, e.versions.known)
}

func (m *memory) teach(e *Executor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(e.versions.known, m.versions)
}

func (w *world) run(e *Executor) Result {
	w.t.Helper()
	req, faults := NewRequest(w.spec, e.MaxDescriptors())
	if faults != nil {
		w.t.Fatal(faults)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	if w.cancel != nil { // a row that cancels before the run
		cancel()
	}
	w.cancel = cancel
	defer w.undo()
	note := &Trace{Launched: func(i LaunchedInfo) { w.pid = i.PID }}
	result, _ := e.Run(ctx, req, Join(note, w.own))
	return result
}

// undo takes back what hooks did to this process.
func (w *world) undo() {
	for len(w.after) > 0 {
		last := len(w.after) - 1
		undo := w.after[last]
		w.after = w.after[:last]
		undo()
	}
}

// testNode is the Node that `make node` brought.
func testNode(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	node := filepath.Join(dir, ".node", "26.8.1", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("%v: run `make node` first", err)
	}
	return node
}
