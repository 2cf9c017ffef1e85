package prove

import (
	"fmt"
	osexec "os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// victim is a process for others to act on.
type victim struct {
	pid  int
	word string        // in its environment
	gone chan struct{} // closed once it is reaped
	cmd  *osexec.Cmd
}

// newVictim starts one that belongs to u. It ends by itself soon after any suite would.
func newVictim(u user) (*victim, error) {
	v := &victim{word: random(), gone: make(chan struct{})}
	v.cmd = as(u, osexec.Command("sleep", "300"))
	v.cmd.Env = []string{"WORD=" + v.word}
	if err := v.cmd.Start(); err != nil {
		return nil, fmt.Errorf("a process to act on: %w", err)
	}
	v.pid = v.cmd.Process.Pid
	go func() {
		defer close(v.gone)
		_ = v.cmd.Wait()
	}()
	return v, nil
}

// end takes it away.
func (v *victim) end() {
	_ = v.cmd.Process.Kill()
	<-v.gone
}

// dead says whether a signal ended it.
func (v *victim) dead() bool {
	select {
	case <-v.gone:
		return true
	default:
		return false
	}
}

// nice is the priority of a process in Node's terms, from -20 to 19.
func nice(pid int) string {
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
	if err != nil {
		return err.Error()
	}
	if runtime.GOOS == "linux" {
		priority = 20 - priority // which the system call is told by, never negative
	}
	return strconv.Itoa(priority)
}

// policyField is how a process is scheduled, of [statOf].
const policyField = 38

// stat is a field of Linux's /proc/PID/stat, counted from the state; empty where there is no /proc, or no such process.
func (v *victim) stat(field int) string {
	fields := statOf(v.pid)
	if field >= len(fields) {
		return ""
	}
	return fields[field]
}

// state is T for a process that is stopped, Z for one that has ended, another letter for others; what cannot be seen is none of these.
func (v *victim) state() string {
	if here("linux") {
		return v.stat(0)
	}
	return stateOf(processOf(v.pid))
}

// stateOf is the state that the kernel's table has of a process, or why it has none.
func stateOf(p process, err error) string {
	if err != nil {
		return "? " + err.Error()
	}
	return p.state
}

// stop establishes that the process is stopped and that the host sees it: a state that is never seen could not be seen to change either.
func (v *victim) stop() error {
	if err := unix.Kill(v.pid, unix.SIGSTOP); err != nil {
		return fmt.Errorf("stop a process of the suite: %w", err)
	}
	if !within(patience, func() bool { return v.state() == "T" }) {
		return fmt.Errorf("SIGSTOP does not stop a process of the suite: its state is %q", v.state())
	}
	return nil
}

// statOf are the fields of /proc/PID/stat from the state on. The name before them may hold anything, also spaces and parentheses.
func statOf(pid int) []string {
	text, _ := readText(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
}
