package prove

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// awaitEnd returns once a child has ended. It is not reaped: until then its number, and that of its group, are nobody else's.
func awaitEnd(pid int) {
	const byNumber = 1  // P_PID
	var info [16]uint64 // siginfo_t has 128 bytes at most
	for {
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, byNumber, uintptr(pid), uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, 0, 0)
		if errno != unix.EINTR {
			return
		}
	}
}
