package confine

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawn is the launch where programs perform the stage, as on macOS; on Linux the daemon's own child does, see linuxLaunch. It starts the
// first program, argv, in a session of its own, in dir, with an empty environment and four pipes. It returns once that program's exec
// succeeded. On error nothing was started, or what was started is gone, and nothing is left open.
func spawn(argv []string, dir string) (*Process, error) {
	p, theirs, err := plainEnds()
	if err == nil {
		err = closeAllOnExec()
	}
	if err == nil {
		err = p.startWatched(argv, dir, theirs)
	}
	closeAll(theirs)
	if err != nil {
		p.close()
		return nil, in("launch", err)
	}
	return p, nil
}

// plainEnds makes the four pipes: our ends in p, polled by the Go runtime, and the child's, by its numbers. All are close-on-exec. On
// error some may be open.
func plainEnds() (p *Process, theirs []*os.File, err error) {
	p, theirs = &Process{}, make([]*os.File, 4)
	for number, end := range []**os.File{&p.Gate, &p.Stdout, &p.Stderr, &p.Control} {
		r, w, err := os.Pipe()
		if err != nil {
			return p, theirs, err
		}
		if *end, theirs[number] = r, w; number == 0 {
			*end, theirs[number] = w, r
		}
	}
	return p, theirs, nil
}

// startWatched starts the program and watches for its end from before anybody can reap it.
func (p *Process) startWatched(argv []string, dir string, theirs []*os.File) error {
	handle, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir: dir, Env: []string{}, Files: theirs, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return err
	}
	watch, err := watchExit(handle.Pid)
	if err != nil {
		return errors.Join(in("watch", err), handle.Kill(), reap(handle))
	}
	p.Handle, p.PID, p.guard = handle, handle.Pid, &guard{watch: watch}
	return nil
}

func reap(handle *os.Process) error {
	_, err := handle.Wait()
	return err
}

// closeAllOnExec sees to it that no program that is started from now on inherits a descriptor above 2 that it was not given: one that the
// daemon's parent left open, or that some code opened without care. Go opens its own close-on-exec, or holds [syscall.ForkLock] until it
// has marked them, but for the connections that it accepts where there is no accept4, which the server sees to, and the file of the local
// time zone, which everybody may read. x/sys marks nothing: who calls it holds the lock (TestWhatOpensOnMacHoldsTheForkLock). The first
// three are replaced by a start.
//
// A descriptor so marked stays so. Taking the mark off after the start could hit another file, which took the number meanwhile, and let
// that one through to the next program.
func closeAllOnExec() error {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return in("descriptors", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return in("descriptors", err)
	}
	if !slices.Contains(names, strconv.Itoa(int(dir.Fd()))) {
		return errors.New("descriptors: /dev/fd does not list what is open")
	}
	for _, name := range names {
		if number, err := strconv.Atoi(name); err == nil && number > 2 {
			markCloseOnExec(number)
		}
	}
	return nil
}

// markCloseOnExec leaves other flags alone. A descriptor that was closed meanwhile needs no mark.
func markCloseOnExec(number int) {
	flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFD, 0)
	if err == nil && flags&unix.FD_CLOEXEC == 0 {
		_, _ = unix.FcntlInt(uintptr(number), unix.F_SETFD, flags|unix.FD_CLOEXEC)
	}
}
