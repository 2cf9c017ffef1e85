package pins

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
)

// FileID is what the host says about an open file beside its content. Two equal FileIDs of one path mean, on a file
// system that keeps change times, that nobody wrote to the file or replaced it in between.
type FileID struct {
	Dev, Ino         uint64
	UID              uint32
	Size             int64 // bytes
	MtimeNs, CtimeNs int64 // nanoseconds since 1970
}

// Source is a path together with the inode that was verified there.
type Source struct {
	Path     string
	Dev, Ino uint64
}

// RuntimeFile is one file of the runtime: its content as it was read through one descriptor, and what the host said about
// that descriptor. Size and ID were the same before and after the reading.
type RuntimeFile struct {
	Path   string // canonical: no part of it is a symlink
	Size   int64  // bytes
	SHA256 [sha256.Size]byte
	ID     FileID
}

// Alias is a symlink on the way from a path the loader uses to a file, with its target verbatim. Its own directory is
// canonical: where /lib is a symlink to usr/lib, /lib/a.so is seen as the alias /lib and then /usr/lib/a.so.
type Alias struct{ Path, Target string }

// Closure is everything that is mapped when Node starts, and every symlink that leads there. A file system that holds
// exactly the files and aliases is enough for the loader to find them all, without /etc/ld.so.cache, given one thing: where
// the Node binary itself uses $ORIGIN, ld.so learns it by reading the symlink /proc/self/exe.
type Closure struct {
	Node        string        // canonical path of the Node binary
	Interpreter string        // the loader's path as PT_INTERP says; an alias may lead from it to its file
	Files       []RuntimeFile // Node, the interpreter and every library, in bytewise path order
	Aliases     []Alias       // in bytewise path order
	Launchers   []RuntimeFile // what starts Node: its path is the one the handle was opened with
}

// UnavailableError says why there is no runtime to pin, and what to do.
type UnavailableError struct{ Path, Problem, Cure string }

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s %s; cure: %s", e.Path, e.Problem, e.Cure)
}

// Launcher is a file that starts Node.
type Launcher struct {
	Path string   // absolute
	File *os.File // what is executed, by its handle; nil: the file at Path is, and is opened anew for each reading
}

// TakeClosure reads the closure of the Node binary at the absolute path node, and the launchers, leaving the offsets of
// handles alone. On Linux it finds what ld.so of glibc finds when it is started with an empty environment and
// without /etc/ld.so.cache and /etc/ld.so.preload, on macOS what dyld finds beside the system's own libraries; whatever it
// cannot be sure of is a refusal. It executes nothing.
//
// The error is an [UnavailableError], or wraps the context's once that is done (it is looked at between reads of 1 MiB).
// Precondition: the handles of launchers are open for reading.
func TakeClosure(ctx context.Context, node string, launchers []Launcher) (Closure, error) {
	s, err := subjectHere(node, launchers)
	if err != nil {
		return Closure{}, err
	}
	return s.take(ctx, nil, nil)
}

// subject is whose closure is taken: Node and launchers, on a host whose programs are ELF files, or on a Mac with Apple silicon.
type subject struct {
	node      string
	launchers []Launcher
	elf       *elfHost // nil: a Mac
}

func subjectHere(node string, launchers []Launcher) (subject, error) {
	if runtime.GOOS == "darwin" && runtime.GOARCH == "arm64" {
		return subject{node, launchers, nil}, nil
	}
	machine, known := machineOf(runtime.GOOS, runtime.GOARCH)
	if !known {
		return subject{}, &UnavailableError{node, "would run on " + runtime.GOOS + "/" + runtime.GOARCH + ", where no closure can be read",
			"run confined on Linux (amd64 or arm64) or on a Mac with Apple silicon"}
	}
	return subject{node, launchers, &elfHost{machine, defaultDirs(machine)}}, nil
}

// take takes the closure with what is known of an earlier one, and keeps what a later one is to know; both may be nil.
func (s subject) take(ctx context.Context, known, keep *memory) (Closure, error) {
	t := newTaker(ctx, known, keep)
	if s.elf == nil {
		return s.takeMac(t)
	}
	return s.takeELF(t)
}
