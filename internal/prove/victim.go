package prove

import (
	"fmt"
	"os"
	osexec "os/exec"
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

// nice is the priority of a process, as the kernel says it.
func nice(pid int) string {
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
	return fmt.Sprint(priority, err)
}

// stateOf is the state of a process in one letter, empty where there is no /proc.
func stateOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}
