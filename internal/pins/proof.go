package pins

import (
	"encoding/hex"
	"time"
)

// The kinds of [Proof].
const (
	ProofBuiltIn = "built-in"
	ProofReceipt = "receipt"
)

// Proof says what shows that the boundary holds a runtime: an entry of the built-in table, or a receipt that this host's
// own suite of boundary tests wrote. Receipt, File and ProvenAt are the digest, the path and the time of the receipt, and
// zero for a built-in entry.
type Proof struct {
	Kind     string
	Receipt  Digest
	File     string
	ProvenAt time.Time
}

// NodeSHA256 is the hash of the Node binary in hexadecimal, and empty when the closure does not hold it.
func (c Closure) NodeSHA256() string {
	if node, there := c.nodeFile(); there {
		return hex.EncodeToString(node.SHA256[:])
	}
	return ""
}

// NodeSize is the size of the Node binary in bytes, and 0 when the closure does not hold it.
func (c Closure) NodeSize() int64 {
	node, _ := c.nodeFile()
	return node.Size
}

func (c Closure) nodeFile() (RuntimeFile, bool) {
	for _, f := range c.Files {
		if f.Path == c.Node {
			return f, true
		}
	}
	return RuntimeFile{}, false
}
