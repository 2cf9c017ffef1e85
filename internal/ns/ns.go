// Package ns is where a run lives: it judges the root, lends numbered slots in it, writes one run's files into a slot, proves that they
// are what was asked for before and after the run, and takes the slot back empty or not at all.
//
// # What it promises
//
// A slot is lent to one run at a time, also among several daemons that share a root: the exclusive mkdir of slot-<n> decides. Nothing in
// the root is ever reclaimed, renamed or deleted because of its name or age; the only entries ever deleted are those that this package
// made, and those that a person was shown and then released, one by one, each compared with its record first. Whatever cannot be proven
// to be exactly that is quarantined: left as it is, with a line in an append-only ledger that says why.
//
// # How
//
// Below the root every call goes through a directory handle and never follows a symbolic link (openat, fstatat, unlinkat), so that a
// rival who renames directories cannot redirect it. What a rival of the same uid may do to the files is not prevented but seen: by
// device, inode, owner, link count, size, digest and ctime, and on Linux by a read lease, which the kernel grants only while nobody has
// the file open or mapped for writing.
package ns

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// QuarantineReason says why a slot was left in place; the values are those of the HTTP contract.
type QuarantineReason string

// The reasons for which a slot is left in place.
const (
	SnapshotMismatch QuarantineReason = "snapshot-mismatch" // before the launch its files were not those of the snapshots
	NamespaceChanged QuarantineReason = "namespace-changed" // after the launch they were not those that were verified
	Unresolved       QuarantineReason = "unresolved"        // a process may still use it
	SetupIncomplete  QuarantineReason = "setup-incomplete"  // it was written in part, and the part is not what we wrote
	RemovalFailed    QuarantineReason = "removal-failed"    // the system refused to look or to delete
)

// QuarantineReasons are all of them.
func QuarantineReasons() []QuarantineReason {
	return []QuarantineReason{SnapshotMismatch, NamespaceChanged, Unresolved, SetupIncomplete, RemovalFailed}
}

func (r QuarantineReason) known() bool { return slices.Contains(QuarantineReasons(), r) }

// SlotState says what an entry of the root is to this daemon; the values are those of the HTTP contract.
type SlotState string

// The states of an entry of the root.
const (
	Free        SlotState = "free"        // a slot name that no entry has
	Running     SlotState = "running"     // lent to a live run of this pool
	Elsewhere   SlotState = "elsewhere"   // another live daemon (or pool) holds its lock
	Quarantined SlotState = "quarantined" // the ledger explains it
	Leftover    SlotState = "leftover"    // named like a slot, but nobody holds or explains it
	Foreign     SlotState = "foreign"     // not a slot at all
)

// SlotStates are all of them.
func SlotStates() []SlotState {
	return []SlotState{Free, Running, Elsewhere, Quarantined, Leftover, Foreign}
}

// The two states of a Disposition.
const (
	StateRemoved     = "removed"
	StateQuarantined = "quarantined"
)

// Disposition is what became of a slot: it is gone, or it stays for a reason.
type Disposition struct {
	State   string           // StateRemoved or StateQuarantined
	Durable bool             // removed, and the root was fsynced afterwards; false when that fsync failed
	Path    string           // where the quarantined slot is; empty when removed
	Reason  QuarantineReason // empty when removed
	Message string           // for people: the entry, what was found and what was expected; empty when all went well
}

// Owner is whom a slot's entries belong to: the daemon itself, or a uid and gid dedicated to the slot when the daemon is root.
type Owner struct{ UID, GID int }

// ErrNoSlot is Claim's answer when every slot name below MaxRetained exists.
var ErrNoSlot = errors.New("every slot is taken; leftovers are never reclaimed automatically")

// RootError says why a root is refused and what exactly would cure it.
type RootError struct{ Problem, Cure string }

func (e *RootError) Error() string { return e.Problem + "; cure: " + e.Cure }

// MisplacedError is a RootError that nothing cures but another place: the root's path or its file system is not fit.
type MisplacedError struct{ *RootError }

func (e *MisplacedError) Unwrap() error { return e.RootError }

// MismatchError says that an entry is not what was recorded: something changed it. Path is absolute, for people; it is never opened.
type MismatchError struct{ Path, Problem string }

func (e *MismatchError) Error() string { return e.Path + " " + e.Problem }

// SlotInfo is one row of a Listing. RunID, Reason and Message are empty and SinceAt is zero where they are not known. The name of a
// foreign entry is whatever bytes the file system holds.
type SlotInfo struct {
	Name    string
	State   SlotState
	RunID   string
	Reason  QuarantineReason
	Message string
	SinceAt time.Time
}

// Listing is the root at one moment. Counted is the number of its entries, foreign ones included; Free is how many more runs it has
// room for: MaxRetained less Counted, never negative.
type Listing struct {
	Root        string
	MaxRetained int
	Counted     int
	Free        int
	Slots       []SlotInfo // slot-0 to slot-(MaxRetained-1), then every other entry
}

// bug stops the program: a caller broke the order of the line, which no input can cause.
func bug(format string, args ...any) {
	panic("ns: bug: " + fmt.Sprintf(format, args...))
}
