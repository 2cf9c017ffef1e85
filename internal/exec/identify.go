package exec

import (
	"context"
	"errors"
	"fmt"

	"confined/internal/confine"
	"confined/internal/pins"
)

// HostError says that this host cannot have the boundary, and the cure.
type HostError = confine.HostError

// UnprovenError says that nothing proves the boundary with this Node.
type UnprovenError struct {
	Runtime pins.Runtime
	Why     string // what was looked for, and what was found in its place
	Asked   string // the path that the daemon was given: symlinks on the way are part of what is to be proven
	State   string // where the daemon keeps its receipts

	ReceiptsOnly bool // an official Node would not do without one either
}

func (e *UnprovenError) Error() string {
	return fmt.Sprintf("the boundary is not proven with this Node: %s is version %s, sha256 %s: %s; cure: %s",
		e.Runtime.Node, e.Runtime.NodeVersion, e.Runtime.NodeSHA256(), e.Why, pins.CureUnproven(e.Asked, e.State, e.ReceiptsOnly))
}

// Description is the runtime as it is now, and what proves the boundary with it.
type Description struct {
	Runtime    pins.Runtime
	Proof      pins.Proof
	Integrity  Integrity
	Unsealable *pins.UnsealableError // why Node is not sealed; nil when it is
}

// Integrity says how a run knows that the runtime's bytes are the pinned ones.
type Integrity string

const (
	// IntegritySealed: a sealed copy of Node is executed, which the kernel keeps
	// from changing. The loader and libraries that only root can write are known
	// by inode, size and times before and after each run; others are hashed.
	IntegritySealed Integrity = "sealed"
	// IntegrityRehashed: every file is hashed before and after each run.
	IntegrityRehashed Integrity = "rehashed"
)

// DescribeRuntime recomputes the runtime identity and says what proves the
// boundary with it. Errors: *HostError and *UnprovenError (the host is
// unsupported), *pins.UnavailableError (the runtime cannot be identified), or
// ctx's own.
func (e *Executor) DescribeRuntime(ctx context.Context) (Description, error) {
	p, err := e.hold(ctx)
	if err != nil {
		return Description{}, err
	}
	p.taken.release()
	return p.Description, nil
}

// pinnedRuntime is a described runtime that is held for a run.
type pinnedRuntime struct {
	Description
	taken takenRuntime
}

// hold describes the runtime and holds it until the caller releases it.
func (e *Executor) hold(ctx context.Context) (pinnedRuntime, error) {
	if problem := e.boundary.HostProblem(); problem != nil {
		return pinnedRuntime{}, problem
	}
	taken, err := e.runtimes.take(ctx)
	if err != nil {
		return pinnedRuntime{}, err
	}
	d, err := e.describe(ctx, taken)
	if err != nil {
		taken.release()
		return pinnedRuntime{}, err
	}
	return pinnedRuntime{d, taken}, nil
}

func (e *Executor) describe(ctx context.Context, taken takenRuntime) (Description, error) {
	rt, err := e.identify(ctx, taken)
	if err != nil {
		return Description{}, err
	}
	proof, err := e.ProofOf(rt)
	if err != nil {
		return Description{}, err
	}
	return Description{Runtime: rt, Proof: proof, Integrity: taken.integrity(), Unsealable: taken.unsealable}, nil
}

// ProofOf asks again what proves the boundary with rt, without looking at rt
// itself. The error is an *UnprovenError.
func (e *Executor) ProofOf(rt pins.Runtime) (pins.Proof, error) {
	proof, err := e.proven(rt)
	if err != nil {
		return pins.Proof{}, &UnprovenError{
			Runtime: rt, Why: err.Error(), Asked: e.node, State: e.state, ReceiptsOnly: errors.Is(err, pins.ErrReceiptsOnly),
		}
	}
	return proof, nil
}

// identify says what the runtime is, with what Node and the kernel say of
// themselves. A sealed copy could be executed by all, so that it is the file
// that is asked who may.
func (e *Executor) identify(ctx context.Context, taken takenRuntime) (pins.Runtime, error) {
	uid, gid := e.boundary.Owner(scratchSlot)
	if unfit := pins.NotExecutable(taken.Node, uid, gid); unfit != nil {
		return pins.Runtime{}, unfit
	}
	version, err := e.versions.of(ctx, taken)
	if err != nil {
		return pins.Runtime{}, err
	}
	host, err := pins.HostFacts()
	if err != nil {
		return pins.Runtime{}, err
	}
	rt := pins.NewRuntime(taken.Closure, version, host)
	e.seen.note(rt)
	return rt, nil
}
