package ns

import (
	"context"
	"errors"
	"regexp"

	"golang.org/x/sys/unix"
)

// EntryKind says what an entry of a slot is; the values are those of the HTTP contract.
type EntryKind string

// The kinds of entries. A run makes files and directories only.
const (
	KindFile      EntryKind = "file"
	KindDirectory EntryKind = "directory"
	KindSymlink   EntryKind = "symlink"
	KindOther     EntryKind = "other"
)

// EntryKinds are all of them.
func EntryKinds() []EntryKind {
	return []EntryKind{KindFile, KindDirectory, KindSymlink, KindOther}
}

// Entry is one entry below a slot. Path is relative to the slot and fit for a line of text: strange names are quoted.
type Entry struct {
	Path   string
	Kind   EntryKind
	Size   int64  // bytes; 0 for a directory
	SHA256 string // hexadecimal; empty unless it is a file of at most 64 MiB that could be read
}

// SlotContents is what is in one slot.
type SlotContents struct {
	Slot    SlotInfo
	Entries []Entry // parents before children
	Users   []int   // pids of processes that have something of it as root, working directory, open file, mapping or mount
	Hidden  string  // why this may not be all, so that no release is possible; empty when it is
	Tag     string  // a strong entity tag, with its quotes: what Release wants to be told
}

// ErrSlotUnknown is the answer to a name that no entry of the root has, or that no slot could have.
var ErrSlotUnknown = errors.New("there is no such entry in the root")

// slotLike is what a caller may name: every slot name, and those that resemble one. Nothing else is ever looked up.
var slotLike = regexp.MustCompile(`^slot-[0-9]{1,2}$`)

// Show looks at everything in one slot, whatever state it is in, and changes nothing. Errors are ErrSlotUnknown, a *RootError, that the root
// could not be listed, or that ctx ended.
func (p *Pool) Show(ctx context.Context, name string) (SlotContents, error) {
	if !slotLike.MatchString(name) {
		return SlotContents{}, ErrSlotUnknown
	}
	root, err := p.Open()
	if err != nil {
		return SlotContents{}, err
	}
	defer root.Close()
	info, err := root.info(name)
	if err != nil {
		return SlotContents{}, err
	}
	s := &survey{ctx: ctx, slot: p.root + "/" + name}
	dir, top, err := root.enter(s, name)
	if err != nil {
		return SlotContents{}, err
	}
	defer closeAll(dir)
	out := SlotContents{Slot: info, Hidden: s.hidden, Tag: top.tag()}
	top.each(func(e *entry) {
		if e != top {
			out.Entries = append(out.Entries, e.shown())
		}
	})
	if dir < 0 {
		return out, nil
	}
	if out.Users, err = usersOf(dir, s.slot, top); err != nil && out.Hidden == "" {
		out.Hidden = unknownUsers(err)
	}
	return out, nil
}

func unknownUsers(err error) string {
	return "which processes use it cannot be found out: " + err.Error()
}

// info is the row of one entry, as a listing made now would have it.
func (r *Root) info(name string) (SlotInfo, error) {
	_, live, err := r.look()
	if err != nil {
		return SlotInfo{}, err
	}
	r.pool.ledger.mu.Lock()
	defer r.pool.ledger.mu.Unlock()
	r.pool.ledger.refresh()
	n, isSlot := slotNumber(name)
	info, there := r.row(name, isSlot, live[n])
	if !there {
		return info, ErrSlotUnknown
	}
	return info, nil
}

// enter opens and surveys one entry of the root; dir is -1 when it cannot be opened as a directory, and s.hidden then says why.
func (r *Root) enter(s *survey, name string) (dir int, top *entry, err error) {
	dir, err = openDirAt(r.fd, name)
	if errors.Is(err, unix.ENOENT) {
		return -1, nil, ErrSlotUnknown
	}
	if err == nil {
		top, err = s.conduct(r.fd, dir, name)
		if err != nil {
			closeAll(dir)
		}
		return dir, top, err
	}
	s.hide("", "cannot be opened: "+err.Error())
	top = &entry{name: name}
	if top.facts, err = statAt(r.fd, name); err == nil && !top.facts.isDir() {
		s.hidden = s.slot + " is " + kindName(top.facts.kind)
	}
	return -1, top, nil
}

func (e *entry) shown() Entry {
	out := Entry{Path: printable(e.path), Kind: KindOther, Size: e.facts.size, SHA256: e.sum}
	switch e.facts.kind {
	case unix.S_IFREG:
		out.Kind = KindFile
	case unix.S_IFDIR:
		out.Kind, out.Size = KindDirectory, 0
	case unix.S_IFLNK:
		out.Kind = KindSymlink
	}
	return out
}
