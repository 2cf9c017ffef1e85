package exec

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// launcherFaults are about how the last launcher of macOS behaves: it becomes
// Node or does not, and lies or not.
func launcherFaults() []fault {
	return []fault{
		{"it denies", behaves("DENYING"), observedClean.ending("0")},
		{"it denies nothing", behaves("PLAIN"), barred(AdmissionRefused).ending("125").saying("the canary is not denied")},
		{"it denies nothing to Node", func(w *world) {
			behaves("PLAIN")(w)
			w.main("console.log('ran')\n")
		}, barred(AdmissionRefused).ending("125").saying("confined: preload: reading the canary met nothing instead of EPERM")},

		{"it does not know its arguments", behaves("USAGE"), neverAdmitted.ending("64").saying("Usage: sandbox-exec")},
		{"it refuses the profile", behaves("REFUSING"), neverAdmitted.ending("65").saying("sandbox-exec: unbound variable")},
		{"it is in a sandbox already", behaves("NESTED"), neverAdmitted.ending("71").saying("sandbox_apply: Operation not permitted")},
		{"it may not execute Node", behaves("UNEXECUTABLE"), neverAdmitted.ending("71").saying("execvp()")},
		{"it is killed", behaves("KILLED"), neverAdmitted.ending("SIGKILL")},
		{"it aborts", behaves("ABORTED"), neverAdmitted.ending("SIGABRT")},
		{"it traps", behaves("TRAPPED"), neverAdmitted.ending("SIGTRAP")},
		{"it goes nowhere", func(w *world) {
			behaves("STAYING")(w)
			w.spec.TimeoutMs = 1000
		}, neverAdmitted.stopped(StopTimeout).ending("SIGKILL")},
		{"it goes nowhere, and the run is cancelled", func(w *world) {
			behaves("STAYING")(w)
			w.trace.Launched = func(i LaunchedInfo) {
				w.measured(i.PID)
				w.cancel()
			}
		}, neverAdmitted.stopped(StopCancelled).ending("SIGKILL")},
		{"it says itself that the program is admitted", func(w *world) { // before Node says so too, so that there are two
			behaves("LYING")(w)
			w.does("wait")
		}, barred(AdmissionMalformed).stopped(StopControlMalformed).ending("SIGKILL")},
		{"it takes limits away after they were reported", behaves("LOWERING"), observedClean.ending("0")}, // nobody measures again
		{"it runs Node as a child", behaves("PARENT"), observedClean.ending("0")},
		{"it runs Node as a child, which is cancelled", child(func(w *world) { w.cancel() }), unresolved("pipes-open").stopped(StopCancelled).ending("SIGKILL")},
		{"it runs Node as a child, and is killed by another", child(func(w *world) { w.must(unix.Kill(w.pid, unix.SIGKILL)) }),
			unresolved("pipes-open").ending("SIGKILL")},
	}
}

// behaves has the world's sandbox-exec behave in one of the ways of its stand-in.
func behaves(name string) func(*world) {
	return func(w *world) { w.under(variant(w.t, name)) }
}

// child has the program wait in a child of the process that was launched, which
// outlives it and keeps its pipes.
func child(act func(*world)) func(*world) {
	return func(w *world) {
		behaves("PARENT")(w)
		w.does("wait")
		w.trace.Output = func(OutputInfo) {
			group := w.pid
			w.after = append(w.after, func() { w.must(unix.Kill(-group, unix.SIGKILL)) })
			act(w)
		}
	}
}

// toolFaults are about the three launchers of macOS as files, and about those in
// whose place something else is.
func toolFaults() []fault {
	rows := []fault{
		{"the shell asks for another limit", otherLimit,
			observed("admission-absent limits-mismatch").admitted(AdmissionAbsent).stopped(StopLimitsMismatch).ending("SIGKILL")},
		{"the shell may not set a limit", func(w *world) { w.trace.Materialised = func(MaterialisedInfo) { w.forbid(unix.SYS_PRLIMIT64) } },
			neverAdmitted.ending("125").saying("confined: cpu: refused by the host")},
		{"killed as the shell", killedAs("dash"), neverAdmitted.ending("SIGKILL")},
		{"killed as env", killedAs("env"), neverAdmitted.ending("SIGKILL")},
		{"killed as sandbox-exec", killedAs("sandbox-exec"), neverAdmitted.ending("SIGKILL")},

		{"the shell gone before the launch", toolLost("dash"),
			undone(ReasonSetupFailed, "no process could be started")},
		{"env gone before the launch", toolLost("env"),
			observed("admission-absent runtime-unverifiable").admitted(AdmissionAbsent).ending("125").saying("confined: exec: refused by the host")},
		{"sandbox-exec gone before the launch", toolLost("sandbox-exec"),
			observed("admission-absent runtime-unverifiable").admitted(AdmissionAbsent).ending("127").saying("env:")},
	}
	for _, tool := range []string{"dash", "env", "sandbox-exec"} {
		rows = append(rows, toolChanges(tool)...)
	}
	return rows
}

