package ns

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Others is the number of entries of the root that are not live slots of this pool: what our own runs must leave room for. An error is a
// *RootError, or says that the root could not be listed.
func (p *Pool) Others() (int, error) {
	names, live, err := p.look()
	if err != nil {
		return 0, err
	}
	others := 0
	for _, name := range names {
		n, isSlot := slotNumber(name)
		if _, held := live[n]; !isSlot || !held {
			others++
		}
	}
	return others, nil
}

// look is one consistent look at the root: an entry of a live slot is in live, an entry of a settled one is not.
func (p *Pool) look() ([]string, map[int]*tenancy, error) {
	root, err := p.Open()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	return root.look()
}

func (r *Root) look() (names []string, live map[int]*tenancy, err error) {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if names, err = namesIn(r.fd); err != nil {
		return nil, nil, step("list", r.pool.root, err)
	}
	live = make(map[int]*tenancy, len(r.pool.live))
	for n, t := range r.pool.live {
		copied := *t
		live[n] = &copied
	}
	return names, live, nil
}

// List describes every slot name of this pool and every other entry of the root. It waits for no lock, follows no link, and opens nothing but
// directories with a slot's name, to probe theirs. Between another daemon's mkdir and its lock, that slot is told as a leftover. An error is
// a *RootError, or says that the root could not be listed.
func (p *Pool) List() (Listing, error) {
	root, err := p.Open()
	if err != nil {
		return Listing{}, err
	}
	defer root.Close()
	names, live, err := root.look()
	if err != nil {
		return Listing{}, err
	}
	// The ledger is read after the look: a slot that was settled before it has its line by now.
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.ledger.refresh()
	return root.describe(names, live), nil
}

func (r *Root) describe(names []string, live map[int]*tenancy) Listing {
	l := Listing{Root: r.pool.root, MaxRetained: r.pool.max}
	slots, foreign := map[int]SlotInfo{}, []SlotInfo(nil)
	for _, name := range names {
		n, isSlot := slotNumber(name)
		info, there := r.row(name, isSlot, live[n])
		if !there {
			continue
		}
		l.Counted++
		if isSlot {
			slots[n] = info
		} else {
			foreign = append(foreign, info)
		}
	}
	for n := range l.MaxRetained {
		if _, taken := slots[n]; !taken {
			slots[n] = SlotInfo{Name: slotName(n), State: Free}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(slots)) {
		l.Slots = append(l.Slots, slots[n])
	}
	l.Slots = append(l.Slots, foreign...)
	l.Free = max(0, l.MaxRetained-l.Counted)
	return l
}

// row describes one entry; false when it went away since the look.
func (r *Root) row(name string, isSlot bool, t *tenancy) (SlotInfo, bool) {
	if isSlot && t != nil {
		return SlotInfo{Name: name, State: Running, RunID: t.runID, SinceAt: t.since}, true
	}
	f, err := statAt(r.fd, name)
	if errors.Is(err, unix.ENOENT) {
		return SlotInfo{}, false
	}
	info := SlotInfo{Name: name, State: Foreign}
	if err != nil {
		info.Message = fmt.Sprintf("it cannot be examined: %v", err)
		return info, true
	}
	id, _ := identify(r.fd, name)
	info.SinceAt = time.Unix(0, f.mtimeNs)
	if id.bornNs != 0 {
		info.SinceAt = time.Unix(0, id.bornNs)
	}
	line, explained := r.pool.ledger.find(id)
	switch {
	case explained:
		info.State, info.RunID, info.Reason, info.Message, info.SinceAt = Quarantined, line.RunID, line.Reason, line.Message, line.At
	case !isSlot || !f.isDir():
		info.Message = "it is " + kindName(f.kind) + " that no run made"
	default:
		info.State, info.Message = probe(r.fd, name)
	}
	return info, true
}

// probe tells a slot that a live daemon holds from one that nobody does: it asks for a shared lock and lets go of it at once.
func probe(root int, name string) (SlotState, string) {
	fd, err := openDirAt(root, name)
	if err != nil {
		return Leftover, fmt.Sprintf("it cannot be opened to see whether somebody holds it: %v", err)
	}
	defer unix.Close(fd)
	err = again(func() error { return unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) })
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return Elsewhere, "another live daemon holds it"
	case err != nil:
		return Leftover, fmt.Sprintf("its lock cannot be probed: %v", err)
	}
	unlock(fd)
	return Leftover, "no daemon that is alive holds it, as after a crash; look at it and release it"
}
