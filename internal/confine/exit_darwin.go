package confine

import "golang.org/x/sys/unix"

// exitWatch sees a child of ours end, and leaves it for somebody to reap.
type exitWatch struct{ queue int } // of the kernel's events; -1 if the child had ended before the watch began

// watchExit begins to watch. Precondition: nobody has reaped the child. The kernel then knows the id as this child's, or as nobody's once
// the child has ended (ESRCH). By XNU's source (kern_exit.c) a child that ends is first found by no id any more, then its watchers are told,
// and only then its parent: so no end falls between the two answers. The descriptor is not inherited by a fork (kqueue(2)).
func watchExit(pid int) (exitWatch, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return exitWatch{}, err
	}
	unix.CloseOnExec(queue)
	exit := unix.Kevent_t{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD, Fflags: unix.NOTE_EXIT}
	switch _, err := kevent(queue, []unix.Kevent_t{exit}, nil); err {
	case nil:
		return exitWatch{queue}, nil
	case unix.ESRCH:
		return exitWatch{-1}, unix.Close(queue)
	default:
		_ = unix.Close(queue)
		return exitWatch{}, err
	}
}

// wait returns when the child has ended. Call it once, before the child is reaped. The event may come a moment before the child can be
// reaped, which [os.Process.Wait] waits for.
func (w exitWatch) wait() error {
	if w.queue < 0 {
		return nil
	}
	defer unix.Close(w.queue)
	_, err := kevent(w.queue, nil, make([]unix.Kevent_t, 1))
	return err
}

// kevent goes on after a signal.
func kevent(queue int, changes, events []unix.Kevent_t) (int, error) {
	for {
		if n, err := unix.Kevent(queue, changes, events, nil); err != unix.EINTR {
			return n, err
		}
	}
}
