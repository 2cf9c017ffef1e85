package confine

import "golang.org/x/sys/unix"

// exitWatch sees a child of ours end, and leaves it for somebody to reap. Linux has no need of it (pidfds); it is here so that what is
// built on it can be tried.
type exitWatch struct{ pid int }

// watchExit begins to watch. Precondition: nobody has reaped the child.
func watchExit(pid int) (exitWatch, error) { return exitWatch{pid}, nil }

// wait returns when the child has ended. Call it once, before the child is reaped.
func (w exitWatch) wait() error {
	for {
		if err := unix.Waitid(unix.P_PID, w.pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return err
		}
	}
}
