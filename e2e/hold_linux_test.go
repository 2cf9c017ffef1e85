package e2e

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// What a daemon starts is itself for a few milliseconds, and Node.js without a
// program for a few more. A tracer stops it there, however busy the host is. It
// is a process of its own, the test binary under another name: a tracer's own
// process, and nobody else, would take the stops of the daemon for its end.
const tracer = "e2e-tracer" // DAEMON BECOME

// hold starts r, and stops the process that the daemon starts for it: before its
// first instruction, or where become says so, before the first instruction of
// another program than the daemon's. It goes on when the daemon is dead.
func (d *daemon) hold(t *testing.T, r runRequest, become bool) (pid int) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := osexec.CommandContext(ctx, self)
	cmd.Args = []string{tracer, strconv.Itoa(d.cmd.Process.Pid), strconv.FormatBool(become)}
	cmd.Stderr = os.Stderr
	says, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if _, err := fmt.Fscanln(says); err != nil {
		t.Fatal("the daemon cannot be traced, see above")
	}
	d.launch(t, t.Context(), r)
	_, none := fmt.Fscanln(says, &pid)
	if err := cmd.Wait(); err != nil || none != nil {
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

// trace is what the tracer does: it says a line when nothing of the daemon can
// escape it, and the pid when it has sent SIGSTOP. Its end lets all of them go.
func trace(pid string, become bool) error {
	runtime.LockOSThread() // a tracer is a thread
	daemon, err := strconv.Atoi(pid)
	if err == nil {
		err = seize(daemon)
	}
	if err != nil {
		return fmt.Errorf("PTRACE_SEIZE of %s: %w (a Yama ptrace_scope above 0 forbids it: sysctl kernel.yama.ptrace_scope=0)", pid, err)
	}
	fmt.Println()
	child, err := follow(daemon, become)
	if err == nil {
		err = unix.Kill(child, unix.SIGSTOP)
	}
	fmt.Println(child)
	return err
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
// when it stops for the first time, or has become another program.
func follow(daemon int, become bool) (pid int, err error) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case !status.Stopped(): // a thread has ended
		case !isThread(pid, daemon) && (!become || becameAnother(pid, daemon)):
			return pid, nil
		default:
			_ = ptrace(unix.PTRACE_CONT, pid, undelivered(status))
		}
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
