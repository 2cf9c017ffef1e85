package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// ReadTree reads a directory and everything below it. It takes nothing but
// regular files: an error is a [*TreeError] that lists every link, special
// file and unfit path at once. Directories without files leave no trace in a
// tree, and neither do modes and times.
//
// Each pattern of exclude is one of [path.Match], matched against the path in
// the tree, or against the last element alone when the pattern has no slash; a
// directory that matches is left out with all that is in it. Nothing is left out
// unasked: not .git, and not the .DS_Store and ._* files that a Mac leaves, which
// change the digest like any other file.
//
// The directory is opened once and read by handles below it, so that no link
// can lead the reading out of it, also when it is changed meanwhile. A file that
// changes while it is read is what was read: digest and content always agree.
// The bounds of snapshots (64 MiB, 10,000 files) are checked before anything is
// read.
func ReadTree(dir string, exclude ...string) (Tree, error) {
	left, err := parseGlobs(exclude)
	if err != nil {
		return Tree{}, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Tree{}, noDirectory(dir, err)
	}
	defer root.Close()
	w := walk{root: root, exclude: left}
	w.list(".")
	w.judge()
	if len(w.faults) > 0 {
		return Tree{}, &TreeError{dir, w.faults}
	}
	taken := w.take()
	if len(w.faults) > 0 {
		return Tree{}, &TreeError{dir, w.faults}
	}
	return Tree{taken}, nil
}

// noDirectory says what to name in place of what could not be opened.
func noDirectory(dir string, err error) error {
	info, statErr := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no such directory: %w", err)
	case statErr == nil && !info.IsDir():
		return fmt.Errorf("a tree is read from a directory: %w; name the directory it is in", err)
	}
	return fmt.Errorf("a tree is read from a directory: %w", err)
}

// Bounds of what is looked at, far beyond those of a snapshot: enough to say by
// how much a tree is too large.
const (
	maxEntries = 200_000
	maxDepth   = 64
)

// walk is one reading of a directory: list, then judge, then take.
type walk struct {
	root    *os.Root
	exclude globs
	entries int
	files   []listed // in the order of the walk
	faults  []TreeFault
}

type listed struct {
	path string
	size int64
}

func (w *walk) fault(code TreeFaultCode, path, format string, args ...any) {
	w.faults = append(w.faults, TreeFault{code, path, fmt.Sprintf(format, args...)})
}

// list notes every regular file below dir, and a fault for everything else.
func (w *walk) list(dir string) {
	names, err := w.names(dir)
	if err != nil {
		w.fault(Unreadable, dir, "%.300q cannot be read: %v", dir, reason(err))
	}
	for _, name := range names {
		if dir != "." {
			name = dir + "/" + name
		}
		if !w.exclude.match(name) {
			w.entry(name)
		}
	}
}

// names are the entries of a directory, sorted; not all of them where there are
// too many in the tree.
func (w *walk) names(dir string) ([]string, error) {
	f, err := w.root.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var names []string
	for w.entries < maxEntries {
		some, err := f.Readdirnames(1024)
		names = append(names, some...)
		w.entries += len(some)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// entry notes what is at path.
func (w *walk) entry(path string) {
	info, err := w.root.Lstat(path)
	switch {
	case err != nil:
		w.fault(Unreadable, path, "%.300q cannot be read: %v", path, reason(err))
	case info.IsDir() && strings.Count(path, "/") >= maxDepth:
		w.fault(BadPath, path, "%.300q is a directory more than %d deep", path, maxDepth)
	case info.IsDir():
		w.list(path)
	case info.Mode().IsRegular():
		w.files = append(w.files, listed{path, info.Size()})
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := w.root.Readlink(path)
		w.fault(Symlink, path, "%.300q is a symbolic link to %.300q", path, target)
	default:
		w.fault(SpecialFile, path, "%.300q is a %s", path, kindOf(info.Mode()))
	}
}

func kindOf(mode os.FileMode) string {
	switch {
	case mode&os.ModeNamedPipe != 0:
		return "pipe"
	case mode&os.ModeSocket != 0:
		return "socket"
	case mode&os.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
