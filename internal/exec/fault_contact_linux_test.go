package exec

import (
	"golang.org/x/sys/unix"
)

// contactFaults are about what this process itself has: its ends of the pipes,
// and the limits that its children are under.
var contactFaults = []fault{
	{"the control text cannot be read", func(w *world) { // all of it has been written: before, the stage would die of a pipe that nobody reads
		w.spec.TimeoutMs = 1000
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.breakOurEnd(i.PID, 3)
		}
	}, observed("admission-absent contact-lost").admitted(AdmissionAbsent).stopped(StopTimeout)},
	{"stdout cannot be read", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.breakOurEnd(i.PID, 1) } }, observed("contact-lost")},
	{"stderr cannot be read", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.breakOurEnd(i.PID, 2) } }, observed("contact-lost")},
	{"a limit that cannot be had", func(w *world) {
		w.max = 1
		w.must(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1024, Max: 1024})) // for good: a hard limit cannot be raised by everybody
		w.spec.MaxDescriptors = 1025
	}, observed("admission-absent limits-mismatch").admitted(AdmissionAbsent).stopped(StopLimitsMismatch).
		onlyOn(onLinux, "root's shell may raise a limit, and a user's says so: both have rows among the tools")},
}
