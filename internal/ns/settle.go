package ns

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Remove deletes what this package put into the slot, and the slot, and settles the claim. Before the first deletion everything is compared
// with the record (identity, owner, kind, links, size, exact listings, and ctimes once Verify noted them; contents are not read again), and
// before each deletion that entry once more. A slot of which Verify or Recheck told a mismatch is quarantined at once. It never deletes an
// entry that it did not make, and stops at the first surprise: of a large slot, when each of its workers has done the entry in hand. The slot is
// then quarantined, with the reason surprise for a difference and RemovalFailed when the system refused to look or to delete.
//
// A rival of the same user who swaps an entry between the last look and the unlink loses that entry: no system call closes that gap.
func (s *Slot) Remove(surprise QuarantineReason) Disposition {
	s.must(surprise.known(), "Remove")
	err := s.seen
	if err == nil {
		err = s.inspect(inspection{})
	}
	if err == nil {
		err = s.clear()
	}
	switch {
	case err == nil:
		return s.removed()
	case isMismatch(err):
		return s.Quarantine(surprise, "not removed: "+err.Error())
	default:
		return s.Quarantine(RemovalFailed, err.Error())
	}
}

// clear deletes the recorded entries, the slot's own last of all.
func (s *Slot) clear() error {
	return (&clearing{workers: s.workers}).directory(s.root, s.tree, s.path)
}

// removed settles a slot whose entry is gone.
func (s *Slot) removed() Disposition {
	d := durably(s.root, s.pool.root)
	s.settle()
	return d
}

// durably is the disposition of a slot whose entry is gone: the removal is durable when the root's names were flushed since.
func durably(root int, path string) Disposition {
	d := Disposition{State: StateRemoved, Durable: true}
	if err := syncToDisk(root); err != nil {
		d.Durable = false
		d.Message = step("fsync", path, err).Error()
	}
	return d
}

// clearing deletes what was recorded, entry by entry, each compared with the record first. Each of its workers keeps one descriptor open a
// level.
type clearing struct {
	*workers
	halted atomic.Bool // by the first surprise: nobody begins another entry, and only who met it tells
}

// directory deletes one recorded directory, children first.
func (c *clearing) directory(parent int, n *node, path string) error {
	fd, err := openDirAt(parent, n.name)
	if err != nil {
		return inspection{note: true}.whyNot("open", parent, n, path, err)
	}
	err = c.empty(fd, n, path)
	unix.Close(fd)
	if err != nil || c.halted.Load() {
		return err
	}
	// Our own unlinks moved this directory's ctime, so it is no longer compared.
	if err := (inspection{note: true}).glance(parent, n, path); err != nil {
		return err
	}
	return deletion(path, again(func() error { return unix.Unlinkat(parent, n.name, unix.AT_REMOVEDIR) }))
}

// empty deletes the recorded entries of an open directory that is still the recorded one.
func (c *clearing) empty(fd int, n *node, path string) error {
	f, err := statOf(fd)
	if err != nil {
		return step("examine", path, err)
	}
	if problem := n.difference(f); problem != "" {
		return &MismatchError{path, problem}
	}
	return c.each(len(n.children), func(k int) error {
		return c.entry(fd, n.children[k], path+"/"+n.children[k].name)
	})
}

func (c *clearing) entry(parent int, n *node, path string) error {
	if !n.made || c.halted.Load() {
		return nil
	}
	remove := c.unlink
	if n.dir {
		remove = c.directory
	}
	err := remove(parent, n, path)
	if err != nil {
		c.halted.Store(true)
	}
	return err
}

func (c *clearing) unlink(parent int, n *node, path string) error {
	if err := (inspection{}).glance(parent, n, path); err != nil {
		return err
	}
	return deletion(path, again(func() error { return unix.Unlinkat(parent, n.name, 0) }))
}

// deletion tells a refusal from a surprise: an entry that is gone, is not what it was a moment ago, or holds something.
func deletion(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		return &MismatchError{path, "holds an entry that was not put there"}
	case errors.Is(err, unix.ENOENT):
		return &MismatchError{path, "is missing"}
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EISDIR):
		return &MismatchError{path, "was replaced while it was being removed"}
	}
	return step("remove", path, err)
}

// Quarantine leaves the slot as it is, records why in the ledger, and settles the claim. It touches nothing in the slot. That the ledger could
// not be written changes the message and nothing else.
func (s *Slot) Quarantine(reason QuarantineReason, message string) Disposition {
	s.must(reason.known(), "Quarantine")
	d := Disposition{State: StateQuarantined, Path: s.path, Reason: reason, Message: message}
	if err := s.pool.ledger.add(s.ledgerLine(reason, message)); err != nil {
		d.Message += fmt.Sprintf("; this could not be recorded in %s: %v", s.pool.ledger.path(), err)
	}
	// Only now: a lister that finds the lock gone finds the line.
	s.settle()
	return d
}

// ledgerLine describes the entry that has the slot's name now, which is what a listing will find, or else the directory that we made.
func (s *Slot) ledgerLine(reason QuarantineReason, message string) ledgerLine {
	l := ledgerLine{At: time.Now().UTC(), Slot: s.Name(), Path: s.path, Reason: reason, Message: bounded(message), RunID: s.runID}
	id, err := identify(s.root, s.Name())
	if errors.Is(err, os.ErrNotExist) {
		id, _ = identify(s.dir, ".")
	}
	l.Dev, l.Ino, l.BornNs = id.dev, id.ino, id.bornNs
	return l
}
