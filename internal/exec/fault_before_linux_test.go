package exec

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// beforeFaults are the refusals before anything exists: no process, no
// namespace, and the root as it was.
var beforeFaults = []fault{
	{"nothing goes wrong", func(w *world) {}, observedClean.ending("0")},
	{"cancelled before", func(w *world) { w.cancel = func() {} }, refused(ReasonAborted, "before anything was touched")},
	{"node unproven", func(w *world) {
		w.proven = pins.NewProofs(pins.ProofOptions{}).Of
		w.spec.Runtime = w.spec.ProgramDigest
	}, refused(ReasonUnsupportedHost, "not proven")},
	{"profile pinned otherwise", func(w *world) { w.spec.Profile = w.spec.ProgramDigest }, refused(ReasonProfileMismatch, "the request pins profile")},
	{"runtime pinned otherwise", func(w *world) { w.spec.Runtime = w.spec.ProgramDigest }, refused(ReasonRuntimeMismatch, "the request pins runtime")},
	{"a library changed since it was pinned", func(w *world) {
		w.ownNode()
		w.pinNow()
		w.must(appendTo(w.part(), "x"))
	}, refused(ReasonRuntimeMismatch, partName+" changed")},
	{"node changed since it was pinned", func(w *world) {
		w.ownNode()
		w.pinNow()
		w.must(appendTo(w.node, "x"))
	}, refused(ReasonRuntimeMismatch, "node changed")},
	{"a symlink became the way to node", func(w *world) {
		w.ownNode()
		w.pinNow()
		w.must(linkInPlace(w.node))
	}, refused(ReasonRuntimeMismatch, "the request pins runtime")},
	{"node gone", func(w *world) { w.node = filepath.Join(w.state, "none"); w.spec.Runtime = w.spec.ProgramDigest },
		refused(ReasonRuntimeMismatch, "cannot be verified")},

	{"root shared", func(w *world) { w.must(os.Chmod(w.root, 0o750)) }, refused(ReasonSetupFailed, "chmod")},
	{"root missing", func(w *world) { w.must(os.Remove(w.root)) }, refused(ReasonSetupFailed, "does not exist").in("none", "kept")},
	{"root aliased", func(w *world) {
		alias := filepath.Join(w.state, "alias")
		w.must(os.Symlink(w.root, alias))
		w.root = alias
	}, refused(ReasonSetupFailed, "is not canonical")},
	{"root a file", func(w *world) {
		w.must(os.Remove(w.root))
		w.must(os.WriteFile(w.root, nil, 0o600))
	}, refused(ReasonSetupFailed, "is not a directory").in("none", "kept")},
	{"root in memory", func(w *world) { // where a swap back could not be seen; so no small tmpfs can stand for a full disk
		dir, err := os.MkdirTemp("/dev/shm", "exec-test-")
		w.must(err)
		w.after = append(w.after, func() { w.must(os.Remove(dir)) })
		w.root = dir
	}, refused(ReasonSetupFailed, "tmpfs").in("none", "kept")},
	{"no permission to make a slot", func(w *world) { w.freezeRoot() }, refused(ReasonSetupFailed, "a slot cannot be claimed")},
}

// rivalFaults are about others who want the same root.
var rivalFaults = []fault{
	{"root full", func(w *world) { fill(w, "foreign-%d", w.max) },
		refused(ReasonRetainedLimit, "never reclaimed automatically").in("none", "kept")},
	{"root full of files", func(w *world) {
		w.max = 1
		w.must(os.WriteFile(filepath.Join(w.root, ".hidden"), nil, 0o600))
	}, refused(ReasonRetainedLimit, "holds 1 entries").in("none", "kept")},
	{"slots taken after the count", func(w *world) { w.trace.Counted = func(CountedInfo) { fill(w, "slot-%d", w.max) } },
		refused(ReasonRetainedLimit, "every slot is taken").in("none", "kept")},
	{"an entry appears between count and claim", func(w *world) {
		w.trace.Counted = func(CountedInfo) { fill(w, "foreign-%d", w.max) }
	}, observedClean.in("removed", "kept")}, // counted entries bound what starts, not what a stranger adds later
	{"the lowest slot is taken after the count", slotTaken(func(path string) error { return os.Mkdir(path, 0o700) }), observedClean.in("removed", "kept")},
	{"a file takes the lowest slot's name", slotTaken(func(path string) error { return os.WriteFile(path, nil, 0o600) }), observedClean.in("removed", "kept")},
	{"a symlink takes the lowest slot's name", slotTaken(func(path string) error { return os.Symlink(filepath.Dir(path), path) }), observedClean.in("removed", "kept")},
	{"a dangling symlink takes the lowest slot's name", slotTaken(func(path string) error { return os.Symlink("none", path) }), observedClean.in("removed", "kept")},
	{"a FIFO takes the lowest slot's name", slotTaken(func(path string) error { return unix.Mkfifo(path, 0o600) }), observedClean.in("removed", "kept")},
	{"another daemon runs in the only slot", func(w *world) {
		w.max = 1
		w.trace.Counted = func(CountedInfo) { w.rival() }
	}, refused(ReasonRetainedLimit, "every slot is taken")},
	{"another daemon runs in the lowest slot", func(w *world) {
		w.trace.Counted = func(CountedInfo) { w.rival() }
	}, observedClean},
	{"another daemon runs while we do", func(w *world) {
		w.trace.Admitted = func(AdmittedInfo) { w.rival() }
	}, observedClean},
	{"another daemon's run was counted", func(w *world) {
		w.max = 1
		w.pinNow()
		w.rival()
	}, refused(ReasonRetainedLimit, "elsewhere")},
	{"the root is moved away between count and claim", func(w *world) {
		w.trace.Counted = func(i CountedInfo) { w.must(os.Rename(i.Root, i.Root+"-away")) }
	}, barred(AdmissionAbsent).ending("125").in("removed", "kept"). // the launch stage looks by path, and finds nothing
									butUnderDash(undone(ReasonSetupFailed, "no process could be started").in("removed", "kept"), startsInSlot)},
	{"the root is replaced between count and claim", func(w *world) {
		w.trace.Counted = func(i CountedInfo) { w.replaceRoot() }
	}, barred(AdmissionAbsent).ending("125").
		butUnderDash(undone(ReasonSetupFailed, "no process could be started"), startsInSlot)},
}

const startsInSlot = "the shell starts in the input, so that there is no process without one"

// slotTaken has somebody else make an entry of the lowest slot's name once the
// root's entries are counted.
func slotTaken(take func(path string) error) func(*world) {
	return func(w *world) {
		w.trace.Counted = func(CountedInfo) { w.must(take(w.slot())) }
	}
}
