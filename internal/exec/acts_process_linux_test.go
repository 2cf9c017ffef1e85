package exec

import (
	"io"
	"os"
	osexec "os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// alive says whether pid is a process that runs or can run, no zombie.
func (w *world) alive(pid int) bool {
	state := stateOf("/proc/" + itoa(pid))
	return state != "" && state != "Z"
}

// stateOf is the letter that proc(5) has for the state of a process or thread,
// empty when there is none.
func stateOf(dir string) string {
	stat, err := os.ReadFile(dir + "/stat")
	_, state, found := strings.Cut(string(stat), ") ")
	if err != nil || !found {
		return ""
	}
	return state[:1]
}

func itoa(n int) string { return strconv.Itoa(n) }

// patience bounds the wait for what is certain to come; nothing waits so long.
const patience = time.Minute

// until waits for what another process does. There is no event to wait for in
// these cases, so it looks again and again, and lets others have the processor.
func (w *world) until(what string, pid int, holds func() bool) {
	for deadline := time.Now().Add(patience); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			w.t.Errorf("process %d is not %s", pid, what)
			return
		}
	}
}

// executed waits until the launch stage has become Node. Until then it is called
// as this process is, or as one of the programs that lead there.
func (w *world) executed(pid int) {
	ours, err := os.ReadFile("/proc/self/comm")
	w.must(err)
	before := []string{string(ours), "dash\n", "env\n", "sandbox-exec\n"}
	w.until("Node", pid, func() bool {
		name, err := os.ReadFile("/proc/" + itoa(pid) + "/comm")
		return err != nil || !slices.Contains(before, string(name))
	})
}

// atGate waits until Node, or its stand-in, reads from the gate: it has loaded all
// that is loaded before the program.
func (w *world) atGate(pid int) {
	reads := itoa(unix.SYS_READ) + " 0x0 "
	w.executed(pid)
	w.until("at the gate", pid, func() bool {
		call, err := os.ReadFile("/proc/" + itoa(pid) + "/syscall")
		return err != nil || strings.HasPrefix(string(call), reads)
	})
}

// gone waits until no process has this pid: it was reaped.
func (w *world) gone(pid int) { w.until("gone", pid, func() bool { return unix.Kill(pid, 0) != nil }) }

// halt stops a process, and returns when none of its threads goes on any more:
// SIGSTOP only asks for that, and what the process was doing it may finish. It
// asks again, since the kernel forgets a stop that meets the exec of a process
// with threads, as the launch stage is one.
func (w *world) halt(pid int) {
	w.until("stopped", pid, func() bool {
		w.must(unix.Kill(pid, unix.SIGSTOP))
		return standsStill(pid)
	})
}

// stopped waits until a process stopped itself.
func (w *world) stopped(pid int) { w.until("stopped", pid, func() bool { return standsStill(pid) }) }

// standsStill says whether every thread of a process is stopped, or in a wait
// that only a kill ends: the launch stage's thread waits so for the answer to
// its exec, from a thread that is stopped. One that is no more stands still.
func standsStill(pid int) bool {
	tasks := "/proc/" + itoa(pid) + "/task"
	threads, err := os.ReadDir(tasks)
	still := 0
	for _, thread := range threads {
		switch stateOf(tasks + "/" + thread.Name()) {
		case "T":
			still++
		case "D", "": // killable, or no more
		default:
			return false
		}
	}
	return err != nil || still > 0
}

// delayReap has another process keep this one from being reaped until the run
// is over.
func (w *world) delayReap(pid int) {
	w.after = append(w.after, func() { w.gone(pid) })
	w.seize(pid)
}

const tracerMark = "trace-from-outside"

// seize has another process trace pid. While it does not wait for it, the
// kernel keeps the dead process from its parent: the reap is delayed.
func (w *world) seize(pid int) {
	tracer := osexec.Command("/proc/self/exe", tracerMark, strconv.Itoa(pid))
	stdin, err := tracer.StdinPipe()
	w.must(err)
	stdout, err := tracer.StdoutPipe()
	w.must(err)
	tracer.Stderr = os.Stderr
	w.must(tracer.Start())
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil {
		w.t.Errorf("tracing %d: %v (a Yama ptrace_scope above 0 forbids it: sysctl kernel.yama.ptrace_scope=0)", pid, err)
	}
	w.after = append(w.after, func() {
		_ = stdin.Close()
		w.must(tracer.Wait())
	})
}

// trace is the tracer's side: it says when it holds the process and lets go
// when its stdin ends.
func trace(pid string) {
	runtime.LockOSThread()
	n, err := strconv.Atoi(pid)
	if err != nil {
		os.Exit(2)
	}
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(n), 0, 0, 0, 0); errno != 0 {
		println("PTRACE_SEIZE:", errno.Error())
		os.Exit(1)
	}
	os.Stdout.Write([]byte{'.'})
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
