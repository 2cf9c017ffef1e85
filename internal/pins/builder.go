package pins

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"
)

// FaultCode says which rule of snapshots is broken.
type FaultCode string

// The codes of [Fault].
const (
	BadPath          FaultCode = "bad-path"           // see [CheckPath]
	DuplicatePath    FaultCode = "duplicate-path"     // the same path twice
	PathClash        FaultCode = "path-clash"         // a file where a directory is, or paths that differ in case only
	TooManyFiles     FaultCode = "too-many-files"     // more than [MaxSnapshotFiles], or directories than [MaxSnapshotDirs]
	SnapshotTooLarge FaultCode = "snapshot-too-large" // more than [MaxSnapshotBytes]
)

// MaxFaults bounds the list that [Builder.Snapshot] returns.
const MaxFaults = 64

// Fault is one reason why the files that were added are no snapshot. Detail names the path and says what to do. Path is
// verbatim (it can be any bytes); for too-many-files and snapshot-too-large it is the first file beyond the bound.
type Fault struct {
	Code   FaultCode
	Path   string
	Detail string
}

// Builder collects the files of one snapshot. The zero value is ready. It is for one goroutine.
//
// It holds at most [MaxSnapshotBytes] of content, and none at all once a fault is certain: a snapshot with a fault is
// never made, and the rest of it is read only to name its other faults.
type Builder struct {
	entries  []Entry
	contents []Content         // contents[i] belongs to entries[i]; nil once doomed
	shelf    shelf             // what they lie in
	names    map[string]naming // every file and directory so far, by its path without ASCII case
	faults   []Fault           // of single paths; at most MaxFaults
	doomed   bool              // a fault is certain: no content is kept
	failed   bool              // an Add returned an error: what was added is not what was meant

	files, bytes           int64  // of everything added, also past the bounds
	directories            int    // that the good paths need
	manyFrom, largeFrom    string // the first file beyond a bound
	tooManyFiles, tooLarge bool
	tally                  tally
}

// naming is how a path is spelled, and what is there.
type naming struct {
	spelling  string
	directory bool
}

// Add reads r to its end and adds what it held as the file path. The content is hashed while it is read. Every fault of
// the path and of the sizes is kept for [Builder.Snapshot]: the error is r's own and nothing else. After an error the
// files added are not those that were meant, and Snapshot panics.
func (b *Builder) Add(path string, r io.Reader) error {
	b.files++
	if b.files > MaxSnapshotFiles {
		if !b.tooManyFiles {
			b.tooManyFiles, b.manyFrom = true, path
		}
		b.doom()
	} else {
		b.name(path)
	}
	entry, content, err := b.read(path, r)
	if err != nil {
		b.failed = true
		b.doom()
		return err
	}
	b.bytes += entry.Size
	b.tally.add(path, entry.Size)
	if b.bytes > MaxSnapshotBytes && !b.tooLarge {
		b.tooLarge, b.largeFrom = true, path
		b.doom()
	}
	if !b.doomed {
		b.entries = append(b.entries, entry)
		b.contents = append(b.contents, content)
	}
	return nil
}

// Snapshot returns the snapshot of the files added, or every fault of them: at most [MaxFaults], those of the sizes
// first, then those of paths in the order the files were added. Exactly one of the two is empty. The Builder is done
// with: adding to it later does not change the snapshot.
func (b *Builder) Snapshot() (Snapshot, []Fault) {
	if b.failed {
		panic("pins: Snapshot of a Builder whose Add failed: the files are not those that were meant")
	}
	if faults := b.allFaults(); len(faults) > 0 {
		return Snapshot{}, faults
	}
	order := make([]int, len(b.entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(b.entries[i].Path, b.entries[j].Path) })
	entries := make([]Entry, len(order))
	contents := make([]Content, len(order))
	for to, from := range order {
		entries[to], contents[to] = b.entries[from], b.contents[from]
	}
	return newSnapshot(entries, contents), nil
}

