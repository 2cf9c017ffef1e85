package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A tracer follows what a daemon does, however busy the host is. It is a
// process of its own, the test binary under another name: a tracer's own
// process, and nobody else, would take the stops of the daemon for its end.

// tracer is what such a process does. It says its first line when nothing of
// the daemon can escape it, and its end lets the daemon go.
type tracer func(daemon int, options []string) error

var tracers = map[string]tracer{
	holder:  holdChild,
	counter: countCalls,
}

// traced is a tracer of a daemon, at work.
type traced struct {
	cmd  *osexec.Cmd
	stop io.Closer // its standard input
	says io.Reader // its lines after the first
}

func (d *daemon) trace(t *testing.T, name string, options ...string) traced {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := osexec.CommandContext(ctx, self)
	cmd.Args = append([]string{name, strconv.Itoa(d.cmd.Process.Pid)}, options...)
	cmd.Stderr = os.Stderr
	stop, err := cmd.StdinPipe()
	must(t, err)
	says, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if _, err := fmt.Fscanln(says); err != nil {
		t.Fatal("the daemon cannot be traced, see above")
	}
	return traced{cmd, stop, says}
}

// run is the tracer's process.
func (f tracer) run(pid string, options []string) {
	runtime.LockOSThread() // a tracer is a thread
	daemon, err := strconv.Atoi(pid)
	if err == nil {
		err = f(daemon, options)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e: tracer:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// seize makes this thread the tracer of every thread of a process, and of all
// that they start from now on as far as options say so. It is done when no
// thread is new, and returns them.
func seize(pid int, options uintptr) (threads []int, err error) {
	seized := map[int]bool{}
	for n := -1; n < len(seized); {
		n = len(seized)
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		for _, task := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(task))
			if seized[tid] {
				continue
			}
			if err := seizeThread(tid, options); err != nil {
				return nil, err
			}
			seized[tid], threads = true, append(threads, tid)
		}
	}
	return threads, nil
}

// seizeThread makes this thread the tracer of another.
func seizeThread(tid int, options uintptr) error {
	if err := ptrace(unix.PTRACE_SEIZE, tid, options); err != nil {
		return fmt.Errorf("PTRACE_SEIZE of %d: %w (a Yama ptrace_scope above 0 forbids it: sysctl kernel.yama.ptrace_scope=0)", tid, err)
	}
	return nil
}

// nextStop waits until something that is traced stops.
func nextStop() (tid int, status unix.WaitStatus, err error) {
	for {
		tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if err == nil && !status.Stopped() || err == unix.EINTR { // a thread has ended
			continue
		}
		return tid, status, err
	}
}

// undelivered is the signal for whose sake a tracee has stopped, 0 where it was
// for the sake of its tracer.
func undelivered(status unix.WaitStatus) uintptr {
	if status>>16 != 0 || atCall(status) {
		return 0
	}
	return uintptr(status.StopSignal())
}

// atCall says whether a tracee has stopped at the start or the end of a system
// call: PTRACE_O_TRACESYSGOOD.
func atCall(status unix.WaitStatus) bool { return status.StopSignal() == unix.SIGTRAP|0x80 }

func ptrace(request, tid int, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
