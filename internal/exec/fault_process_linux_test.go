package exec

import (
	"os"

	"golang.org/x/sys/unix"
)

// processFaults happen to an admitted process: what it does is simple, so a
// stand-in does it.
var processFaults = []fault{
	{"timeout", func(w *world) { w.does("spin"); w.spec.TimeoutMs = 4000 }, observedClean.stopped(StopTimeout).ending("SIGKILL")},
	{"cancelled", func(w *world) { w.does("spin"); w.trace.Admitted = func(AdmittedInfo) { w.cancel() } },
		observedClean.stopped(StopCancelled).ending("SIGKILL")},
	{"cancelled at its first output", func(w *world) { w.does("spin"); w.trace.Output = func(OutputInfo) { w.cancel() } },
		observedClean.stopped(StopCancelled).ending("SIGKILL")},
	{"cancelled once it is gone", func(w *world) {
		w.trace.Admitted = func(i AdmittedInfo) {
			w.gone(i.PID)
			w.cancel()
		}
	}, observedClean.ending("0")},
	{"cancelled when collected", func(w *world) { w.trace.Collected = func(CollectedInfo) { w.cancel() } }, observedClean.ending("0")},
	{"processor time used up", func(w *world) { w.does("spin"); w.spec.CPUSeconds = 1 }, observedClean.ending("SIGKILL")},

	{"killed by another", signalled(unix.SIGKILL), observedClean.ending("SIGKILL")},
	{"ended by another", signalled(unix.SIGTERM), observedClean.ending("SIGTERM")},
	{"it aborts", func(w *world) { w.does("abort") }, observedClean.ending("SIGABRT")},
	{"stopped by another until the timeout", func(w *world) {
		w.does("wait")
		w.spec.TimeoutMs = 4000
		w.trace.Admitted = func(i AdmittedInfo) { w.halt(i.PID) }
	}, observedClean.stopped(StopTimeout).ending("SIGKILL")},
	{"stopped by itself and cancelled", func(w *world) {
		w.does("stop")
		w.trace.Admitted = func(i AdmittedInfo) {
			w.stopped(i.PID)
			w.cancel()
		}
	}, observedClean.stopped(StopCancelled).ending("SIGKILL")},
	{"stopped and continued by another", func(w *world) {
		w.does("wait")
		w.trace.Admitted = func(i AdmittedInfo) {
			w.halt(i.PID)
			w.must(unix.Kill(i.PID, unix.SIGCONT))
			w.must(unix.Kill(i.PID, unix.SIGTERM))
		}
	}, observedClean.ending("SIGTERM")},

	{"a flood on stdout", floods("stdout", 100_000), observedClean.stopped(StopOutputLimit).ending("SIGKILL")},
	{"a flood on stderr", floods("stderr", 100_000), observedClean.stopped(StopOutputLimit).ending("SIGKILL")},
	{"a flood on both", floods("both", 100_000), observedClean.stopped(StopOutputLimit).ending("SIGKILL")},
	{"a flood where nothing is kept", floods("both", 0), observedClean.stopped(StopOutputLimit).ending("SIGKILL")},
	{"a flood and a cancellation: the first stands", func(w *world) {
		floods("both", 16<<20)(w) // so much that it cannot be first
		w.trace.Admitted = func(AdmittedInfo) { w.cancel() }
	}, observedClean.stopped(StopCancelled).ending("SIGKILL")},
	{"more output than is kept, of a process that is gone", func(w *world) {
		w.does("stop and print")
		w.spec.MaxOutputBytes = 10
		w.trace.Admitted = func(i AdmittedInfo) { // what it prints before that can be taken before that, too
			w.stopped(i.PID)
			w.must(unix.Kill(i.PID, unix.SIGCONT))
			w.gone(i.PID)
		}
	}, observedClean.ending("0").printing(10_000)}, // overflow is judged by the bytes: a process that is gone is not stopped

	{"a byte after the record", func(w *world) {
		w.does("wait")
		var control *os.File
		w.trace.Launched = func(i LaunchedInfo) { control = w.childEnd(i.PID, 3, unix.O_WRONLY) }
		w.trace.Admitted = func(AdmittedInfo) {
			_, err := control.WriteString("x")
			w.must(err)
			w.must(control.Close())
		}
	}, barred(AdmissionMalformed).stopped(StopControlMalformed)},
	{"the gate is held open elsewhere", held(0), observedClean.ending("0")},
	{"stdout is held open elsewhere", held(1), unresolved("pipes-open").ending("0")},
	{"stderr is held open elsewhere", held(2), unresolved("pipes-open").ending("0")},
	{"the control pipe is held open elsewhere", held(3), unresolved("pipes-open").ending("0")},
	{"a pipe is held open, and the namespace changed", func(w *world) { // nobody looks at what may be in use
		held(1)(w)
		w.trace.Collected = func(CollectedInfo) { intrude(w) }
	}, unresolved("pipes-open").ending("0")},
	{"the reap is delayed beyond a cancellation and the timeout: the first stands", func(w *world) {
		w.does("spin")
		w.spec.TimeoutMs = 4000
		w.trace.Admitted = func(i AdmittedInfo) {
			w.delayReap(i.PID)
			w.cancel()
		}
	}, unresolved("not-reaped").stopped(StopCancelled)},
}

// signalled has somebody else signal the program once it runs.
func signalled(s unix.Signal) func(*world) {
	return func(w *world) {
		w.does("wait")
		w.trace.Output = func(OutputInfo) { w.must(unix.Kill(w.pid, s)) }
	}
}

// floods has the program write without end.
func floods(where string, kept int64) func(*world) {
	return func(w *world) {
		w.does("flood " + where)
		w.spec.MaxOutputBytes = kept
	}
}

// held has somebody else open one of the process's pipes and keep it. The
// process passed the gate and has not left: its control pipe is looked for
// before that.
func held(descriptor int) func(*world) {
	return func(w *world) {
		flags := unix.O_WRONLY
		if descriptor == 0 {
			flags = unix.O_RDONLY
		}
		w.trace.Launched = func(i LaunchedInfo) {
			w.holdsItsPipes(i.PID)
			w.childEnd(i.PID, descriptor, flags)
		}
	}
}
