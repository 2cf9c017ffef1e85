package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"confined/internal/confine"
	"confined/internal/exec"
	"confined/internal/pins"
	"confined/internal/prove"
)

// receiptsDir is where the receipts of the daemons with c's state are.
func receiptsDir(c config) string { return filepath.Join(c.state, "receipts") }

// newProofs decides what proves a runtime for serve, doctor and prove alike.
func newProofs(c config) *pins.Proofs {
	return pins.NewProofs(pins.ProofOptions{
		Dir: receiptsDir(c), Profile: confine.Here().Profile().Digest, Suite: prove.Suite(), ReceiptsOnly: c.requireReceipt,
	})
}

// herald says in the log of a daemon what it goes by.
type herald struct {
	proofs *pins.Proofs
	log    *slog.Logger

	mu        sync.Mutex
	last      pins.Proof // zero where the latest answer was that there is none
	integrity exec.Integrity
}

// heralded is the executor, whose descriptions of the runtime the herald hears.
type heralded struct {
	*exec.Executor
	herald *herald
}

func (h heralded) DescribeRuntime(ctx context.Context) (exec.Description, error) {
	d, err := h.Executor.DescribeRuntime(ctx)
	if err == nil {
		h.herald.described(d)
	}
	return d, err
}

// described logs how a run will know that Node is the pinned one, when that is
// another way than before.
func (h *herald) described(d exec.Description) {
	h.mu.Lock()
	changed := d.Integrity != h.integrity
	h.integrity = d.Integrity
	h.mu.Unlock()
	switch {
	case changed && d.Unsealable != nil:
		h.log.Warn("Node is hashed before and after each run, since no sealed copy of it can be had",
			"integrity", string(d.Integrity), "reason", d.Unsealable.Problem, "cure", d.Unsealable.Cure)
	case changed:
		h.log.Info("runs execute a sealed copy of Node", "integrity", string(d.Integrity), "bytes", d.Runtime.NodeSize())
	}
}

// of asks the proofs, and logs a proof that is not the one of the answer before,
// and one that is gone.
func (h *herald) of(rt pins.Runtime) (pins.Proof, error) {
	proof, err := h.proofs.Of(rt) // zero with an error
	h.mu.Lock()
	changed := proof != h.last
	h.last = proof
	h.mu.Unlock()
	switch {
	case changed && err != nil:
		h.log.Warn("the boundary is no longer proven with this Node", "node", rt.Node, "version", rt.NodeVersion, "reason", err.Error())
	case changed:
		said := []any{"node", rt.Node, "version", rt.NodeVersion, "proof", proof.Kind}
		if proof.File != "" {
			said = append(said, "file", proof.File, "digest", string(proof.Receipt), "provenAt", proof.ProvenAt.UTC().Format(time.RFC3339))
		}
		h.log.Info("the boundary is proven with this Node", said...)
	}
	return proof, err
}

// logUnfit names the receipts that prove nothing to this daemon, whatever its
// Node is.
func (h *herald) logUnfit() {
	found, err := h.proofs.Survey(pins.Runtime{})
	if err != nil {
		h.log.Warn("no receipt counts", "error", err)
	}
	for _, f := range found {
		if f.State.Unfit() {
			h.log.Warn("a receipt that does not count: not touched", "file", f.File, "state", string(f.State), "why", f.Why)
		}
	}
}
