package ns

import "golang.org/x/sys/unix"

// removal deletes what a survey found, entry by entry, each compared with what was found first.
type removal struct {
	path    string           // of the slot, for messages
	removed int              // entries deleted so far
	gone    map[inode]uint64 // how many names of a file with several were deleted
}

// directory deletes one directory, children first.
func (r *removal) directory(parent int, e *entry) error {
	fd, err := openDirAt(parent, e.name)
	if err != nil {
		return step("open", r.where(e), err)
	}
	defer unix.Close(fd)
	now, err := statOf(fd)
	if err != nil {
		return step("examine", r.where(e), err)
	}
	if now != e.facts {
		return r.differs(e)
	}
	for _, c := range e.entries {
		remove := r.unlink
		if c.facts.isDir() {
			remove = r.directory
		}
		if err := remove(fd, c); err != nil {
			return err
		}
	}
	return r.rmdir(parent, e)
}

// rmdir deletes a directory that was emptied. That moved its times, size and links, so they are no longer compared; that it is empty the
// kernel sees to.
func (r *removal) rmdir(parent int, e *entry) error {
	now, err := statAt(parent, e.name)
	if err != nil {
		return step("examine", r.where(e), err)
	}
	was := e.facts
	if now.dev != was.dev || now.ino != was.ino || now.kind != was.kind || now.perm != was.perm || now.uid != was.uid || now.gid != was.gid {
		return r.differs(e)
	}
	return r.counted(deletion(r.where(e), again(func() error { return unix.Unlinkat(parent, e.name, unix.AT_REMOVEDIR) })))
}

// unlink deletes anything but a directory. Of a file with several names in the slot, deleting one moves the ctime and the link count that the
// next one is compared by.
func (r *removal) unlink(parent int, e *entry) error {
	now, err := statAt(parent, e.name)
	if err != nil {
		return step("examine", r.where(e), err)
	}
	want, id := e.facts, e.facts.inode()
	if gone := r.gone[id]; gone > 0 {
		want.links -= gone
		want.ctimeNs = now.ctimeNs
	}
	if now != want {
		return r.differs(e)
	}
	if err := deletion(r.where(e), again(func() error { return unix.Unlinkat(parent, e.name, 0) })); err != nil {
		return err
	}
	r.gone[id]++
	return r.counted(nil)
}

func (r *removal) counted(err error) error {
	if err == nil {
		r.removed++
	}
	return err
}

func (r *removal) where(e *entry) string {
	if e.path == "" {
		return r.path
	}
	return r.path + "/" + printable(e.path)
}

func (r *removal) differs(e *entry) error {
	return &MismatchError{r.where(e), "is not, or no longer, what was shown"}
}
