package exec

import (
	"context"
	"errors"
	"fmt"

	"confined/internal/confine"
	"confined/internal/ns"
	"confined/internal/pins"
)

// The steps of run.line before its end, in order; settle is the last.

// pin establishes that the host can have the boundary, that it is proven with
// this runtime, and that profile and runtime are the ones the caller pinned.
func (r *run) pin(ctx context.Context) (pinnedRuntime, *refusal) {
	defer r.clock.mark(StagePins)
	if ctx.Err() != nil {
		return pinnedRuntime{}, refuse(ReasonAborted, "the run was cancelled before anything was touched")
	}
	got, err := r.hold(ctx)
	if refused := r.compare(ctx, got.Runtime, err); refused != nil {
		got.taken.release()
		return pinnedRuntime{}, refused
	}
	return got, nil
}

// compare refuses what is not as it was pinned; err is why there is no runtime.
func (r *run) compare(ctx context.Context, now pins.Runtime, err error) *refusal {
	var host *HostError
	var unproven *UnprovenError
	if errors.As(err, &host) || errors.As(err, &unproven) {
		return refuse(ReasonUnsupportedHost, "%v", err)
	}
	profile := r.boundary.Profile()
	switch {
	case r.spec.Profile != profile.Digest:
		return refuse(ReasonProfileMismatch, "%s", profileMismatch(r.spec.Profile, profile, now.Digest))
	case err != nil && ctx.Err() != nil:
		return refuse(ReasonAborted, "the run was cancelled while the runtime was looked at")
	case err != nil:
		return refuse(ReasonRuntimeMismatch, "the runtime cannot be verified: %v", err)
	case now.Digest != r.spec.Runtime:
		return refuse(ReasonRuntimeMismatch, "%s", r.seen.runtimeMismatch(r.spec.Runtime, now, profile.Digest))
	}
	return nil
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
	uid, gid := r.boundary.Owner(slot.Number())
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
func (r *run) launch(ctx context.Context, pinned pinnedRuntime, slot *ns.Slot, v *ns.Verified) (started, *refusal) {
	if ctx.Err() != nil {
		return started{}, refuse(ReasonAborted, "the run was cancelled before a process was started").leaving(r.remove(slot, ns.NamespaceChanged))
	}
	instance, err := r.boundary.Instantiate(r.job(pinned, slot, v))
	if err != nil {
		return started{}, refuse(ReasonSetupFailed, "the profile cannot be instantiated: %v", err).leaving(r.remove(slot, ns.NamespaceChanged))
	}
	process, err := confine.Launch(instance)
	if err != nil {
		return started{}, refuse(ReasonSetupFailed, "no process could be started: %v", err).leaving(r.remove(slot, ns.NamespaceChanged))
	}
	r.process = process
	r.clock.spawned()
	r.trace.Launched(LaunchedInfo{RunID: r.spec.RunID, Namespace: slot.Path(), PID: process.PID, Profile: instance.Text()})
	return started{process: process, instance: instance}, nil
}

func (r *run) job(pinned pinnedRuntime, slot *ns.Slot, v *ns.Verified) confine.Job {
	program := v.Program()
	return confine.Job{
		Runtime: pinned.Runtime.Closure, Image: pinned.taken.image(),
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
		printed: func(stream Stream, kept Output, at int) {
			r.trace.Output(OutputInfo{RunID: r.spec.RunID, Stream: stream, Kept: kept, At: at})
		},
	})
	r.process = nil
	r.trace.Collected(CollectedInfo{RunID: r.spec.RunID, Namespace: slot.Path()})
	return seen
}
