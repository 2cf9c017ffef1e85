package main

import (
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"confined/internal/confine"
	"confined/internal/pins"
	"confined/internal/prove"
)

// receiptsDir is where the receipts of the daemons with c's state are.
func receiptsDir(c config) string { return filepath.Join(c.state, "receipts") }

// newProofs decides what proves a runtime for serve, doctor and prove alike.
func newProofs(c config) *pins.Proofs {
	return pins.NewProofs(pins.ProofOptions{
		Dir: receiptsDir(c), Profile: confine.Profile().Digest, Suite: prove.Suite(), ReceiptsOnly: c.requireReceipt,
	})
}

// herald are the proofs of a daemon, which says in its log what it goes by.
type herald struct {
	*pins.Proofs
	log *slog.Logger

	mu   sync.Mutex
	last pins.Proof
}

// of is Proofs.Of, with a line in the log where the proof is not the one before.
func (h *herald) of(rt pins.Runtime) (pins.Proof, error) {
	proof, err := h.Of(rt)
	if err != nil {
		return proof, err
	}
	h.mu.Lock()
	fresh := proof != h.last
	h.last = proof
	h.mu.Unlock()
	if fresh {
		said := []any{"node", rt.Node, "version", rt.NodeVersion, "proof", proof.Kind}
		if proof.File != "" {
			said = append(said, "file", proof.File, "digest", string(proof.Receipt), "provenAt", proof.ProvenAt.Format(time.RFC3339))
		}
		h.log.Info("the boundary is proven with this Node", said...)
	}
	return proof, nil
}

// logUnfit names the receipts that prove nothing to this daemon, whatever its
// Node is.
func (h *herald) logUnfit() {
	found, err := h.Survey(pins.Runtime{})
	if err != nil {
		h.log.Warn("no receipt counts", "error", err)
	}
	for _, f := range found {
		if f.State == pins.ReceiptDamaged || f.State == pins.ReceiptForeign {
			h.log.Warn("a receipt that does not count: not touched", "file", f.File, "state", string(f.State), "why", f.Why)
		}
	}
}
