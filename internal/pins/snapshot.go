package pins

import (
	"crypto/sha256"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Bounds of one snapshot. A program and an input are each bounded by them.
const (
	MaxSnapshotBytes = 64 << 20 // sum of the sizes of the files, in bytes
	MaxSnapshotFiles = 10_000   // number of files
	MaxSnapshotDirs  = 10_000   // number of directories that their paths need: each costs what a file costs
	MaxPathLength    = 256      // characters of one path
	MaxPathSegments  = 16       // segments of one path
)

// The first line of the digest text. Paths with "@" or "+" came with the second protocol; a snapshot without them keeps
// the digest it always had.
const (
	snapshotProtocol1 = "sf-confined-snapshot/1"
	snapshotProtocol2 = "sf-confined-snapshot/2"
)

// Entry is one file of a snapshot: its path, its size in bytes and the SHA-256 of its content.
type Entry struct {
	Path   string
	Size   int64
	SHA256 [sha256.Size]byte
}

// Snapshot is a set of files with their content, within the bounds above, and its digest. Only [Builder.Snapshot] makes
// one, and nothing changes it afterwards, though [Snapshot.Forget] can let go of the content: copies share that. The zero
// value is no snapshot (its digest is empty); the snapshot without files comes from an unused Builder.
type Snapshot struct {
	entries  []Entry    // in bytewise path order
	contents *[]Content // (*contents)[i] belongs to entries[i]; shared by all copies, nil once forgotten
	dirs     []string   // parents before children
	protocol string
	digest   Digest
	bytes    int64
}

// newSnapshot takes entries that [Builder.Snapshot] found without fault, in bytewise path order.
func newSnapshot(entries []Entry, contents []Content) Snapshot {
	s := Snapshot{entries: entries, contents: &contents, protocol: protocolOf(entries)}
	for _, e := range entries {
		s.bytes += e.Size
	}
	s.dirs = directoriesOf(entries)
	s.digest = DigestOf(sha256.Sum256(snapshotText(s.protocol, entries)))
	return s
}

// Digest names the snapshot: its paths, sizes and contents, and nothing else.
func (s Snapshot) Digest() Digest { return s.digest }

// Protocol is the first line of the text the digest is computed over: "sf-confined-snapshot/1", or ".../2" when a path
// holds "@" or "+".
func (s Snapshot) Protocol() string { return s.protocol }

// Bytes is the sum of the sizes of the files.
func (s Snapshot) Bytes() int64 { return s.bytes }

// Files returns the files in bytewise path order. The slice is the caller's.
func (s Snapshot) Files() []Entry { return slices.Clone(s.entries) }

// Dirs returns every directory that a file lies in, parents before children, without the root itself. The slice is the
// caller's.
func (s Snapshot) Dirs() []string { return slices.Clone(s.dirs) }

// All yields every file with its content in bytewise path order. The content is shared by all copies of the snapshot:
// it must not be written to. It panics once the content was forgotten.
func (s Snapshot) All() iter.Seq2[Entry, Content] {
	return func(yield func(Entry, Content) bool) {
		for i, e := range s.entries {
			if !yield(e, (*s.contents)[i]) {
				return
			}
		}
	}
}

// Forget lets go of the content that this snapshot and all copies of it share, for when it is on disk and no longer
// needed in memory; everything else stays. It must not run beside All. Forgetting twice, or the zero value, does
// nothing.
func (s Snapshot) Forget() {
	if s.contents != nil {
		*s.contents = nil
	}
}

// Has reports whether the snapshot holds a file of that path.
func (s Snapshot) Has(path string) bool {
	_, found := slices.BinarySearchFunc(s.entries, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	return found
}

// snapshotText is what the digest is computed over: the protocol line, then "path TAB size TAB sha256hex" per file. No
// path can hold a tab or a newline, so the text has one reading.
func snapshotText(protocol string, entries []Entry) []byte {
	const hexDigits = "0123456789abcdef"
	text := append([]byte(protocol), '\n')
	for _, e := range entries {
		text = append(text, e.Path...)
		text = append(text, '\t')
		text = strconv.AppendInt(text, e.Size, 10)
		text = append(text, '\t')
		for _, b := range e.SHA256 {
			text = append(text, hexDigits[b>>4], hexDigits[b&0xf])
		}
		text = append(text, '\n')
	}
	return text
}

func protocolOf(entries []Entry) string {
	for _, e := range entries {
		if strings.ContainsAny(e.Path, "@+") {
			return snapshotProtocol2
		}
	}
	return snapshotProtocol1
}

// directoriesOf lists the directories of the paths in bytewise order, which puts a parent before its children.
func directoriesOf(entries []Entry) []string {
	seen := map[string]bool{}
	var dirs []string
	for _, e := range entries {
		for dir := range ancestors(e.Path) {
			if !seen[dir] {
				seen[dir] = true
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}
