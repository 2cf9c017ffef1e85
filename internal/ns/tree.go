package ns

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path"

	"confined/internal/pins"
)

// The four entries of a slot.
const (
	programName = "program"
	inputName   = "input"
	homeName    = "home"
	canaryName  = "canary"
)

// node is one entry of a slot: first what is to be made, then, once made, what was made. A node that was not made is no part of the record:
// an entry of its name would be a stranger.
type node struct {
	name     string
	dir      bool
	children []*node // of a directory, in the order they are made

	content pins.Content      // of a file, until it is written
	sum     [sha256.Size]byte // of a file: what content hashed to when the snapshot was taken

	made     bool
	dev, ino uint64
	uid      uint32
	size     int64 // of a file, in bytes
	noted    bool  // ctimeNs holds: the entry was verified
	ctimeNs  int64
}

// record notes who the entry is.
func (n *node) record(f facts) {
	n.made, n.dev, n.ino, n.uid, n.size = true, f.dev, f.ino, f.uid, f.size
}

func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// planSlot is what a slot holds: the two snapshots, an empty home, and the canary.
func planSlot(program, input pins.Snapshot, canary []byte) []*node {
	return []*node{
		planSnapshot(programName, program),
		planSnapshot(inputName, input),
		{name: homeName, dir: true},
		{name: canaryName, content: pins.Content{canary}, sum: sha256.Sum256(canary), size: int64(len(canary))},
	}
}

// planSnapshot is the tree of one snapshot below a directory of that name.
func planSnapshot(name string, s pins.Snapshot) *node {
	top := &node{name: name, dir: true}
	dirs := map[string]*node{".": top}
	for _, d := range s.Dirs() {
		dirs[d] = dirs[path.Dir(d)].add(&node{name: path.Base(d), dir: true})
	}
	for e, content := range s.All() {
		dirs[path.Dir(e.Path)].add(&node{name: path.Base(e.Path), content: content, sum: e.SHA256, size: e.Size})
	}
	return top
}

func (n *node) add(child *node) *node {
	n.children = append(n.children, child)
	return child
}

// newCanary is what the boundary must not let the program read: 32 random bytes in hex, so that no program can know or guess it and any copy
// of it in an output is proof of a leak.
func newCanary() []byte {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: crypto/rand ends the program instead
	return hex.AppendEncode(nil, secret[:])
}
