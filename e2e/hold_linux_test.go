package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a daemon starts is itself for a few milliseconds, and Node.js without a
// program for a few more. A tracer stops it there, however busy the host is.

// hold starts r, and stops the process that the daemon starts for it as soon as
// at says so. at is asked before its first instruction, then at its signals, and
// when it has become another program, before that one's first instruction. It
// goes on when the daemon is dead.
func (d *daemon) hold(t *testing.T, r runRequest, at func(pid int) bool) (pid int) {
	t.Helper()
	follows, held := make(chan error, 1), make(chan int, 1)
	go func() {
		runtime.LockOSThread() // a tracer is a thread; it ends here, and lets all go on
		err := seize(d.cmd.Process.Pid)
		follows <- err
		if err == nil {
			held <- follow(d.cmd.Process.Pid, at)
		}
	}()
	if err := <-follows; err != nil {
		t.Fatalf("PTRACE_SEIZE of the daemon: %v (a Yama ptrace_scope above 1 forbids it: sysctl kernel.yama.ptrace_scope=1)", err)
	}
	d.launch(t, t.Context(), r)
	if pid = <-held; pid == 0 {
		t.Fatal("the daemon starts no process, or that does not get there")
	}
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
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

// seize makes this thread the tracer of every thread of a process, and of all
// that they start from now on. It is done when no thread is new.
func seize(pid int) error {
	const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC
	seized := map[int]bool{}
	for n := -1; n < len(seized); {
		n = len(seized)
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, task := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(task))
			if seized[tid] {
				continue
			}
			if err := ptrace(unix.PTRACE_SEIZE, tid, options); err != nil {
				return err
			}
			seized[tid] = true
		}
	}
	return nil
}

// follow returns the first process of a traced daemon, not a thread of its own,
// of which at says so. It is sent SIGSTOP. 0 is none.
func follow(daemon int, at func(pid int) bool) int {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0
		case pid == 0:
			time.Sleep(50 * time.Microsecond) // nothing has stopped
		case !status.Stopped(): // a thread has ended
		case !isThread(pid, daemon) && at(pid):
			_ = unix.Kill(pid, unix.SIGSTOP)
			return pid
		default:
			_ = ptrace(unix.PTRACE_CONT, pid, undelivered(status))
		}
	}
	return 0
}

func isThread(tid, pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", pid, tid))
	return err == nil
}

// undelivered is the signal for whose sake a tracee has stopped, 0 where it was
// for the sake of its tracer.
func undelivered(status unix.WaitStatus) uintptr {
	if status>>16 != 0 {
		return 0
	}
	return uintptr(status.StopSignal())
}

func ptrace(request, tid int, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
