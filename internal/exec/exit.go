package exec

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func exitOf(state *os.ProcessState) *Exit {
	if state == nil {
		return nil
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		name := signalName(ws.Signal())
		return &Exit{Signal: &name}
	}
	code := state.ExitCode()
	return &Exit{Code: &code}
}

// signalName is SIGKILL and so on. Real-time signals, which a program can end
// itself with too, have no name of their own and are SIG and their number.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s))
}

func usageOf(state *os.ProcessState) *Usage {
	if state == nil {
		return nil
	}
	u := &Usage{User: state.UserTime(), System: state.SystemTime()}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.MaxRSSBytes = int64(r.Maxrss) * maxRSSUnit()
	}
	return u
}

// maxRSSUnit is the unit of ru_maxrss in bytes: getrusage(2) counts kilobytes
// on Linux and bytes on macOS.
func maxRSSUnit() int64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1024
}
