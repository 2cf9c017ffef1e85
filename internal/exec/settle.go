package exec

import (
	"context"
	"errors"
	"fmt"

	"confined/internal/ns"
	"confined/internal/pins"
)

// settle checks runtime and namespace once more, says what that does to the
// result, and removes or quarantines the namespace.
func (r *run) settle(pinned pinnedRuntime, slot *ns.Slot, v *ns.Verified, s started, seen collected) Result {
	var p problems
	p.ofControl(r.spec.Bounds, seen)
	p.ofProcess(seen.facts)
	p.ofRuntime(r.runtimeChange(pinned))
	if !seen.gone() {
		r.clock.mark(StageRecheck)
		return r.unresolved(slot, s, seen, p)
	}
	change := slot.Recheck(v)
	p.ofNamespace(change)
	r.clock.mark(StageRecheck)
	namespace := r.dispose(slot, change)
	r.clock.mark(StageSettle)
	return Observed{
		RunID: r.spec.RunID, Attributable: len(p) == 0, Problems: p,
		Identities: r.identities(s), Process: seen.facts, Namespace: namespace,
	}
}

// unresolved keeps everything: the process may still be using it. It is not
// signalled again, and its namespace is not looked at.
func (r *run) unresolved(slot *ns.Slot, s started, seen collected, p problems) Result {
	namespace := r.quarantine(slot, ns.Unresolved, "the process was not seen gone with its pipes closed; treat what it holds as in use")
	r.clock.mark(StageSettle)
	return Unresolved{
		RunID: r.spec.RunID, Problems: p,
		Identities: r.identities(s), Process: seen.facts, Namespace: namespace,
	}
}

func (r *run) dispose(slot *ns.Slot, change error) ns.Disposition {
	if change != nil {
		return r.quarantine(slot, ns.NamespaceChanged, change.Error())
	}
	return r.remove(slot, ns.NamespaceChanged)
}

// runtimeChange takes the runtime again, what could have changed unseen by
// hashing it. A cancelled run is checked like any other, so the caller's context
// has no say here.
func (r *run) runtimeChange(pinned pinnedRuntime) error {
	again, err := pinned.taken.again(context.Background())
	if err != nil {
		return err
	}
	return pinned.taken.Unchanged(again)
}

func (r *run) identities(s started) Identities {
	profile := r.boundary.Profile()
	return Identities{
		Program: ProgramIdentity{Digest: r.spec.ProgramDigest, Entry: r.spec.Entry, Args: append([]string{}, r.spec.Args...)},
		Input:   r.spec.InputDigest,
		Runtime: r.spec.Runtime,
		Profile: ProfileIdentity{Name: profile.Name, Digest: profile.Digest, Instantiated: s.instance.Digest()},
		Bounds:  r.spec.Bounds,
	}
}

// problems lists what keeps a result from being attributable, in the order of
// the contract.
type problems []Problem

func (p *problems) add(code ProblemCode, format string, args ...any) {
	*p = append(*p, Problem{Code: code, Message: fmt.Sprintf(format, args...)})
}

func (p *problems) ofControl(asked Bounds, seen collected) {
	switch admission := seen.facts.Admission; {
	case admission == AdmissionAbsent && seen.unseen():
		p.add(ProblemAdmissionAbsent, "no admission record was read, and the gate was open: whether the program ran is unconfirmed")
	case admission == AdmissionAbsent:
		p.add(ProblemAdmissionAbsent, "no admission record arrived: the program never ran")
	case admission == AdmissionRefused:
		p.add(ProblemAdmissionRefused, "the preload refused admission: the program never ran")
	case admission == AdmissionMalformed:
		p.add(ProblemAdmissionMalformed, "the control text is malformed: whether the program ran is unconfirmed")
	}
	if seen.lost != nil {
		p.add(ProblemContactLost, "the process could not be read or watched: %v", seen.lost)
	}
	if got := seen.facts.Limits; got != nil && *got != asked.asked() {
		p.add(ProblemLimitsMismatch, "measured limits %s differ from the request's %s", *got, asked.asked())
	}
}

func (p *problems) ofProcess(f ProcessFacts) {
	if f.Exit == nil {
		p.add(ProblemNotReaped, "process %d was not seen to end", f.PID)
	}
	if !f.PipesClosed {
		p.add(ProblemPipesOpen, "a pipe of process %d is still held open", f.PID)
	}
}

func (p *problems) ofRuntime(change error) {
	var changed *pins.ChangedError
	switch {
	case errors.As(change, &changed):
		p.add(ProblemRuntimeChanged, "the runtime changed during the run: %v", change)
	case change != nil:
		p.add(ProblemRuntimeUnverifiable, "the runtime could not be verified after the run: %v", change)
	}
}

func (p *problems) ofNamespace(change error) {
	var changed *ns.MismatchError
	switch {
	case errors.As(change, &changed):
		p.add(ProblemNamespaceChanged, "the namespace changed during the run: %v", change)
	case change != nil:
		p.add(ProblemNamespaceUnverifiable, "the namespace could not be verified after the run: %v", change)
	}
}
