package ns

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const slotPrefix = "slot-"

// lockPatience bounds the wait for listers, which hold a shared lock on a slot for the length of one system call.
const lockPatience = 2 * time.Second

func slotName(n int) string { return slotPrefix + strconv.Itoa(n) }

// slotNumber reads a name that a claim could have made, whatever this pool's own bound is.
func slotNumber(name string) (n int, ok bool) {
	digits, found := strings.CutPrefix(name, slotPrefix)
	n, err := strconv.Atoi(digits)
	return n, found && err == nil && n >= 0 && n < MaxSlots && slotName(n) == name
}

// tenancy is what a listing may say about a slot lent by this pool; Pool.mu guards it.
type tenancy struct {
	runID string
	since time.Time
}

// stage is how far a slot has come.
type stage int

const (
	claimed stage = iota
	partial       // Materialise began and has not succeeded
	materialised
	verified
	settled
)

// Slot is a claimed slot: a directory that this process made, holds open and holds locked until it is settled by Remove or Quarantine,
// exactly once. It is for one goroutine at a time.
type Slot struct {
	pool    *Pool
	number  int
	path    string
	root    int // a descriptor of its own on the root
	dir     int // the slot's directory; holds LOCK_EX, which tells every other daemon that a live one has it
	tree    *node
	workers *workers // for all of its walks
	stage   stage
	runID   string
	proof   *Verified // of the last successful Verify
	seen    error     // the first mismatch that Verify or Recheck told: such a slot is never removed
}

// Name is slot-<n>.
func (s *Slot) Name() string { return slotName(s.number) }

// Number is n, from 0 to MaxRetained-1.
func (s *Slot) Number() int { return s.number }

// Path is the slot's absolute path, for messages and for the boundary's own look-up; this package opens nothing by it.
func (s *Slot) Path() string { return s.path }

// Claim makes and locks the lowest slot-<n> whose name no entry has. ErrNoSlot: all MaxRetained names are taken. After any error nothing that
// it made is left, unless an error says so.
func (r *Root) Claim() (*Slot, error) {
	for n := range r.pool.max {
		s := &Slot{pool: r.pool, number: n, path: r.pool.root + "/" + slotName(n), root: -1, dir: -1}
		err := r.make(s)
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		if err != nil {
			return nil, step("make", s.path, err)
		}
		if err := s.hold(r.fd); err != nil {
			undo := s.abandon(r.fd)
			r.pool.forget(n)
			if undo != nil {
				err = fmt.Errorf("%w; the directory stays: %w", err, undo)
			}
			return nil, err
		}
		return s, nil
	}
	return nil, ErrNoSlot
}

// make owns the name from the moment mkdirat succeeds: EEXIST is the one way to lose it. No look at the root comes between that and the entry
// in live, so that none takes a slot that is being claimed for a leftover, nor a leftover for a slot that is being claimed.
func (r *Root) make(s *Slot) error {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if r.pool.live[s.number] != nil {
		return unix.EEXIST
	}
	if err := again(func() error { return unix.Mkdirat(r.fd, s.Name(), 0o700) }); err != nil {
		return err
	}
	r.pool.live[s.number] = &tenancy{since: time.Now()}
	return nil
}

// abandon takes away the empty directory that claim just made; rmdir takes away nothing that holds anything.
func (s *Slot) abandon(root int) error {
	defer closeAll(s.dir, s.root)
	defer unlock(s.dir)
	if s.tree != nil {
		if err := (inspection{}).glance(root, s.tree, s.path); err != nil {
			return err
		}
	}
	return deletion(s.path, again(func() error { return unix.Unlinkat(root, s.Name(), unix.AT_REMOVEDIR) }))
}

// hold opens, closes to others, records and locks the directory that claim made.
func (s *Slot) hold(root int) (err error) {
	if s.dir, err = openDirAt(root, s.Name()); err != nil {
		return step("open", s.path, err)
	}
	// Whatever the process's umask is, the mode is this.
	if err := unix.Fchmod(s.dir, 0o700); err != nil {
		return step("set the mode of", s.path, err)
	}
	made, err := statOf(s.dir)
	if err != nil {
		return step("examine", s.path, err)
	}
	s.tree = &node{name: s.Name(), dir: true}
	s.tree.record(made)
	if err := lockExclusive(s.dir); err != nil {
		return step("lock", s.path, err)
	}
	if s.root, err = unix.FcntlInt(uintptr(root), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return step("hold the root of", s.path, err)
	}
	return nil
}

// lockExclusive takes the lock that only listers, and those only for an instant, can be in the way of.
func lockExclusive(fd int) error {
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(time.Millisecond) {
		err := again(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) {
			return err
		}
	}
}

// unlock must be explicit: a child between fork and exec holds a copy of the descriptor, and closing ours alone would leave the lock.
func unlock(fd int) {
	if fd >= 0 {
		unix.Flock(fd, unix.LOCK_UN)
	}
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (p *Pool) forget(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, n)
}

func (p *Pool) setRunID(n int, runID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live[n].runID = runID
}

// settle ends the claim: from here on the slot's entry, if it still is there, is explained by the ledger alone.
func (s *Slot) settle() {
	s.stage = settled
	unlock(s.dir)
	closeAll(s.dir, s.root)
	s.dir, s.root = -1, -1
	s.pool.forget(s.number)
}

// must guards the order of the line.
func (s *Slot) must(ok bool, act string) {
	if s == nil || s.pool == nil {
		bug("%s of a slot that was never claimed", act)
	}
	if s.stage == settled {
		bug("%s of %s, which is settled", act, s.Name())
	}
	if !ok {
		bug("%s of %s out of order", act, s.Name())
	}
}
