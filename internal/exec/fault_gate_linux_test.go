package exec

import (
	"golang.org/x/sys/unix"
)

// gateFaults come between the spawn and the admission.
var gateFaults = []fault{
	{"killed before admission", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.must(unix.Kill(i.PID, unix.SIGKILL)) } },
		barred(AdmissionAbsent).ending("SIGKILL")},
	{"a signal at the gate", func(w *world) {
		w.trace.Launched = func(i LaunchedInfo) {
			w.executed(i.PID)
			w.must(unix.Kill(i.PID, unix.SIGTERM))
		}
	}, barred(AdmissionAbsent).ending("SIGTERM")},
	{"cancelled before admission", func(w *world) { w.trace.Launched = func(LaunchedInfo) { w.cancel() } },
		barred(AdmissionAbsent).stopped(StopCancelled)},
	{"cancelled when the limits are measured", func(w *world) {
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.cancel()
		}
	}, barred(AdmissionAbsent).stopped(StopCancelled)},
	{"another byte at the gate", func(w *world) {
		w.main("")
		w.trace.Launched = func(i LaunchedInfo) { w.send(i.PID, 0, "x") }
	},
		barred(AdmissionRefused).ending("125")},
	{"forged control text", func(w *world) { w.trace.Launched = func(i LaunchedInfo) { w.send(i.PID, 3, recordAdmitted) } },
		barred(AdmissionMalformed).stopped(StopControlMalformed)},
	{"too much control text", func(w *world) {
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.flood(i.PID, 3)
		}
	}, barred(AdmissionMalformed).stopped(StopControlMalformed)},
	{"admitted by another while the gate is shut", func(w *world) {
		w.main("console.log('ran')\n")
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.send(i.PID, 3, recordAdmitted)
		}
	}, barred(AdmissionMalformed).stopped(StopControlMalformed)},
	{"refused by another while the gate is shut", func(w *world) {
		w.spec.TimeoutMs = 2000
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.send(i.PID, 3, recordRefused)
		}
	}, barred(AdmissionRefused).stopped(StopTimeout)},
	{"no room at the gate of a process that stands still", func(w *world) {
		w.spec.TimeoutMs = 2000
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.halt(i.PID)
			w.flood(i.PID, 0)
		}
	}, barred(AdmissionAbsent).stopped(StopTimeout)},
	{"a process that stands still before admission", func(w *world) {
		w.spec.TimeoutMs = 2000
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.halt(i.PID)
		}
	}, barred(AdmissionAbsent).stopped(StopTimeout).ending("SIGKILL")},
	{"stopped and continued before admission", func(w *world) { // also where the stage waits for consent to its one exec
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			w.halt(i.PID)
			w.must(unix.Kill(i.PID, unix.SIGCONT))
		}
	}, observedClean.ending("0")},
	{"a process that stands still from the start", func(w *world) {
		w.spec.TimeoutMs = 2000
		w.trace.Launched = func(i LaunchedInfo) { w.halt(i.PID) }
	}, barred(AdmissionAbsent).stopped(StopTimeout).ending("SIGKILL")},
}
