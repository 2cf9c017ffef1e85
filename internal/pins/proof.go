package pins

import (
	"encoding/hex"
	"errors"
	"time"
)

// The kinds of [Proof].
const (
	ProofBuiltIn = "built-in"
	ProofReceipt = "receipt"
)

// Proof says what shows that the boundary holds a runtime: an entry of the built-in table, or a receipt that this host's
// own suite of boundary tests wrote. Receipt and ProvenAt are those of the receipt, and zero for a built-in entry.
type Proof struct {
	Kind     string
	Receipt  Digest
	ProvenAt time.Time
}

// Proofs decides what proves the boundary with a runtime: an entry of the built-in table, or a receipt in a directory.
type Proofs struct{ dir string }

// NewProofs are the built-in entries and the receipts in dir, which need not exist.
func NewProofs(dir string) *Proofs { return &Proofs{dir: dir} }

// Of returns the proof of rt, or an error that says why there is none. It may be called from any goroutine.
func (p *Proofs) Of(rt Runtime) (Proof, error) {
	if proof, ok := BuiltIn(rt); ok {
		return proof, nil
	}
	return Proof{}, errors.New("it is no official build of the table, and no receipt is about it")
}

// NodeSHA256 is the hash of the Node binary in hexadecimal, and empty when the closure does not hold it.
func (c Closure) NodeSHA256() string {
	for _, f := range c.Files {
		if f.Path == c.Node {
			return hex.EncodeToString(f.SHA256[:])
		}
	}
	return ""
}
