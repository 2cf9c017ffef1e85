package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"confined/internal/confine"
	"confined/internal/ns"
)

// Options are what an Executor works with. Nothing in it changes afterwards.
type Options struct {
	Pool  *ns.Pool // the root and its slots
	Node  string   // absolute path of the Node binary; symlinks on the way are part of its identity
	State string   // a private directory outside the root, for scratch
	Trace *Trace   // may be nil
}

// Executor runs confined programs, each in its own namespace and process.
type Executor struct {
	pool     *ns.Pool
	node     string
	launcher *os.File // this binary, held open: what is hashed is what is executed
	versions versions
	seen     acquaintances
	trace    *Trace
}

// New judges the words of o. It opens this program's own binary and touches
// nothing else.
func New(o Options) (*Executor, error) {
	if o.Pool == nil {
		return nil, errors.New("executor: no pool of slots")
	}
	for _, named := range []struct{ name, path string }{{"node", o.Node}, {"state", o.State}} {
		if !filepath.IsAbs(named.path) {
			return nil, fmt.Errorf("executor: %s %q must be an absolute path", named.name, named.path)
		}
	}
	launcher, err := confine.OpenLauncher()
	if err != nil {
		return nil, fmt.Errorf("executor: %w", err)
	}
	return &Executor{
		pool: o.Pool, node: o.Node, launcher: launcher, trace: Join(o.Trace),
		versions: newVersions(o.State, launcher),
	}, nil
}

// MaxDescriptors is the largest limit of descriptors that a request may name
// on this host.
func (e *Executor) MaxDescriptors() int64 { return confine.MaxDescriptors(e.pool.MaxRetained()) }

