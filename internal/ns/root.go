package ns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// MaxSlots is the largest Config.MaxRetained.
const MaxSlots = 64

// Config says where slots are and how many entries the root may hold.
type Config struct {
	Root        string // absolute, normalised, without a trailing slash, of A-Z a-z 0-9 . _ @ + - /
	MaxRetained int    // 1 to MaxSlots: no run starts once the root holds as many entries, whatever they are
	State       string // the directory of quarantine.jsonl: absolute, made by the daemon, outside Root
}

// Pool lends the slots of one root. Its methods may be called from any goroutine; several pools, in one process or in many, may share a
// root.
type Pool struct {
	root   string
	max    int
	ledger *ledger

	mu   sync.Mutex       // held while the root is listed or a slot made, so that a listing and live agree; never while waiting for anybody
	live map[int]*tenancy // by slot number, from its mkdir until after it is settled
}

// Path is the root that the pool was made for.
func (p *Pool) Path() string { return p.root }

// MaxRetained is how many entries the root may hold before no further run starts.
func (p *Pool) MaxRetained() int { return p.max }

// NewPool judges the words of a Config and touches nothing; a refused Root is a *RootError.
func NewPool(c Config) (*Pool, error) {
	if err := judgeWords(c.Root); err != nil {
		return nil, err
	}
	if c.MaxRetained < 1 || c.MaxRetained > MaxSlots {
		return nil, fmt.Errorf("the number of retained slots is %d; it must be from 1 to %d", c.MaxRetained, MaxSlots)
	}
	if !filepath.IsAbs(c.State) || filepath.Clean(c.State) != c.State {
		return nil, fmt.Errorf("the state directory %q must be an absolute, normalised path", c.State)
	}
	if c.State == c.Root || strings.HasPrefix(c.State, c.Root+"/") {
		return nil, fmt.Errorf("the state directory %s is inside the root %s, which holds slots only; name another", c.State, c.Root)
	}
	return &Pool{root: c.Root, max: c.MaxRetained, ledger: newLedger(c.State), live: map[int]*tenancy{}}, nil
}

var rootWords = regexp.MustCompile(`^/[A-Za-z0-9._@+/-]*$`)

// judgeWords is the part of the root's rules that needs no file system.
func judgeWords(root string) error {
	switch {
	case root == "":
		return &RootError{"no root is named", "name an absolute path"}
	case !strings.HasPrefix(root, "/"):
		return &RootError{fmt.Sprintf("the root %q is not absolute", root), "name a path that starts with /"}
	case !rootWords.MatchString(root):
		return &MisplacedError{&RootError{fmt.Sprintf("the root %q holds a character other than A-Z a-z 0-9 . _ @ + - /", root), "name a root of these characters only; state and socket may stay where they are"}}
	case root == "/":
		return &RootError{"the root is /, which holds more than slots", "name a directory of its own"}
	case strings.HasSuffix(root, "/"):
		return &RootError{"the root " + root + " ends with a slash", "name it " + filepath.Clean(root)}
	case filepath.Clean(root) != root:
		return &RootError{"the root " + root + " is not normalised", "name it " + filepath.Clean(root)}
	}
	return nil
}

// Root is an open handle on a root that was found sound when it was opened. It is for one goroutine; slots that were claimed through it
// outlive it.
type Root struct {
	pool *Pool
	fd   int
}

// Open opens the root and establishes that it is a directory named by its canonical path, owned by this process's effective user, closed to
// everybody else, and on a file system where a change cannot hide. Every refusal is a *RootError. It makes nothing.
func (p *Pool) Open() (*Root, error) {
	fd, err := openCanonical(p.root, pins.SpelledOnDisk)
	if err != nil {
		return nil, err
	}
	if err := judgeRoot(p.root, fd); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &Root{pool: p, fd: fd}, nil
}

// openCanonical opens the directory that root names when no symbolic link is on the way: root is its own real path, and the handle is on
// the very inode that this path names. And root is spelled as the disk has it, which spelled tells of the handle: on macOS other letters
// lead there too, by case, by normalisation or below /System/Volumes/Data, and a sandbox there knows the name on the disk alone.
func openCanonical(root string, spelled func(fd int, path string) (string, error)) (int, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	real, realErr := filepath.EvalSymlinks(root)
	if err == nil && realErr == nil {
		real, realErr = spelled(fd, real)
	}
	if err == nil && realErr == nil && real == root && sameInode(fd, root) {
		return fd, nil
	}
	if err == nil {
		unix.Close(fd)
		err = realErr
	}
	return -1, whyNotCanonical(root, real, err)
}

func sameInode(fd int, path string) bool {
	held, err := statOf(fd)
	if err != nil {
		return false
	}
	named, err := statAt(unix.AT_FDCWD, path)
	return err == nil && held.dev == named.dev && held.ino == named.ino
}

func whyNotCanonical(root, real string, err error) *RootError {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &RootError{"the root " + root + " does not exist", "mkdir -m 700 " + root}
	case real != "" && real != root:
		return &RootError{"the root " + root + " is not canonical: it leads to " + real, "name it " + real}
	case errors.Is(err, unix.ENOTDIR):
		return &RootError{"the root " + root + " is not a directory", "name a directory"}
	case errors.Is(err, fs.ErrPermission) && isOurs(root):
		return &RootError{"the root " + root + " is closed to ourselves", "chmod 700 " + root}
	case errors.Is(err, fs.ErrPermission):
		return &RootError{fmt.Sprintf("the root %s cannot be opened by uid %d: permission denied", root, os.Geteuid()), "name a directory of your own"}
	case err != nil:
		return &RootError{fmt.Sprintf("the root %s cannot be opened: %v", root, err), "name another directory"}
	}
	return &RootError{"the root " + root + " was replaced while it was being opened", "find out who renames it, and try again"}
}

func isOurs(root string) bool {
	f, err := statAt(unix.AT_FDCWD, root)
	return err == nil && int(f.uid) == os.Geteuid()
}

// judgeRoot is the part of the root's rules that is asked of the open handle.
func judgeRoot(root string, fd int) error {
	f, err := statOf(fd)
	if err != nil {
		return &RootError{fmt.Sprintf("the root %s cannot be examined: %v", root, err), "name another directory"}
	}
	if me := os.Geteuid(); int(f.uid) != me {
		return &RootError{fmt.Sprintf("the root %s belongs to uid %d and this process is uid %d", root, f.uid, me), "name a directory of your own"}
	}
	if f.perm&0o077 != 0 {
		return &RootError{fmt.Sprintf("the root %s has mode %04o: others can reach into it", root, f.perm), "chmod 700 " + root}
	}
	problem, err := fileSystemProblem(fd)
	if err != nil {
		return &RootError{fmt.Sprintf("the file system of the root %s cannot be examined: %v", root, err), "name a directory on " + fitFileSystems}
	}
	if problem != "" {
		return &MisplacedError{&RootError{"the root " + root + " " + problem, "name a directory on " + fitFileSystems}}
	}
	if problem, cure := leaseProblem(); problem != "" {
		return &RootError{problem, cure}
	}
	return nil
}

// Close releases the handle.
func (r *Root) Close() error {
	fd := r.fd
	r.fd = -1
	return unix.Close(fd)
}

// Count is the number of entries of the root, foreign and leftover ones included.
func (r *Root) Count() (int, error) {
	names, err := namesIn(r.fd)
	if err != nil {
		return 0, step("list", r.pool.root, err)
	}
	return len(names), nil
}