// otherLimit has a shell that asks for a second more of processor time.
func otherLimit(w *world) {
	script, err := os.ReadFile(seatbeltSources + "otherlimit.dash")
	w.must(err)
	w.under(w.scripted("dash", string(script)))
}

// toolChanges are what is done to one tool between the pins and the end.
func toolChanges(tool string) []fault {
	path := func(w *world) string { return filepath.Join(w.state, "tools", tool) }
	pinned := func(act func(w *world) error) func(*world) {
		return func(w *world) {
			w.ownTools()
			w.pinNow()
			w.must(act(w))
		}
	}
	at := func(name string, e event, act func(string) error, problem string) fault {
		return fault{tool + " " + name + " when " + e.name, func(w *world) {
			w.ownTools()
			e.hook(w, func() { w.must(act(path(w))) })
		}, observed(problem).ending("0")}
	}
	rows := []fault{
		{tool + " gone since it was pinned", pinned(func(w *world) error { return os.Remove(path(w)) }), refused(ReasonRuntimeMismatch, "cannot be verified")},
		{tool + " a symlink since it was pinned", pinned(func(w *world) error { return linkInPlace(path(w)) }), refused(ReasonRuntimeMismatch, "cannot be verified")},
		{tool + " changed since it was pinned", pinned(func(w *world) error { return appendTo(path(w), "x") }), refused(ReasonRuntimeMismatch, tool+" changed")},
		{tool + " replaced by its like before the launch", func(w *world) {
			w.ownTools()
			w.trace.Counted = func(CountedInfo) { w.must(replaceByCopy(path(w))) }
		}, observed("runtime-changed").ending("0")},
	}
	for _, e := range lateEvents {
		rows = append(rows,
			at("replaced by its like", e, replaceByCopy, "runtime-changed"),
			at("swapped and swapped back", e, swapBack, "runtime-changed"),
			at("changed in place", e, func(p string) error { return appendTo(p, "x") }, "runtime-changed"),
			at("gone", e, os.Remove, "runtime-unverifiable"),
			at("a symlink to itself", e, linkInPlace, "runtime-unverifiable"))
	}
	return rows
}

// ownTools gives the world launchers of its own, which the row may change.
func (w *world) ownTools() standInMac {
	s := denying(w.t)
	dir := filepath.Join(w.state, "tools")
	w.must(os.Mkdir(dir, 0o755))
	for name, path := range map[string]*string{"dash": &s.Tools.Dash, "env": &s.Tools.Env, "sandbox-exec": &s.Tools.SandboxExec} {
		own := filepath.Join(dir, name)
		w.must(copyTool(*path, own))
		*path = own
	}
	w.under(s)
	return s
}

// copyTool copies a program that may be root's.
func copyTool(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return write(to, content, 0o755)
}

// scripted is the boundary with a shell script in the place of a tool.
func (w *world) scripted(tool, script string) standInMac {
	s := w.ownTools()
	path := filepath.Join(w.state, "tools", tool)
	w.must(os.Remove(path))
	w.must(write(path, []byte("#!/bin/dash\n"+strings.TrimSpace(script)+"\n"), 0o755))
	return s
}

// killedAs has somebody kill the process while it is a certain tool.
func killedAs(tool string) func(*world) {
	return func(w *world) {
		w.under(w.scripted(tool, "kill -STOP $$"))
		w.trace.Launched = func(i LaunchedInfo) {
			w.stopped(i.PID)
			w.must(unix.Kill(i.PID, unix.SIGKILL))
		}
	}
}

// toolLost has a tool vanish between the pins and the launch.
func toolLost(tool string) func(*world) {
	return func(w *world) {
		w.ownTools()
		w.trace.Counted = func(CountedInfo) { w.must(os.Remove(filepath.Join(w.state, "tools", tool))) }
	}
}
