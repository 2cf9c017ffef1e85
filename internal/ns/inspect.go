package ns

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// inspection is one walk over a slot. Every walk compares what stat calls tell with the record, and listings exactly. Each of its workers keeps
// one descriptor open a level, and one for the file in hand.
type inspection struct {
	*workers
	note  bool // note ctimes, instead of comparing them with those noted before
	read  bool // compare contents too
	lease bool // read under a lease
}

// directory inspects a directory and all below it. What is found inside counts only if its ctime is the same at the end as at the start: no
// name in it came, went or changed in between.
func (i inspection) directory(parent int, n *node, path string) error {
	fd, err := openDirAt(parent, n.name)
	if err != nil {
		return i.whyNot("open", parent, n, path, err)
	}
	defer unix.Close(fd)
	before, err := i.judge(fd, n, path)
	if err != nil {
		return err
	}
	shown, err := n.onlyRecorded(fd, path)
	if err != nil {
		return err
	}
	err = i.each(len(n.children), func(k int) error {
		c := n.children[k]
		return i.child(fd, c, shown[k], path+"/"+c.name)
	})
	if err != nil {
		return err
	}
	return i.unmoved(fd, n, path, before.ctimeNs)
}

// child inspects one entry of an open directory; shown is what the directory's listing told of it.
func (i inspection) child(parent int, n *node, shown listed, path string) error {
	switch {
	case !n.made: // the listing has shown that nothing has its name
		return nil
	case n.dir:
		return i.directory(parent, n, path)
	case i.read && shown.kind == unix.S_IFREG && shown.ino == n.ino:
		return i.file(parent, n, path)
	}
	if err := i.glance(parent, n, path); err != nil || !i.read {
		return err
	}
	return i.file(parent, n, path)
}

// glance compares what a stat call by name tells.
func (i inspection) glance(parent int, n *node, path string) error {
	f, err := statAt(parent, n.name)
	if errors.Is(err, unix.ENOENT) {
		return &MismatchError{path, "is missing"}
	}
	if err != nil {
		return step("examine", path, err)
	}
	return i.compare(n, f, path)
}

// file reads one file through one descriptor, and everything that is compared is compared of what that descriptor is open on. It is called
// when the directory's listing, or a glance, has told that a regular file has the name, so that no FIFO, device or socket that took it is
// opened. One that takes it after that is opened without waiting, and told by its kind.
func (i inspection) file(parent int, n *node, path string) error {
	fd, err := openAt(parent, n.name, unix.O_RDONLY, 0)
	if err != nil {
		return i.whyNot("open", parent, n, path, err)
	}
	defer unix.Close(fd)
	if !i.lease {
		return i.contents(fd, n, path)
	}
	if err := takeLease(fd); errors.Is(err, unix.EAGAIN) {
		return &MismatchError{path, "is open or mapped for writing by some process, expected no writer"}
	} else if err != nil {
		return i.whyNot("take a read lease on", parent, n, path, err)
	}
	defer dropLease(fd)
	if err := i.contents(fd, n, path); err != nil {
		return err
	}
	if intact, err := leaseIntact(fd); err != nil {
		return step("keep a read lease on", path, err)
	} else if !intact {
		return &MismatchError{path, "was opened for writing while it was being verified"}
	}
	return nil
}

// contents compares an open file with its record, its bytes too, and nothing moved while they were read: its ctime is afterwards what was
// noted just before, or when it was verified. What stat calls tell has precedence.
func (i inspection) contents(fd int, n *node, path string) error {
	if i.note {
		if _, err := i.judge(fd, n, path); err != nil {
			return err
		}
	}
	sum, err := digest(fd, n.size)
	if moved := i.unmoved(fd, n, path, n.ctimeNs); moved != nil {
		return moved
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &MismatchError{path, fmt.Sprintf("ended before its %d bytes were read", n.size)}
	case err != nil:
		return step("read", path, err)
	case sum != n.sum:
		return &MismatchError{path, fmt.Sprintf("has SHA-256 %x, expected %x", sum, n.sum)}
	}
	return nil
}

