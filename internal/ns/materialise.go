package ns

import (
	"fmt"
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// Materialise writes program/, input/, home/ and canary into the slot: directories 0700, files 0400, all belonging to o, whatever the umask.
// Every file is made by an exclusive open below a directory handle. It is called once, on a fresh claim.
//
// After an error the slot holds a part, recorded entry by entry as it was made, so that Remove takes away exactly that part. Nothing is
// fsynced: what a crash leaves behind is a leftover, and is never read again.
func (s *Slot) Materialise(runID string, program, input pins.Snapshot, o Owner) error {
	s.must(s.stage == claimed, "Materialise")
	if program.Digest() == "" || input.Digest() == "" {
		bug("Materialise of a snapshot that no builder made")
	}
	s.stage, s.runID = partial, runID
	s.pool.setRunID(s.number, runID)
	s.tree.children = planSlot(program, input, newCanary())
	s.workers = workersFor(s.tree)
	if err := (writer{workers: s.workers, owner: o}).fill(s.dir, s.tree, s.path); err != nil {
		return err
	}
	s.stage = materialised
	return nil
}

// writer applies a plan. Each of its workers keeps one descriptor open a level, and one for the file in hand.
type writer struct {
	*workers
	owner Owner
}

// fill makes the children of an open directory, then gives the directory itself away: the slot's own last of all.
func (w writer) fill(dir int, n *node, path string) error {
	err := w.each(len(n.children), func(k int) error {
		c, build := n.children[k], w.file
		if c.dir {
			build = w.directory
		}
		return build(dir, c, path+"/"+c.name)
	})
	if err != nil {
		return err
	}
	if err := w.settleModes(dir, n, 0o700); err != nil {
		return step("own", path, err)
	}
	return nil
}

func (w writer) directory(parent int, n *node, path string) error {
	if err := again(func() error { return unix.Mkdirat(parent, n.name, 0o700) }); err != nil {
		return step("make", path, err)
	}
	// By name, since the record must hold even if there is no descriptor left to open it with.
	seen, err := statAt(parent, n.name)
	if err != nil {
		return step("examine", path, err)
	}
	n.record(seen)
	fd, err := openDirAt(parent, n.name)
	if err != nil {
		return step("open", path, err)
	}
	defer unix.Close(fd)
	opened, err := statOf(fd)
	if err != nil {
		return step("examine", path, err)
	}
	if opened.dev != n.dev || opened.ino != n.ino {
		return &MismatchError{path, "was replaced while it was being filled"}
	}
	// At once: a umask may have left a directory that its owner cannot work in.
	if opened.perm != 0o700 {
		if err := unix.Fchmod(fd, 0o700); err != nil {
			return step("set the mode of", path, err)
		}
	}
	return w.fill(fd, n, path)
}

// file makes one file. No process may be forked while it is open for writing: until its exec the child would hold a writing descriptor too,
// and Verify's lease would be refused because of ourselves.
func (w writer) file(parent int, n *node, path string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := openAt(parent, n.name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o400)
	if err != nil {
		return step("make", path, err)
	}
	defer unix.Close(fd)
	_, wrote := n.content.WriteTo(descriptor(fd))
	if err := w.settleModes(fd, n, 0o400); err != nil {
		return step("own", path, err)
	}
	if wrote != nil {
		return step("write", path, wrote)
	}
	if n.size != n.content.Size() {
		return &MismatchError{path, fmt.Sprintf("has %d bytes after %d were written", n.size, n.content.Size())}
	}
	n.content = nil
	return nil
}

// settleModes records an open entry of ours, and gives it the mode and the owner it is to have; the record follows each step.
func (w writer) settleModes(fd int, n *node, perm uint32) error {
	f, err := statOf(fd)
	if err != nil {
		return err
	}
	n.record(f)
	if f.perm != perm {
		if err := unix.Fchmod(fd, perm); err != nil {
			return err
		}
	}
	if int(f.uid) == w.owner.UID && int(f.gid) == w.owner.GID {
		return nil
	}
	if err := unix.Fchown(fd, w.owner.UID, w.owner.GID); err != nil {
		return err
	}
	n.uid = uint32(w.owner.UID)
	return nil
}

// descriptor is an open file as an io.Writer.
type descriptor int

func (fd descriptor) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n := 0
		if err := again(func() (err error) { n, err = unix.Write(int(fd), p[written:]); return err }); err != nil {
			return written, err
		}
		if n == 0 {
			return written, io.ErrShortWrite
		}
		written += n
	}
	return written, nil
}
