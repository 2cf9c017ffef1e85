package confine

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// EndOf is how a process ended that was reaped: by an exit code, or with the code -1 by a signal of that name.
func EndOf(state *os.ProcessState) (code int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, signalName(status.Signal())
	}
	return state.ExitCode(), ""
}

// signalName is SIGKILL and so on. Real-time signals, which a program can end itself with too, have no name of their own and are SIG and
// their number.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s))
}
