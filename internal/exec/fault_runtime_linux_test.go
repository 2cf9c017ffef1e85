package exec

import (
	"os"
	"path/filepath"

	"confined/internal/pins"
)

// runtimeFaults change what Node is made of, once it was pinned. A changed
// runtime keeps the result from being attributable, and the namespace is
// removed all the same.
var runtimeFaults = append([]fault{
	// After the pins and before the launch. The launch stage mounts inodes that
	// were pinned and no others; what is changed in place is seen afterwards.
	{"node replaced before the launch", early(func(w *world) error { return os.Rename(w.otherNode(), w.node) }), otherInode},
	{"node replaced by its like before the launch", early(func(w *world) error { return replaceByCopy(w.node) }), otherInode},
	{"a library replaced before the launch", early(func(w *world) error { return replaceByCopy(w.part()) }), otherInode},
	{"a library changed in place before the launch", early(func(w *world) error { return appendTo(w.part(), "x") }), observed("runtime-changed").ending("0")},
	{"node gone before the launch", early(func(w *world) error { return os.Remove(w.node) }),
		observed("admission-absent runtime-unverifiable").admitted(AdmissionAbsent).ending("125").
			butUnderDash(observed("admission-absent runtime-unverifiable").admitted(AdmissionAbsent).ending("71").saying("execvp()"),
				"it is sandbox-exec that does not find it")},
	{"node swapped and swapped back before the launch", early(func(w *world) error { return swapBack(w.node) }), observed("runtime-changed").ending("0")},

	{"node and the namespace changed", func(w *world) {
		w.ownNode()
		w.trace.Admitted = func(AdmittedInfo) {
			w.must(appendTo(w.part(), "x"))
			intrude(w)
		}
	}, observed("runtime-changed namespace-changed").in("namespace-changed", "kept")},
	{"node changed under a process that is not seen to end", func(w *world) {
		w.ownNode()
		held(1)(w)
		w.trace.Admitted = func(AdmittedInfo) { w.must(os.Link(w.node, filepath.Join(w.state, "link"))) }
	}, unresolved("pipes-open runtime-changed")},
	{"the symlink to node is another and the same again", func(w *world) { // nothing reads it in between, and no result depends on it
		real := w.aliasNode()
		w.trace.Admitted = func(AdmittedInfo) {
			w.must(w.pointNode(w.root))
			w.must(w.pointNode(real))
		}
	}, observedClean},
	{"the launcher replaced on disk", func(w *world) {
		w.ownLauncher()
		w.trace.Admitted = func(AdmittedInfo) { w.must(replaceByCopy(w.launcher)) }
	}, observed("runtime-changed").onlyOn(onLinux, daemonStarts)},
	{"the launcher changed in place", func(w *world) {
		w.ownLauncher()
		w.trace.Collected = func(CollectedInfo) { w.must(appendTo(w.launcher, "x")) }
	}, observed("runtime-changed").onlyOn(onLinux, daemonStarts)},
}, during([]change{
	{"node replaced", func(w *world) error { return os.Rename(w.otherNode(), w.node) }, "runtime-changed"},
	{"node replaced by its like", func(w *world) error { return replaceByCopy(w.node) }, "runtime-changed"},
	{"node replaced by a symlink to itself", func(w *world) error { return linkInPlace(w.node) }, "runtime-changed"},
	{"node replaced by a directory", func(w *world) error {
		if err := os.Remove(w.node); err != nil {
			return err
		}
		return os.Mkdir(w.node, 0o755)
	}, "runtime-unverifiable"},
	{"node gone", func(w *world) error { return os.Remove(w.node) }, "runtime-unverifiable"},
	{"node swapped and swapped back", func(w *world) error { return swapBack(w.node) }, "runtime-changed"},
	{"node hard-linked", func(w *world) error { return os.Link(w.node, filepath.Join(w.state, "link")) }, "runtime-changed"},
	{"node's mode changed", func(w *world) error { return os.Chmod(w.node, 0o711) }, "runtime-changed"},
	{"a library replaced", func(w *world) error { return replaceByCopy(w.part()) }, "runtime-changed"},
	{"a library changed in place", func(w *world) error { return appendTo(w.part(), "x") }, "runtime-changed"},
	{"a library gone", func(w *world) error { return os.Remove(w.part()) }, "runtime-unverifiable"},
	{"another library comes first", func(w *world) error {
		first := filepath.Join(filepath.Dir(w.node), "first")
		if err := os.Mkdir(first, 0o755); err != nil {
			return err
		}
		return os.Link(w.part(), filepath.Join(first, partName))
	}, "runtime-changed"},
})...)

// otherInode is the outcome when there is another file at a path of the runtime.
var otherInode = observed("admission-absent runtime-changed").admitted(AdmissionAbsent).ending("125").
	butUnderDash(observed("runtime-changed").ending("0"), "Node is executed by its path there, so that the program runs and the hashes tell afterwards")

const daemonStarts = "the daemon's own binary starts no Node on macOS: its launchers have rows among the tools"

// hashed are the rows on a host that has no sealed copies.
func hashed(rows []fault) []fault {
	var out []fault
	for _, row := range rows {
		out = append(out, fault{row.name, func(w *world) {
			w.unsealable = &pins.UnsealableError{Problem: "no copies here", Cure: "none"}
			row.act(w)
		}, row.want})
	}
	return out
}

// early changes an own copy of the runtime after the pins were taken and before
// there is a process.
func early(act func(*world) error) func(*world) {
	return func(w *world) {
		w.ownNode()
		w.trace.Counted = func(CountedInfo) { w.must(act(w)) }
	}
}

// change is something that is done to the runtime, and the problem it becomes.
type change struct {
	name    string
	act     func(*world) error
	problem string
}

// during has each change happen at every event from the launch on, and the
// retargeting of a symlink that leads to Node.
func during(changes []change) []fault {
	var rows []fault
	for _, e := range lateEvents {
		for _, c := range changes {
			rows = append(rows, fault{c.name + " when " + e.name, func(w *world) {
				w.ownNode()
				e.hook(w, func() { w.must(c.act(w)) })
			}, observed(c.problem).ending("0")})
		}
		rows = append(rows, fault{"the symlink to node retargeted when " + e.name, func(w *world) {
			real := w.aliasNode()
			e.hook(w, func() {
				w.must(copyAs(real, real+".other"))
				w.must(w.pointNode(real + ".other"))
			})
		}, observed("runtime-changed").ending("0")})
	}
	return rows
}
