package ns

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// facts is what one stat call says of an entry, in the same types on every system.
type facts struct {
	dev, ino uint64
	uid, gid uint32
	kind     uint32 // the S_IFMT bits
	perm     uint32 // the other twelve mode bits
	links    uint64
	size     int64 // bytes
	mtimeNs  int64
	ctimeNs  int64
}

func factsOf(st *unix.Stat_t) facts {
	return facts{
		dev: uint64(st.Dev), ino: st.Ino, uid: st.Uid, gid: st.Gid,
		kind: uint32(st.Mode) & unix.S_IFMT, perm: uint32(st.Mode) & 0o7777,
		links: uint64(st.Nlink), size: st.Size,
		mtimeNs: st.Mtim.Nano(), ctimeNs: st.Ctim.Nano(),
	}
}

func (f facts) isDir() bool  { return f.kind == unix.S_IFDIR }
func (f facts) isFile() bool { return f.kind == unix.S_IFREG }

// statAt looks at one name in an open directory and follows nothing.
func statAt(parent int, name string) (facts, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return facts{}, err
	}
	return factsOf(&st), nil
}

// statOf looks at what a descriptor is open on.
func statOf(fd int) (facts, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return facts{}, err
	}
	return factsOf(&st), nil
}

// openAt opens one name in an open directory; a symbolic link there is refused with ELOOP or ENOTDIR, and nothing blocks.
func openAt(parent int, name string, flags int, perm uint32) (int, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Openat(parent, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, perm)
		return err
	})
	return fd, err
}

func openDirAt(parent int, name string) (int, error) {
	return openAt(parent, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

// namesIn lists an open directory, sorted bytewise, through a descriptor of its own: the caller's read position is left alone.
func namesIn(dir int) ([]string, error) {
	names, _, err := namesUpTo(dir, math.MaxInt)
	return names, err
}

// namesUpTo is namesIn for a directory that a stranger may have filled: of more than limit names it returns limit, whichever they are, and
// says that these are not all.
func namesUpTo(dir, limit int) (names []string, all bool, err error) {
	fd, err := openDirAt(dir, ".")
	if err != nil {
		return nil, false, err
	}
	defer unix.Close(fd)
	err = list(fd, func(l listed) bool {
		names = append(names, l.name)
		return len(names) <= limit
	})
	if err != nil {
		return nil, false, err
	}
	all = len(names) <= limit
	names = names[:min(len(names), limit)]
	slices.Sort(names)
	return names, all, nil
}

// listed is what a directory itself tells of one of its names.
type listed struct {
	name string
	ino  uint64
	kind uint32 // the S_IFMT bits; 0 on a file system whose directories do not tell
}

// list reads an open directory from its read position on, in the directory's order, for as long as more wants more.
func list(dir int, more func(listed) bool) error {
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	for {
		n := 0
		err := again(func() (err error) { n, err = readEntries(dir, buf[:listBytes]); return err })
		if err != nil || n <= 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			var l listed
			l, rest = cutEntry(rest)
			if l.ino != 0 && l.name != "." && l.name != ".." && !more(l) {
				return nil
			}
		}
	}
}

// buffer is what one goroutine reads into. A larger one reads no faster: SHA-256 takes many times as long as the system calls.
type buffer [64 << 10]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// again repeats a system call that a signal interrupted; the Go runtime sends itself signals.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// step gives an error the act and the entry it belongs to; the cause stays reachable by errors.Is.
func step(act, path string, err error) error {
	return &fs.PathError{Op: act, Path: path, Err: err}
}

// kindName names the S_IFMT bits for people.
func kindName(kind uint32) string {
	switch kind {
	case unix.S_IFREG:
		return "a regular file"
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFBLK, unix.S_IFCHR:
		return "a device"
	}
	return fmt.Sprintf("an entry of unknown kind %#o", kind)
}
