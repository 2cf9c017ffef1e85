package exec

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// outcome is what a row wants, in the words of the contract. An empty message
// or exit is not compared; every other field is.
type outcome struct {
	status    Status
	reason    Reason
	message   string // part of it, or of what the process wrote to stderr
	admission Admission
	stop      StopReason
	problems  string // codes in order, separated by spaces
	namespace string // none, removed, or the reason of the quarantine
	slot      string // the root afterwards: empty, kept
	exit      string // a code, or a signal's name
}

// ending is o with the exit that the process is to have.
func (o outcome) ending(exit string) outcome {
	o.exit = exit
	return o
}

// fault is one row: a hook acts on the world, never on the executor.
type fault struct {
	name string
	act  func(*world)
	want outcome
}

var (
	observedClean = outcome{status: StatusObserved, admission: AdmissionAdmitted, namespace: "removed", slot: "empty"}
	spin          = "process.stdout.write('running'); for (;;) {}\n"
	waitForever   = "process.stdout.write('running'); setInterval(() => {}, 1000)\n"
	manyFiles     = 3000
)

// many is a program that takes long enough to write and to remove that another
// process can get in between.
func many(last string) map[string]string {
	files := map[string]string{"main.mjs": "console.log('hello')\n"}
	for i := range manyFiles {
		files[fmt.Sprintf("many/f%04d.js", i)] = "1\n"
	}
	files["zz/last.bin"] = last
	return files
}

