package exec

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// afterFaults meet the run once its process is collected, or are about the root
// and the state directory, which it needs to the end.
var afterFaults = []fault{
	{"a file cannot be opened again", func(w *world) {
		w.trace.Collected = func(i CollectedInfo) { w.lease(filepath.Join(i.Namespace, "program/main.mjs")) }
	}, observed("namespace-unverifiable").in("namespace-changed", "kept")},
	{"something appears while it is removed", func(w *world) {
		w.program(many(""))
		w.trace.Collected = func(i CollectedInfo) {
			w.once(filepath.Join(i.Namespace, "program/many"), unix.IN_DELETE, "", func() { intrude(w) })
		}
	}, observedClean.in("namespace-changed", "kept")},
	{"the slot's directory cannot be deleted", func(w *world) { w.trace.Collected = func(CollectedInfo) { w.freezeRoot() } },
		observedClean.in("removal-failed", "kept")},
	{"the root closed to changes while the program runs", func(w *world) { w.trace.Admitted = func(AdmittedInfo) { w.freezeRoot() } },
		observedClean.in("removal-failed", "kept")},
	{"the root shared while the program runs", func(w *world) { // every run looks at the root when it begins: the next one says so
		w.trace.Admitted = func(AdmittedInfo) { w.must(os.Chmod(w.root, 0o755)) }
	}, observedClean},
	{"the root moved away while the program runs", func(w *world) {
		w.trace.Admitted = func(AdmittedInfo) { w.must(os.Rename(w.root, w.root+"-away")) }
	}, observedClean.in("removed", "kept")}, // "kept", since there is no root to look into; it is removed by handle
	{"the root replaced while the program runs", func(w *world) { w.trace.Admitted = func(AdmittedInfo) { w.replaceRoot() } }, observedClean},
	{"a stranger's entry in the root while the program runs", func(w *world) {
		w.trace.Admitted = func(AdmittedInfo) { fill(w, "foreign-%d", 1) }
	}, observedClean.in("removed", "kept")},
	{"the quarantine cannot be recorded: no state directory", func(w *world) {
		w.trace.Admitted = func(AdmittedInfo) {
			intrude(w)
			w.must(os.Rename(w.state, w.state+"-away"))
		}
	}, observed("namespace-changed").in("namespace-changed", "kept").saying("could not be recorded")},
	{"the quarantine cannot be recorded: its ledger is a directory", func(w *world) {
		w.trace.Materialised = func(i MaterialisedInfo) {
			w.must(os.Mkdir(filepath.Join(w.state, "quarantine.jsonl"), 0o700))
			intrude(w)
		}
	}, undone(ReasonSnapshotMismatch, "").in("snapshot-mismatch", "kept")},
}
