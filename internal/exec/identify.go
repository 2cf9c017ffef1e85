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
	Runtime   pins.Runtime
	Proof     pins.Proof
	Integrity Integrity
}

// Integrity says how a run knows that the runtime's bytes are the pinned ones.
type Integrity string

// IntegrityRehashed: every file is hashed before and after each run.
const IntegrityRehashed Integrity = "rehashed"

// DescribeRuntime recomputes the runtime identity and says what proves the
// boundary with it. Errors: *HostError and *UnprovenError (the host is
// unsupported), *pins.UnavailableError (the runtime cannot be identified), or
// ctx's own.
func (e *Executor) DescribeRuntime(ctx context.Context) (Description, error) {
	if problem := confine.HostProblem(); problem != nil {
		return Description{}, problem
	}
	rt, err := e.identify(ctx)
	if err != nil {
		return Description{}, err
	}
	proof, err := e.ProofOf(rt)
	if err != nil {
		return Description{}, err
	}
	return Description{Runtime: rt, Proof: proof, Integrity: IntegrityRehashed}, nil
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

// identify hashes the runtime as it is now.
func (e *Executor) identify(ctx context.Context) (pins.Runtime, error) {
	closure, err := pins.TakeClosure(ctx, e.node, e.launcher)
	if err != nil {
		return pins.Runtime{}, err
	}
	version, err := e.versions.of(ctx, closure)
	if err != nil {
		return pins.Runtime{}, err
	}
	host, err := pins.HostFacts()
	if err != nil {
		return pins.Runtime{}, err
	}
	rt := pins.NewRuntime(closure, version, host)
	e.seen.note(rt)
	return rt, nil
}
