package e2e

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// What a daemon starts is itself for a few milliseconds, and Node.js without a
// program for a few more. This tracer stops it there. BECOME says where.
const holder = "e2e-holder" // DAEMON BECOME

// hold starts r, and stops the process that the daemon starts for it: before
// its first instruction, or where become says so, before the first instruction
// of another program than the daemon's. It goes on when the daemon is dead.
func (d *daemon) hold(t *testing.T, r runRequest, become bool) (pid int) {
	t.Helper()
	x := d.trace(t, holder, strconv.FormatBool(become))
	d.launch(t, t.Context(), r)
	_, none := fmt.Fscanln(x.says, &pid)
	if err := x.cmd.Wait(); err != nil || none != nil {
		t.Fatalf("no process was held: %v, %v", err, none)
	}
	handle, err := unix.PidfdOpen(pid, 0)
	must(t, err)
	t.Cleanup(func() { unix.Close(handle) })
	poll(t, func() bool {
		p, ok := readProcess(fmt.Sprintf("/proc/%d/stat", pid))
		return ok && p.state == "T"
	}, func() string { return "the process does not stop" })
	goOnLater(d, handle)
	return pid
}

// goOnLater lets a suspended process go on as soon as the daemon is dead. It
// may be so early that it still holds what the daemon had open.
func goOnLater(d *daemon, handle int) {
	go func() {
		within(patience, func() bool {
			p, ok := readProcess(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
			return !ok || p.state == "Z"
		})
		_ = unix.PidfdSendSignal(handle, unix.SIGCONT, nil, 0)
	}()
}

// holdChild is what the tracer does: it says the pid when it has sent SIGSTOP.
func holdChild(daemon int, options []string) error {
	_, err := seize(daemon, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACEFORK|unix.PTRACE_O_TRACEVFORK|unix.PTRACE_O_TRACEEXEC)
	if err != nil {
		return err
	}
	fmt.Println()
	child, err := follow(daemon, options[0] == "true")
	if err == nil {
		err = unix.Kill(child, unix.SIGSTOP)
	}
	fmt.Println(child)
	return err
}

// follow returns the first process of a traced daemon, not a thread of its own,
// when it stops for the first time, or has become another program.
func follow(daemon int, become bool) (pid int, err error) {
	for {
		pid, status, err := nextStop()
		if err != nil || !isThread(pid, daemon) && (!become || becameAnother(pid, daemon)) {
			return pid, err
		}
		_ = ptrace(unix.PTRACE_CONT, pid, undelivered(status))
	}
}

// becameAnother says whether a process executes another file than the daemon.
func becameAnother(pid, daemon int) bool {
	own, err1 := os.Stat(fmt.Sprintf("/proc/%d/exe", daemon))
	its, err2 := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	return err1 == nil && err2 == nil && !os.SameFile(own, its)
}

func isThread(tid, pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", pid, tid))
	return err == nil
}