// Close lets go of the launcher. No run may be alive.
func (e *Executor) Close() error { return e.launcher.Close() }

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
// only the step before it can make.
func (r *run) line(ctx context.Context) Result {
	pinned, err := r.pin(ctx)
	if err != nil {
		return r.notStarted(err)
	}
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

// pin establishes that the host can have the boundary, that it is proven with
// this runtime, and that profile and runtime are the ones the caller pinned.
func (r *run) pin(ctx context.Context) (Description, *refusal) {
	defer r.clock.mark(StagePins)
	if ctx.Err() != nil {
		return Description{}, refuse(ReasonAborted, "the run was cancelled before anything was touched")
	}
	got, err := r.DescribeRuntime(ctx)
	var host *HostError
	var unproven *UnprovenError
	if errors.As(err, &host) || errors.As(err, &unproven) {
		return Description{}, refuse(ReasonUnsupportedHost, "%v", err)
	}
	if want := confine.Profile(); r.spec.Profile != want.Digest {
		return Description{}, refuse(ReasonProfileMismatch, "%s", profileMismatch(r.spec.Profile, want, got.Runtime.Digest))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return Description{}, refuse(ReasonAborted, "the run was cancelled while the runtime was hashed")
	case err != nil:
		return Description{}, refuse(ReasonRuntimeMismatch, "the runtime cannot be verified: %v", err)
	case got.Runtime.Digest != r.spec.Runtime:
		return Description{}, refuse(ReasonRuntimeMismatch, "%s", r.seen.runtimeMismatch(r.spec.Runtime, got.Runtime, confine.Profile().Digest))
	}
	return got, nil
}

// claim establishes that the root is ours and sound, that it has room, and that
// one slot is this run's alone.
func (r *run) claim() (*ns.Slot, *refusal) {
	root, err := r.pool.Open()
	if err != nil {
		return nil, refuse(ReasonSetupFailed, "%v", err)
	}
	defer root.Close()
	retained, err := root.Count()
	if err != nil {
		return nil, refuse(ReasonSetupFailed, "the entries of the root cannot be counted: %v", err)
	}
	r.trace.Counted(CountedInfo{RunID: r.spec.RunID, Root: r.pool.Path(), Retained: retained})
	if retained >= r.pool.MaxRetained() {
		return nil, refuse(ReasonRetainedLimit, "the root %s holds %d entries and at most %d are allowed (--max-retained): %s",
			r.pool.Path(), retained, r.pool.MaxRetained(), r.inRoot())
	}
	slot, err := root.Claim()
	switch {
	case errors.Is(err, ns.ErrNoSlot):
		return nil, refuse(ReasonRetainedLimit, "every slot is taken: %s", r.inRoot())
	case err != nil:
		return nil, refuse(ReasonSetupFailed, "a slot cannot be claimed: %v", err)
	}
	r.slot = slot
	return slot, nil
}

// inRoot says what takes up the root, as it is now.
func (r *run) inRoot() string {
	listing, err := r.pool.List()
	if err != nil {
		return err.Error()
	}
	said, cure := listing.Contents()
	return said + "; " + cure
}

// materialise writes both snapshots, the home and the canary into the slot.
func (r *run) materialise(slot *ns.Slot) *refusal {
	defer r.clock.mark(StageMaterialise)
	uid, gid := confine.OuterID(slot.Number())
	err := slot.Materialise(r.spec.RunID, r.spec.Program, r.spec.Input, ns.Owner{UID: uid, GID: gid})
	if err != nil {
		return refuse(ReasonSetupFailed, "the namespace could not be written: %v", err).leaving(r.remove(slot, ns.SetupIncomplete))
	}
	r.trace.Materialised(MaterialisedInfo{RunID: r.spec.RunID, Namespace: slot.Path()})
	return nil
}

// verify reads everything back: what it returns describes the namespace as it
// was found at that moment, by inode and content.
func (r *run) verify(slot *ns.Slot) (*ns.Verified, *refusal) {
	defer r.clock.mark(StageVerify)
	verified, err := slot.Verify()
	if err == nil {
		return verified, nil
	}
	message := fmt.Sprintf("the namespace could not be verified: %v", err)
	if mismatch := (*ns.MismatchError)(nil); errors.As(err, &mismatch) {
		message = fmt.Sprintf("the namespace is not what was written: %v", err)
	}
	return nil, refuse(ReasonSnapshotMismatch, "%s", message).leaving(r.quarantine(slot, ns.SnapshotMismatch, message))
}

// started is a process that exists, stopped at the gate or on its way there.
type started struct {
	process  *confine.Process
	instance confine.Instance
}

// launch spawns, synchronously, unless the run is cancelled at this moment.
func (r *run) launch(ctx context.Context, pinned Description, slot *ns.Slot, v *ns.Verified) (started, *refusal) {
	if ctx.Err() != nil {
		return started{}, refuse(ReasonAborted, "the run was cancelled before a process was started").leaving(r.remove(slot, ns.NamespaceChanged))
	}
	instance, err := confine.Instantiate(r.job(pinned, slot, v))
	if err != nil {
		return started{}, refuse(ReasonSetupFailed, "the profile cannot be instantiated: %v", err).leaving(r.remove(slot, ns.NamespaceChanged))
	}
	process, err := confine.Launch(instance, r.launcher)
	if err != nil {
		return started{}, refuse(ReasonSetupFailed, "no process could be started: %v", err).leaving(r.remove(slot, ns.NamespaceChanged))
	}
	r.process = process
	r.clock.spawned()
	r.trace.Launched(LaunchedInfo{RunID: r.spec.RunID, Namespace: slot.Path(), PID: process.PID, Profile: instance.Text()})
	return started{process: process, instance: instance}, nil
}

func (r *run) job(pinned Description, slot *ns.Slot, v *ns.Verified) confine.Job {
	program := v.Program()
	return confine.Job{
		Runtime: pinned.Runtime.Closure,
		Program: program, Input: v.Input(), Canary: v.Canary(), Home: v.Home(),
		Limits: confine.Limits{CPUSeconds: int(r.spec.CPUSeconds), Descriptors: int(r.spec.MaxDescriptors)},
		Slot:   slot.Number(),
		Args:   append([]string{program.Path + "/" + r.spec.Entry}, r.spec.Args...),
	}
}

// collect waits until the process settled.
func (r *run) collect(ctx context.Context, slot *ns.Slot, s started) collected {
	seen := collect(ctx, s.process, r.spec.Bounds, r.clock, collectHooks{
		admitted: func() {
			r.trace.Admitted(AdmittedInfo{RunID: r.spec.RunID, Namespace: slot.Path(), PID: s.process.PID})
		},
		printed: func(stream Stream, kept []byte, at int) {
			r.trace.Output(OutputInfo{RunID: r.spec.RunID, Stream: stream, Kept: kept, At: at})
		},
	})
	r.process = nil
	r.trace.Collected(CollectedInfo{RunID: r.spec.RunID, Namespace: slot.Path()})
	return seen
}
