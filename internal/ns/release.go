package ns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// BusyError says why an entry of the root is not released now, or never, and what would cure it. Nothing was touched.
type BusyError struct{ Problem, Cure string }

func (e *BusyError) Error() string { return e.Problem + "; cure: " + e.Cure }

// ErrSlotChanged is the answer to a tag that is not, or no longer, that of the slot. Nothing was touched.
var ErrSlotChanged = errors.New("the slot is not what was shown")

// Release removes exactly the entries that tag covers, and the slot: a person's act, never ours. Before the first deletion the slot is locked
// against other daemons, surveyed again and compared with tag, and processes that use it are looked for (on Linux; elsewhere none can be seen).
// Then each entry is compared once more before it is deleted, children first. The first difference, or the first refusal of the system, stops
// it: what is left is quarantined with RemovalFailed. Whoever kills this process on the way leaves less in the slot, and nothing else changed.
// A slot that is gone needs no line in the ledger: the ones it has name a birth time, so they explain no later slot.
//
// Errors are ErrSlotUnknown, ErrSlotChanged, a *BusyError, a *RootError, that the root could not be listed, or that ctx ended before the first
// deletion: after any of them the slot is as it was.
func (p *Pool) Release(ctx context.Context, name, tag string) (Disposition, error) {
	if !slotLike.MatchString(name) {
		return Disposition{}, ErrSlotUnknown
	}
	root, err := p.Open()
	if err != nil {
		return Disposition{}, err
	}
	defer root.Close()
	info, err := root.info(name)
	if err != nil {
		return Disposition{}, err
	}
	if err := releasable(info); err != nil {
		return Disposition{}, err
	}
	h := &held{root: root, info: info, path: p.root + "/" + name, dir: -1}
	defer h.letGo()
	if err := h.seize(); err != nil {
		return Disposition{}, err
	}
	top, err := h.match(ctx, tag)
	if err != nil {
		return Disposition{}, err
	}
	return h.remove(top), nil
}

// releasable refuses what the state of an entry decides.
func releasable(info SlotInfo) error {
	switch info.State {
	case Running:
		return &BusyError{fmt.Sprintf("%s is lent to the run %s, which is alive", info.Name, info.RunID), "wait for its end, or cancel it"}
	case Elsewhere:
		return &BusyError{info.Name + " is held by another live daemon", "wait until its run is over"}
	case Foreign:
		return &BusyError{info.Name + " is no slot of ours: " + cmp.Or(info.Message, "its name is not one that a run takes"), "see whose it is, and remove it by hand"}
	}
	return nil
}

// held is a slot that nobody lives in, open and locked for its release.
type held struct {
	root *Root
	info SlotInfo
	path string
	dir  int
}

// seize opens and locks the slot. No claim of this pool comes between the look at live and the handle, so that the handle is never on a slot of
// ours; a lock that is held says that it is another daemon's, or is being released already.
func (h *held) seize() (err error) {
	if err := h.open(); err != nil {
		return err
	}
	// Listers share the lock for an instant. Whoever has it for himself keeps it.
	err = again(func() error { return unix.Flock(h.dir, unix.LOCK_SH|unix.LOCK_NB) })
	if err == nil {
		unlock(h.dir)
		err = lockExclusive(h.dir)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return &BusyError{h.info.Name + " is locked by another process, as a daemon does for a run or for a release", "wait until that is over"}
	}
	if err != nil {
		return h.untouchable("lock", err)
	}
	// Another release may have ended while we waited for the lock.
	mine, err := statOf(h.dir)
	if err != nil {
		return h.untouchable("examine", err)
	}
	named, err := statAt(h.root.fd, h.info.Name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return ErrSlotUnknown
	case err != nil:
		return h.untouchable("examine", err)
	case named.inode() != mine.inode():
		return ErrSlotChanged
	}
	return nil
}

func (h *held) open() (err error) {
	p := h.root.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, isSlot := slotNumber(h.info.Name); isSlot && p.live[n] != nil {
		return &BusyError{h.info.Name + " is lent to a run, which is alive", "wait for its end, or cancel it"}
	}
	h.dir, err = openDirAt(h.root.fd, h.info.Name)
	if errors.Is(err, unix.ENOENT) {
		return ErrSlotUnknown
	}
	if err != nil {
		return h.untouchable("open", err)
	}
	return nil
}

func (h *held) letGo() {
	unlock(h.dir)
	closeAll(h.dir)
}

func (h *held) untouchable(act string, err error) error {
	return h.byHand(step(act, h.path, err).Error())
}

// byHand is the refusal of what only a person can judge.
func (h *held) byHand(problem string) error {
	return &BusyError{problem, "look at " + h.path + " and, when no process uses it, remove it by hand"}
}

// match establishes that the slot is what tag covers, and that no process that we can see uses it.
func (h *held) match(ctx context.Context, tag string) (*entry, error) {
	s := &survey{ctx: ctx, slot: h.path}
	top, err := s.conduct(h.root.fd, h.dir, h.info.Name)
	if err != nil {
		return nil, err
	}
	if s.hidden != "" {
		return nil, h.byHand(s.hidden)
	}
	if top.tag() != tag {
		return nil, ErrSlotChanged
	}
	users, err := usersOf(h.dir, h.path, top)
	if err != nil {
		return nil, h.byHand(unknownUsers(err))
	}
	if len(users) > 0 {
		return nil, &BusyError{h.info.Name + " is in use by " + pidList(users), "end what uses it"}
	}
	return top, ctx.Err()
}

// pidList names the first of them.
func pidList(pids []int) string {
	const shown = 16
	words := strings.Trim(fmt.Sprint(pids[:min(len(pids), shown)]), "[]")
	switch {
	case len(pids) == 1:
		return "process " + words
	case len(pids) > shown:
		return fmt.Sprintf("processes %s and %d more", words, len(pids)-shown)
	}
	return "processes " + words
}

// remove deletes what was found. What it could not delete is quarantined, before the lock goes: a lister that finds that gone finds the line.
func (h *held) remove(top *entry) Disposition {
	r := removal{path: h.path, gone: map[inode]uint64{}}
	err := r.directory(h.root.fd, top)
	if err == nil {
		return durably(h.root.fd, h.root.pool.root)
	}
	p := h.root.pool
	d := Disposition{State: StateQuarantined, Path: h.path, Reason: RemovalFailed}
	d.Message = fmt.Sprintf("the release stopped after %d entries: %v", r.removed, err)
	line := ledgerLine{At: time.Now().UTC(), Slot: h.info.Name, Path: h.path, Reason: d.Reason, Message: bounded(d.Message), RunID: h.info.RunID}
	id, err := identify(h.dir, ".")
	if err == nil {
		line.Dev, line.Ino, line.BornNs = id.dev, id.ino, id.bornNs
		err = p.ledger.add(line)
	}
	if err != nil {
		d.Message += fmt.Sprintf("; this could not be recorded in %s: %v", p.ledger.path(), err)
	}
	return d
}
