package exec

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// setupFaults end a run whose namespace had been made, before a process was
// started. They change limits of this process.
var setupFaults = []fault{
	{"a file cannot be written", failToWrite, undone(ReasonSetupFailed, "too large")},
	{"a file cannot be written, and something foreign is there", func(w *world) {
		failToWrite(w)
		w.trace.Counted = func(CountedInfo) { w.once(w.root, unix.IN_CREATE, "slot-0", func() { intrude(w) }) }
	}, undone(ReasonSetupFailed, "too large").in("setup-incomplete", "kept")},
	{"disk full", func(w *world) {
		w.smallDisk(8 << 20)
		w.program(map[string]string{"main.mjs": "exit", "large.bin": tooLarge()})
	}, undone(ReasonSetupFailed, "could not be written")},
	{"inodes used up", func(w *world) {
		w.smallDisk(8 << 20)
		w.program(many(tooLarge()))
	}, undone(ReasonSetupFailed, "could not be written")},
	{"no descriptors for the pipes", func(w *world) { w.trace.Materialised = func(MaterialisedInfo) { w.leaveDescriptors(6) } },
		undone(ReasonSetupFailed, "too many open files")},
	{"cancelled when counted", func(w *world) { w.trace.Counted = func(CountedInfo) { w.cancel() } }, undone(ReasonAborted, "before a process was started")},
	{"cancelled when written", func(w *world) { w.trace.Materialised = func(MaterialisedInfo) { w.cancel() } },
		undone(ReasonAborted, "before a process was started")},
	{"cancelled when written, and a file was changed", func(w *world) {
		w.trace.Materialised = func(i MaterialisedInfo) {
			w.must(overwrite(filepath.Join(i.Namespace, "program/main.mjs"), "EXIT"))
			w.cancel()
		}
	}, undone(ReasonSnapshotMismatch, "main.mjs").in("snapshot-mismatch", "kept")},
	{"a file of the namespace is still open for writing", func(w *world) {
		w.trace.Materialised = func(i MaterialisedInfo) { w.holdForWriting(filepath.Join(i.Namespace, "input/in.txt")) }
	}, undone(ReasonSnapshotMismatch, "open or mapped for writing").in("snapshot-mismatch", "kept")},
}

// failToWrite makes the last file of the program larger than this process may write.
func failToWrite(w *world) {
	w.program(many(tooLarge()))
	w.limitFiles()
}

// tooLarge is more than a file may hold under fileLimit, and more than the small disk has.
func tooLarge() string { return strings.Repeat("x", fileLimit+1<<20) }
