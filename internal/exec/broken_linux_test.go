package exec

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// brokenSetups are hosts that refuse what the boundary is made of: before the
// run, where the host check sees it, or only when the launch stage needs it.
var brokenSetups = []fault{
	{"nothing is refused", func(w *world) {}, observedClean.ending("0")},
	{"Landlock is refused", func(w *world) { w.forbid(unix.SYS_LANDLOCK_CREATE_RULESET) }, unfit("Landlock cannot be used: operation not permitted")},
	{"filters are refused", func(w *world) { w.forbid(unix.SYS_SECCOMP) }, unfit("system call filters with a listener")},
	{"limits are refused", func(w *world) { w.forbid(unix.SYS_PRLIMIT64) }, unfit("the daemon's own hard limit of data is 0")},
	{"namespaces are refused", func(w *world) { w.forbid(unix.SYS_CLONE, unix.CLONE_NEWUSER) },
		undone(ReasonSetupFailed, "a user namespace is refused to the daemon")},
	{"the stage has no mounts", func(w *world) { w.late(unix.SYS_OPEN_TREE) }, stageRefuses("confined: mounts: /")},
	{"the stage cannot enter its root", func(w *world) { w.late(unix.SYS_PIVOT_ROOT) }, stageRefuses("confined: pivot: pivot_root: operation not permitted")},
	{"the stage cannot leave the host's root", func(w *world) { w.late(unix.SYS_UMOUNT2) },
		stageRefuses("confined: pivot: detach the old root: operation not permitted")},
	{"the stage cannot set a limit", func(w *world) { w.late(unix.SYS_PRLIMIT64) }, stageRefuses("confined: limits: core: operation not permitted")},
	{"the stage keeps its user", func(w *world) { w.late(unix.SYS_SETRESUID) }, stageRefuses("confined: credentials: setresuid: operation not permitted")},
	{"the stage has no Landlock", func(w *world) { w.late(unix.SYS_LANDLOCK_RESTRICT_SELF) }, stageRefuses("confined: landlock: restrict: operation not permitted")},
	{"the stage has no filter", func(w *world) { w.late(unix.SYS_SECCOMP) }, stageRefuses("confined: exec lock: install: operation not permitted")},
	{"the stage cannot become Node", func(w *world) { w.late(unix.SYS_EXECVEAT) }, stageRefuses("confined: filter: execveat: operation not permitted")},
}

// unfit is the outcome on a host whose check says so.
func unfit(message string) outcome { return refused(ReasonUnsupportedHost, message) }

// stageRefuses is the outcome when the stage cannot go on, in its own words.
func stageRefuses(message string) outcome { return neverAdmitted.ending("125").saying(message) }

// TestBrokenSetups: the program never runs, and the result says what is broken.
func TestBrokenSetups(t *testing.T) {
	w := newWorld(t)
	w.useStandIn()
	e := w.executor()
	w.pin(e)
	for _, row := range brokenSetups {
		t.Run(row.name, func(t *testing.T) {
			w.next(t)
			row.act(w)
			row.want.check(t, w.run(e), w)
		})
	}
}

// late forbids a call once everything is written and the host was found able.
func (w *world) late(call uint32) {
	w.own = &Trace{Materialised: func(MaterialisedInfo) { w.forbid(call) }}
}

// forbid has the kernel refuse a call to this goroutine and to the processes
// that it starts, as the filters of container managers do: always, or only when
// its first argument has one of the flags. The goroutine keeps its thread, which
// ends with it.
func (w *world) forbid(call uint32, flags ...uint32) {
	const load, and, equal, answer, number, firstArgument = 0x20, 0x54, 0x15, 0x06, 0, 16 // linux/bpf_common.h, struct seccomp_data
	runtime.LockOSThread()
	program := []unix.SockFilter{{Code: load, K: number}, {Code: equal, K: call, Jf: 1}}
	for _, flag := range flags {
		program[1].Jf = 4
		program = append(program, unix.SockFilter{Code: load, K: firstArgument}, unix.SockFilter{Code: and, K: flag}, unix.SockFilter{Code: equal, Jt: 1})
	}
	program = append(program, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW})
	w.must(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter))); e != 0 {
		w.t.Fatal(e)
	}
}