// faults is the specification: every reason, stop, admission, problem,
// disposition and quarantine reason, each from a real cause.
var faults = []fault{
	{"nothing goes wrong", func(w *world) {}, observedClean.ending("0")},
	{"program fails", func(w *world) { w.main("process.exit(125)\n") }, observedClean.ending("125")},
	{"program does not compile", func(w *world) { w.main("let let = 1\n") }, observedClean.ending("1")},
	{"program ends by a signal without a name", func(w *world) { w.main("process.kill(process.pid, 40)\n" + waitForever) },
		observedClean.ending("SIG40")},

	// Not started: nothing existed.
	{"cancelled before", func(w *world) { w.cancel = func() {} },
		outcome{status: StatusNotStarted, reason: ReasonAborted, namespace: "none", slot: "empty"}},
	{"node unproven", func(w *world) { w.node = w.otherNode(); w.spec.Runtime = w.spec.Profile },
		outcome{status: StatusNotStarted, reason: ReasonUnsupportedHost, message: "not proven", namespace: "none", slot: "empty"}},
	{"profile pinned otherwise", func(w *world) { w.spec.Profile = w.spec.ProgramDigest },
		outcome{status: StatusNotStarted, reason: ReasonProfileMismatch, namespace: "none", slot: "empty"}},
	{"runtime pinned otherwise", func(w *world) { w.spec.Runtime = w.spec.ProgramDigest },
		outcome{status: StatusNotStarted, reason: ReasonRuntimeMismatch, message: "the request pins", namespace: "none", slot: "empty"}},
	{"node gone", func(w *world) { w.node = filepath.Join(w.state, "none"); w.spec.Runtime = w.spec.ProgramDigest },
		outcome{status: StatusNotStarted, reason: ReasonRuntimeMismatch, message: "cannot be verified", namespace: "none", slot: "empty"}},
	{"root shared", func(w *world) { w.must(os.Chmod(w.root, 0o750)) },
		outcome{status: StatusNotStarted, reason: ReasonSetupFailed, message: "chmod", namespace: "none", slot: "empty"}},
	{"root full", func(w *world) { fill(w, "foreign-%d", w.max) },
		outcome{status: StatusNotStarted, reason: ReasonRetainedLimit, message: "never reclaimed automatically", namespace: "none", slot: "kept"}},
	{"slots taken after the count", func(w *world) { w.trace.Counted = func(CountedInfo) { fill(w, "slot-%d", w.max) } },
		outcome{status: StatusNotStarted, reason: ReasonRetainedLimit, message: "every slot is taken", namespace: "none", slot: "kept"}},

	// Not started: a namespace had been made.
	{"a file cannot be written", failToWrite,
		outcome{status: StatusNotStarted, reason: ReasonSetupFailed, message: "too large", namespace: "removed", slot: "empty"}},
	{"a file cannot be written, and something foreign is there", func(w *world) {
		failToWrite(w)
		w.trace.Counted = func(CountedInfo) { w.once(w.root, unix.IN_CREATE, "slot-0", func() { intrude(w) }) }
	}, outcome{status: StatusNotStarted, reason: ReasonSetupFailed, namespace: "setup-incomplete", slot: "kept"}},
	{"a file is changed before it is verified", func(w *world) {
		w.trace.Materialised = func(i MaterialisedInfo) {
			overwrite(w, filepath.Join(i.Namespace, "program/main.mjs"), "console.log('HELLO')\n")
		}
	}, outcome{status: StatusNotStarted, reason: ReasonSnapshotMismatch, message: "main.mjs", namespace: "snapshot-mismatch", slot: "kept"}},
	{"cancelled when written", func(w *world) { w.trace.Materialised = func(MaterialisedInfo) { w.cancel() } },
		outcome{status: StatusNotStarted, reason: ReasonAborted, namespace: "removed", slot: "empty"}},
	{"no descriptors for the pipes", func(w *world) { w.trace.Materialised = func(MaterialisedInfo) { w.leaveDescriptors(6) } },
		outcome{status: StatusNotStarted, reason: ReasonSetupFailed, message: "too many open files", namespace: "removed", slot: "empty"}},

	// Before admission.
	{"killed before admission", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.must(unix.Kill(i.PID, unix.SIGKILL)) } },
		outcome{status: StatusObserved, admission: AdmissionAbsent, problems: "admission-absent", namespace: "removed", slot: "empty"}},
	{"cancelled before admission", func(w *world) { w.trace.Launched = func(LaunchedInfo) { w.cancel() } },
		outcome{status: StatusObserved, admission: AdmissionAbsent, stop: StopCancelled, problems: "admission-absent", namespace: "removed", slot: "empty"}},
	{"another byte at the gate", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.send(i.PID, 0, "x") } },
		outcome{status: StatusObserved, admission: AdmissionRefused, problems: "admission-refused", namespace: "removed", slot: "empty"}},
	{"forged control text", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.send(i.PID, 3, recordAdmitted) } },
		outcome{status: StatusObserved, admission: AdmissionMalformed, stop: StopControlMalformed, problems: "admission-malformed", namespace: "removed", slot: "empty"}},
	{"admitted by another while the gate is shut", func(w *world) {
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.send(i.PID, 3, recordAdmitted)
		}
	}, outcome{status: StatusObserved, admission: AdmissionMalformed, stop: StopControlMalformed, problems: "admission-malformed", namespace: "removed", slot: "empty"}},
	{"no room at the gate of a process that stands still", func(w *world) {
		w.spec.TimeoutMs = 3000
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.must(unix.Kill(i.PID, unix.SIGSTOP))
			w.flood(i.PID, 0)
		}
	}, outcome{status: StatusObserved, admission: AdmissionAbsent, stop: StopTimeout, problems: "admission-absent", namespace: "removed", slot: "empty"}},
	{"the control text cannot be read", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.breakOurEnd(i.PID, 3) } },
		outcome{status: StatusObserved, admission: AdmissionAbsent, problems: "admission-absent contact-lost", namespace: "removed", slot: "empty"}},
	{"a limit that cannot be had", func(w *world) {
		w.must(unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: 590, Max: 590}))
		w.spec.CPUSeconds = 600
	}, outcome{status: StatusObserved, admission: AdmissionAbsent, stop: StopLimitsMismatch, problems: "admission-absent limits-mismatch", namespace: "removed", slot: "empty"}},

	// While the program runs.
	{"timeout", func(w *world) { w.main(spin); w.spec.TimeoutMs = 4000 },
		outcome{status: StatusObserved, admission: AdmissionAdmitted, stop: StopTimeout, namespace: "removed", slot: "empty", exit: "SIGKILL"}},
	{"cancelled", func(w *world) { w.main(spin); w.trace.Admitted = func(AdmittedInfo) { w.cancel() } },
		outcome{status: StatusObserved, admission: AdmissionAdmitted, stop: StopCancelled, namespace: "removed", slot: "empty"}},
	{"too much output", func(w *world) {
		w.main("const b = Buffer.alloc(65536, 120); (function f() { process.stdout.write(b, f) })()\n")
		w.spec.MaxOutputBytes = 100_000
	}, outcome{status: StatusObserved, admission: AdmissionAdmitted, stop: StopOutputLimit, namespace: "removed", slot: "empty"}},
	{"processor time used up", func(w *world) { w.main(spin); w.spec.CPUSeconds = 1 }, observedClean.ending("SIGKILL")},
	{"a byte after the record", func(w *world) {
		w.main(waitForever)
		var control *os.File
		w.trace.Launched = func(i LaunchedInfo) { control = w.childEnd(i.PID, 3, unix.O_WRONLY) }
		w.trace.Admitted = func(AdmittedInfo) {
			_, err := control.WriteString("x")
			w.must(err)
			w.must(control.Close())
		}
	}, outcome{status: StatusObserved, admission: AdmissionMalformed, stop: StopControlMalformed, problems: "admission-malformed", namespace: "removed", slot: "empty"}},
	{"stdout cannot be read", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.breakOurEnd(i.PID, 1) } },
		outcome{status: StatusObserved, admission: AdmissionAdmitted, problems: "contact-lost", namespace: "removed", slot: "empty"}},
	{"a pipe is held open elsewhere", func(w *world) { w.trace.Admitted = func(i AdmittedInfo) { w.childEnd(i.PID, 1, unix.O_WRONLY) } },
		outcome{status: StatusUnresolved, admission: AdmissionAdmitted, problems: "pipes-open", namespace: "unresolved", slot: "kept"}},
	{"the reap is delayed", func(w *world) {
		w.main(spin)
		w.spec.TimeoutMs = 4000
		w.trace.Admitted = func(i AdmittedInfo) {
			w.after = append(w.after, func() { w.gone(i.PID) })
			w.seize(i.PID)
		}
	}, outcome{status: StatusUnresolved, admission: AdmissionAdmitted, stop: StopTimeout, problems: "not-reaped", namespace: "unresolved", slot: "kept"}},

	// After it.
	{"node replaced during the run", func(w *world) {
		w.ownNode()
		other := w.otherNode()
		w.trace.Admitted = func(AdmittedInfo) { w.must(os.Rename(other, w.node)) }
	}, outcome{status: StatusObserved, admission: AdmissionAdmitted, problems: "runtime-changed", namespace: "removed", slot: "empty"}},
	{"node gone during the run", func(w *world) {
		w.ownNode()
		w.trace.Admitted = func(AdmittedInfo) { w.must(os.Remove(w.node)) }
	}, outcome{status: StatusObserved, admission: AdmissionAdmitted, problems: "runtime-unverifiable", namespace: "removed", slot: "empty"}},
	{"a file added during the run", func(w *world) { w.trace.Admitted = func(AdmittedInfo) { intrude(w) } },
		outcome{status: StatusObserved, admission: AdmissionAdmitted, problems: "namespace-changed", namespace: "namespace-changed", slot: "kept"}},
	{"a file swapped and swapped back", func(w *world) {
		w.trace.Admitted = func(i AdmittedInfo) {
			file := filepath.Join(i.Namespace, "input/in.txt")
			w.must(os.Rename(file, filepath.Join(w.state, "aside")))
			w.must(os.Rename(filepath.Join(w.state, "aside"), file))
		}
	}, outcome{status: StatusObserved, admission: AdmissionAdmitted, problems: "namespace-changed", namespace: "namespace-changed", slot: "kept"}},
	{"a file cannot be opened again", func(w *world) {
		w.trace.Collected = func(i CollectedInfo) { w.lease(filepath.Join(i.Namespace, "program/main.mjs")) }
	}, outcome{status: StatusObserved, admission: AdmissionAdmitted, problems: "namespace-unverifiable", namespace: "namespace-changed", slot: "kept"}},
	{"something appears while it is removed", func(w *world) {
		w.program(many(""))
		w.trace.Collected = func(i CollectedInfo) {
			w.once(filepath.Join(i.Namespace, "program/many"), unix.IN_DELETE, "", func() { intrude(w) })
		}
	}, outcome{status: StatusObserved, admission: AdmissionAdmitted, namespace: "namespace-changed", slot: "kept"}},
	{"the slot's directory cannot be deleted", func(w *world) { w.trace.Collected = func(CollectedInfo) { w.freezeRoot() } },
		outcome{status: StatusObserved, admission: AdmissionAdmitted, namespace: "removal-failed", slot: "kept"}},
}

// fill makes n directories in the root.
func fill(w *world, name string, n int) {
	for i := range n {
		w.must(os.Mkdir(filepath.Join(w.root, fmt.Sprintf(name, i)), 0o700))
	}
}

// intrude puts a file of its own into the slot.
func intrude(w *world) {
	w.must(os.WriteFile(filepath.Join(w.slot(), "intruder"), []byte("not yours"), 0o600))
}

// overwrite changes a file in place, as its owner can.
func overwrite(w *world, path, content string) {
	w.must(os.Chmod(path, 0o600))
	w.must(os.WriteFile(path, []byte(content), 0o600))
}

// failToWrite makes the last file of the program larger than this process may write.
func failToWrite(w *world) {
	w.program(many(strings.Repeat("x", 1<<20)))
	signal.Ignore(syscall.SIGXFSZ)
	w.after = append(w.after, func() { signal.Reset(syscall.SIGXFSZ) })
	w.limit(unix.RLIMIT_FSIZE, 1<<19)
}
