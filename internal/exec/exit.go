package exec

import (
	"os"
	"runtime"
	"syscall"

	"confined/internal/confine"
)

// exitOf is none for a process that was not reaped.
func exitOf(state *os.ProcessState) *Exit {
	if state == nil {
		return nil
	}
	code, signal := confine.EndOf(state)
	if signal != "" {
		return &Exit{Signal: &signal}
	}
	return &Exit{Code: &code}
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
