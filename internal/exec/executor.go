package exec

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"confined/internal/confine"
	"confined/internal/ns"
	"confined/internal/pins"
)

// Options are what an Executor works with. Nothing in it changes afterwards.
type Options struct {
	Pool  *ns.Pool // the root and its slots
	Node  string   // absolute path of the Node binary; symlinks on the way are part of its identity
	State string   // a private directory outside the root, for scratch; the cure of an *UnprovenError names it
	// Proven says what proves the boundary with a runtime, or why nothing does. It is asked before every run.
	Proven func(pins.Runtime) (pins.Proof, error)
	Trace  *Trace // may be nil
}

// Executor runs confined programs, each in its own namespace and process.
type Executor struct {
	pool     *ns.Pool
	node     string
	boundary confine.Boundary
	state    string
	proven   func(pins.Runtime) (pins.Proof, error)
	runtimes *runtimes
	versions versions
	seen     acquaintances
	trace    *Trace
}

// New judges the words of o. It opens what starts Node by handle, if anything,
// and touches nothing else.
func New(o Options) (*Executor, error) { return newExecutor(confine.Here(), o) }

// newExecutor is New with a boundary.
func newExecutor(boundary confine.Boundary, o Options) (*Executor, error) {
	if o.Pool == nil {
		return nil, errors.New("executor: no pool of slots")
	}
	if o.Proven == nil {
		return nil, errors.New("executor: nothing says what proves a runtime")
	}
	for _, named := range []struct{ name, path string }{{"node", o.Node}, {"state", o.State}} {
		if !filepath.IsAbs(named.path) {
			return nil, fmt.Errorf("executor: %s %q must be an absolute path", named.name, named.path)
		}
	}
	launchers, err := boundary.Launchers()
	if err != nil {
		return nil, fmt.Errorf("executor: %w", err)
	}
	return &Executor{
		pool: o.Pool, node: o.Node, boundary: boundary, state: o.State, proven: o.Proven, trace: Join(o.Trace),
		runtimes: newRuntimes(o.Node, launchers), versions: newVersions(boundary, o.State),
	}, nil
}

// MaxDescriptors is the largest limit of descriptors that a request may name
// on this host.
func (e *Executor) MaxDescriptors() int64 { return e.boundary.MaxDescriptors(e.pool.MaxRetained()) }

// Close lets go of the sealed runtime and of the launchers. No run may be alive.
func (e *Executor) Close() error { return e.runtimes.close() }

// Run carries out one request and returns what came of it and where the time
// went. Cancelling ctx asks for the run to end, at any stage; only the result
// says what came of that. trace, which may be nil, observes this run beside the
// executor's own. Run is safe for concurrent use. It returns when the run is
// settled.
func (e *Executor) Run(ctx context.Context, req Request, trace *Trace) (Result, []StageTime) {
	if req.spec.RunID == "" || req.spec.Program.Digest() == "" || req.spec.Input.Digest() == "" {
		panic("exec: bug: a Request that NewRequest did not make, or of a snapshot that no builder made")
	}
	r := &run{Executor: e, spec: req.spec, trace: Join(e.trace, trace), clock: startStopwatch()}
	defer r.abandon()
	result := r.line(ctx)
	r.trace.Settled(SettledInfo{RunID: req.spec.RunID, Result: result, Stages: r.clock.stages})
	return result, r.clock.stages
}

// run is one request on its way. What it holds is for abandon alone; the steps
// hand their evidence to each other.
type run struct {
	*Executor
	spec    Spec
	trace   *Trace // the executor's and this run's own
	clock   *stopwatch
	slot    *ns.Slot         // claimed and not yet disposed of
	process *confine.Process // started and not yet collected
}

// abandon leaves nothing unguarded when a panic ends the line: the process is
// asked to end and the slot stays, unresolved. After a run that settled it has
// nothing to do.
func (r *run) abandon() {
	if r.process != nil {
		_ = r.process.Kill()
		go func() { _, _ = r.process.Wait() }()
	}
	if r.slot != nil {
		r.quarantine(r.slot, ns.Unresolved, "the run ended in a bug of this daemon; treat what the slot holds as in use")
	}
}

func (r *run) remove(slot *ns.Slot, surprise ns.QuarantineReason) ns.Disposition {
	r.slot = nil
	return slot.Remove(surprise)
}

func (r *run) quarantine(slot *ns.Slot, reason ns.QuarantineReason, message string) ns.Disposition {
	r.slot = nil
	return slot.Quarantine(reason, message)
}

// line is one run, in order; the first refusal ends it. Each step takes what
// only the step before it can make. The tests' runLiar goes the same way, with
// another process than launch's.
func (r *run) line(ctx context.Context) Result {
	pinned, err := r.pin(ctx)
	if err != nil {
		return r.notStarted(err)
	}
	defer pinned.taken.release()
	slot, err := r.claim()
	if err != nil {
		return r.notStarted(err)
	}
	if err := r.materialise(slot); err != nil {
		return r.notStarted(err)
	}
	// From verification to spawn nothing waits and nothing else is done. The
	// kernel ends the process when the thread that spawned it ends, so the
	// thread stays with the run.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	verified, err := r.verify(slot)
	if err != nil {
		return r.notStarted(err)
	}
	started, err := r.launch(ctx, pinned, slot, verified)
	if err != nil {
		return r.notStarted(err)
	}
	seen := r.collect(ctx, slot, started)
	return r.settle(pinned, slot, verified, started, seen)
}

// refusal is why nothing was started.
type refusal struct {
	reason    Reason
	message   string
	namespace *ns.Disposition
}

func refuse(reason Reason, format string, args ...any) *refusal {
	return &refusal{reason: reason, message: fmt.Sprintf(format, args...)}
}

// leaving records what became of a namespace that had been made.
func (f *refusal) leaving(d ns.Disposition) *refusal {
	f.namespace = &d
	return f
}

func (r *run) notStarted(f *refusal) Result {
	return NotStarted{RunID: r.spec.RunID, Reason: f.reason, Message: f.message, Namespace: f.namespace}
}
