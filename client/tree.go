package client

import (
	"iter"

	"confined/internal/pins"
)

// Tree is a snapshot in memory: what a run is sent, with the digest that names
// it. Nothing changes it, so that the digest is always that of what is sent.
// The zero Tree is the empty snapshot.
type Tree struct {
	snapshot pins.Snapshot
}

// File is one file of a tree: a relative path with slashes, and what it holds.
type File struct {
	Path    string
	Content []byte
}

// NewTree makes a tree of files, in any order. An error is a [*TreeError] with
// every fault.
func NewTree(files ...File) (Tree, error) { panic("soon") }

// ReadTree reads a directory.
func ReadTree(dir string, exclude ...string) (Tree, error) { panic("soon") }

// held is the snapshot, also of the zero Tree.
func (t Tree) held() pins.Snapshot {
	if t.snapshot.Digest() == "" {
		var none pins.Builder
		s, _ := none.Snapshot()
		return s
	}
	return t.snapshot
}

// Digest is what a request pins: "sha256:" and 64 hexadecimal digits.
func (t Tree) Digest() string { return string(t.held().Digest()) }

// Protocol is the first line of the text that the digest is of.
func (t Tree) Protocol() string { return t.held().Protocol() }

// Bytes is the size of all files together.
func (t Tree) Bytes() int64 { return t.held().Bytes() }

// Len is the number of files.
func (t Tree) Len() int { return len(t.held().Files()) }

// Has reports whether there is a file of that path.
func (t Tree) Has(path string) bool { return t.held().Has(path) }

// Files yields the path and the content of every file, in bytewise order of
// their paths. The content must not be written to.
func (t Tree) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for entry, content := range t.held().All() {
			if !yield(entry.Path, content) {
				return
			}
		}
	}
}