// judge compares what a descriptor is open on with the record and, when noting, notes its ctime.
func (i inspection) judge(fd int, n *node, path string) (facts, error) {
	f, err := statOf(fd)
	if err != nil {
		return f, step("examine", path, err)
	}
	if err := i.compare(n, f, path); err != nil {
		return f, err
	}
	if i.note {
		n.noted, n.ctimeNs = true, f.ctimeNs
	}
	return f, nil
}

// unmoved compares what a descriptor is open on with the record once more, and its ctime with what it was before.
func (i inspection) unmoved(fd int, n *node, path string, beforeNs int64) error {
	after, err := statOf(fd)
	if err != nil {
		return step("examine", path, err)
	}
	if err := i.compare(n, after, path); err != nil {
		return err
	}
	if after.ctimeNs != beforeNs {
		return &MismatchError{path, "changed while it was being checked: " + ctimes(after.ctimeNs, beforeNs)}
	}
	return nil
}

// whyNot prefers the difference that a look by name shows to the error that an act on the entry gave.
func (i inspection) whyNot(act string, parent int, n *node, path string, err error) error {
	if errors.Is(err, unix.ENOENT) {
		return &MismatchError{path, "is missing"}
	}
	if diff := i.glance(parent, n, path); isMismatch(diff) {
		return diff
	}
	if i.lease && errors.Is(err, unix.EWOULDBLOCK) {
		return &MismatchError{path, "is held by a write lease, expected no writer"}
	}
	return step(act, path, err)
}

func (i inspection) compare(n *node, f facts, path string) error {
	problem := n.difference(f)
	if problem == "" && n.noted && !i.note && f.ctimeNs != n.ctimeNs {
		problem = "was touched after it was verified: " + ctimes(f.ctimeNs, n.ctimeNs)
	}
	if problem == "" {
		return nil
	}
	return &MismatchError{path, problem}
}

// difference says in which respect an entry is not the recorded one, ctime aside; empty when in none.
func (n *node) difference(f facts) string {
	want := uint32(unix.S_IFREG)
	if n.dir {
		want = unix.S_IFDIR
	}
	switch {
	case f.kind != want:
		return fmt.Sprintf("is %s, expected %s", kindName(f.kind), kindName(want))
	case f.dev != n.dev || f.ino != n.ino:
		return fmt.Sprintf("is device %d inode %d, expected device %d inode %d: it was replaced", f.dev, f.ino, n.dev, n.ino)
	case f.uid != n.uid:
		return fmt.Sprintf("belongs to uid %d, expected %d", f.uid, n.uid)
	case n.dir && f.perm&0o077 != 0:
		return fmt.Sprintf("has mode %04o, expected one closed to others", f.perm)
	case !n.dir && f.links != 1:
		return fmt.Sprintf("has %d links, expected 1", f.links)
	case !n.dir && f.size != n.size:
		return fmt.Sprintf("has %d bytes, expected %d", f.size, n.size)
	}
	return ""
}

// digest reads size bytes from the start; that there are no more is for the size in stat to tell.
func digest(fd int, size int64) (sum [sha256.Size]byte, err error) {
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	h := sha256.New()
	for at := int64(0); at < size; {
		part := buf[:min(int64(len(buf)), size-at)]
		n := 0
		if err := again(func() (err error) { n, err = unix.Pread(fd, part, at); return err }); err != nil {
			return sum, err
		}
		if n == 0 {
			return sum, io.ErrUnexpectedEOF
		}
		h.Write(part[:n])
		at += int64(n)
	}
	h.Sum(sum[:0])
	return sum, nil
}

func ctimes(found, expected int64) string {
	return fmt.Sprintf("ctime %s, expected %s", clock(found), clock(expected))
}

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// printable keeps a stranger's file name from breaking out of a line of text.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