// read consumes r, and keeps its content while the snapshot can still be one.
func (b *Builder) read(path string, r io.Reader) (Entry, Content, error) {
	if b.doomed {
		n, err := io.Copy(io.Discard, r)
		return Entry{Path: path, Size: n}, nil, err
	}
	hash := sha256.New()
	room := MaxSnapshotBytes - b.bytes
	content, size, err := b.shelf.put(r, room, hash)
	if err != nil {
		return Entry{}, nil, err
	}
	entry := Entry{Path: path, Size: size, SHA256: [sha256.Size]byte(hash.Sum(nil))}
	if size <= room {
		return entry, content, nil
	}
	rest, err := io.Copy(io.Discard, r)
	entry.Size += rest
	return entry, nil, err
}

// name judges path by itself and against the paths before it, and keeps at most one fault of it.
func (b *Builder) name(path string) {
	if err := CheckPath(path); err != nil {
		b.fault(BadPath, path, fmt.Sprintf("%.300q is no snapshot path: %v", path, err))
		return
	}
	if b.names == nil {
		b.names = map[string]naming{}
	}
	for dir := range ancestors(path) {
		if !b.claim(path, naming{dir, true}) {
			return
		}
	}
	b.claim(path, naming{path, false})
}

// claim records that n is a file, or a directory, of path. It keeps a fault and returns false when something else is
// there.
func (b *Builder) claim(path string, n naming) bool {
	key := foldASCII(n.spelling)
	there, taken := b.names[key]
	switch {
	case !taken:
		b.names[key] = n
		if n.directory {
			b.countDirectory(path)
		}
		return true
	case there.spelling != n.spelling:
		b.fault(PathClash, path, fmt.Sprintf(
			"%q: %q and %q differ only in the case of letters, and some file systems hold them as one: rename either", path, n.spelling, there.spelling))
	case there.directory && n.directory:
		return true
	case there.directory != n.directory:
		b.fault(PathClash, path, fmt.Sprintf("%q: %q is both a file and a directory of other files: rename either", path, n.spelling))
	default:
		b.fault(DuplicatePath, path, fmt.Sprintf("%q is there twice: send each file once", path))
	}
	return false
}

// countDirectory keeps a fault of the first directory beyond the bound.
func (b *Builder) countDirectory(path string) {
	b.directories++
	if b.directories == MaxSnapshotDirs+1 {
		b.fault(TooManyFiles, path, fmt.Sprintf(
			"%.300q needs more than the bound of %d directories: leave out what the run does not read", path, MaxSnapshotDirs))
	}
}

func (b *Builder) fault(code FaultCode, path, detail string) {
	b.doom()
	if len(b.faults) < MaxFaults {
		b.faults = append(b.faults, Fault{code, path, detail})
	}
}

// doom lets go of all content: no snapshot will be made of it.
func (b *Builder) doom() {
	b.doomed = true
	b.entries, b.contents, b.shelf = nil, nil, shelf{}
}

func (b *Builder) allFaults() []Fault {
	var faults []Fault
	if b.tooManyFiles {
		faults = append(faults, Fault{TooManyFiles, b.manyFrom, fmt.Sprintf(
			"%d files, %.300q is the first beyond the bound of %d: leave out what the run does not read; most of them: %s",
			b.files, b.manyFrom, MaxSnapshotFiles, b.tally.fullest())})
	}
	if b.tooLarge {
		faults = append(faults, Fault{SnapshotTooLarge, b.largeFrom, fmt.Sprintf(
			"%d bytes in %d files, %.300q is the first beyond the bound of %d bytes: leave out what the run does not read; the largest: %s",
			b.bytes, b.files, b.largeFrom, MaxSnapshotBytes, b.tally.largestOf())})
	}
	faults = append(faults, b.faults...)
	return faults[:min(len(faults), MaxFaults)]
}
