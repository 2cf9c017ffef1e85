package client

import (
	"bytes"
	"iter"

	"confined/internal/pins"
)

// Tree is a snapshot in memory: files, and the digest that names them. Nothing
// changes it, so its digest is always that of what is sent. The zero Tree is the
// snapshot without files.
type Tree struct {
	taken pins.Snapshot
}

// File is one file of a tree: a relative path with slashes, and what it holds.
type File struct {
	Path    string
	Content []byte
}

// NewTree makes a tree of copies of these files; their order does not matter. The
// error is a [*TreeError] with every reason why they are no snapshot.
func NewTree(files ...File) (Tree, error) {
	var b pins.Builder
	for _, f := range files {
		_ = b.Add(f.Path, bytes.NewReader(f.Content)) // its only errors are the reader's
	}
	taken, faults := b.Snapshot()
	if len(faults) > 0 {
		return Tree{}, &TreeError{Faults: treeFaults(faults)}
	}
	return Tree{taken}, nil
}

// snapshot is what the tree holds.
func (t Tree) snapshot() pins.Snapshot {
	if t.taken.Digest() != "" {
		return t.taken
	}
	var none pins.Builder
	empty, _ := none.Snapshot()
	return empty
}

// Digest is what a request pins: "sha256:" and 64 hexadecimal digits.
func (t Tree) Digest() string { return string(t.snapshot().Digest()) }

// Protocol is the first line of the text that the digest is of.
func (t Tree) Protocol() string { return t.snapshot().Protocol() }

// Bytes is the size of all files together.
func (t Tree) Bytes() int64 { return t.snapshot().Bytes() }

// Len is the number of files.
func (t Tree) Len() int { return len(t.snapshot().Files()) }

// Has reports whether there is a file of that path.
func (t Tree) Has(path string) bool { return t.snapshot().Has(path) }

// Files yields the path and the content of every file, in bytewise order of the
// paths. The content is a copy.
func (t Tree) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for entry, content := range t.snapshot().All() {
			if !yield(entry.Path, bytes.Join(content, nil)) {
				return
			}
		}
	}
}
