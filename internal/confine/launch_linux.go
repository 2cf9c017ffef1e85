package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// ownBinary is this program's own file, which is what launches: the one that runs, whatever its path leads to now.
func ownBinary() ([]pins.Launcher, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, in("open this program's binary", err)
	}
	return []pins.Launcher{{Path: f.Name(), File: f}}, nil
}

// child is a process on its way to Node, with our ends of what only its launch needs.
type child struct {
	*Process
	begin  *os.File       // the pipe on which it is told to go on
	lock   *os.File       // the socket of the exec lock
	asking sync.WaitGroup // until nobody can consent to an exec any more
}

// launch plans the stage, forks the child that performs it, maps its ids and starts it.
func (l linuxLaunch) launch() (*Process, error) {
	if err := checkIDs(l.profile, l.slot); err != nil {
		return nil, in("launch", err)
	}
	c, theirs, err := openEnds()
	if err != nil {
		return nil, in("launch: pipes", err)
	}
	s, err := newStage(l, theirs.inherited(l.image))
	if err == nil {
		err = c.fork(s)
	}
	theirs.close()
	if err != nil {
		c.close()
		return nil, in("launch", err)
	}
	if err := c.start(s); err != nil {
		return nil, errors.Join(err, c.giveUp())
	}
	return c.asks(), nil
}

// asks has the child's one question answered, until it was reaped.
func (c *child) asks() *Process {
	c.asking.Go(c.consentOnce)
	c.reaped = func() {
		_ = c.lock.Close() // wakes consentOnce, if the child never came to ask
		c.asking.Wait()
	}
	return c.Process
}

func (c *child) close() {
	c.Process.close()
	closeAll([]*os.File{c.begin, c.lock})
}

// fork makes the child. ForkLock keeps it from being a copy at a moment when this process has a file open for writing that will be
// verified.
func (c *child) fork(s *stage) error {
	texts := errnoTexts()
	syscall.ForkLock.Lock()
	pid, e := fork(unix.CLONE_NEWUSER|unix.CLONE_NEWNS, s.steps, texts)
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(s)
	if e != 0 {
		return explainSpawn(e)
	}
	c.PID = int(pid)
	return nil
}

// start waits until the child holds nothing of ours any more, maps its ids and gives it the word to go on. A child that is gone already
// says why on Stderr. Its handle is opened while it is a child of ours that nobody has reaped, so that its process id can mean no other.
func (c *child) start(s *stage) (err error) {
	if c.Handle, err = os.FindProcess(c.PID); err != nil {
		return in("launch: handle", err)
	}
	gone, err := c.awaitChild()
	if err != nil {
		return in("launch: start", err)
	}
	if !gone {
		err = mapIDs(c.PID, s.profile)
	}
	if err != nil {
		return in("launch", explainSpawn(err))
	}
	_, _ = c.begin.Write([]byte{1})
	_ = c.begin.Close()
	return nil
}

// childPatience is how long a child may take to close what it has of ours. It takes some microseconds, unless somebody else stops it: then
// the run goes on to its own timeout.
const childPatience = time.Second

// awaitChild returns when the child has said that it holds nothing of ours, or is gone, or after childPatience. It waits in the kernel: the
// thread is this run's own.
func (c *child) awaitChild() (gone bool, err error) {
	conn, err := c.lock.SyscallConn()
	if err != nil {
		return false, err
	}
	err = conn.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for deadline := time.Now().Add(childPatience); ; {
			left := max(0, time.Until(deadline))
			if _, err := unix.Poll(polled, int(left.Milliseconds())); err != unix.EINTR {
				break
			}
		}
		n, err := unix.Read(int(fd), make([]byte, 1))
		gone = n == 0 && err == nil
	})
	return gone, err
}

// giveUp ends the child, which waits for a word that does not come, and reaps it. It is killed because somebody may have stopped it.
// Without a handle its process id stands for it, as long as it is ours to reap.
func (c *child) giveUp() error {
	c.close()
	if c.Handle == nil {
		_ = unix.Kill(c.PID, unix.SIGKILL)
		_, err := unix.Wait4(c.PID, nil, 0, nil)
		return err
	}
	_ = c.Handle.Kill()
	_, err := c.Handle.Wait()
	return err
}

// inner is the uid and gid of every confined process inside its namespace, the kernel's number for nobody.
const inner = 65534

// checkIDs makes sure that the profile's user is the one that the slot's files belong to, and nobody inside.
func checkIDs(p *profile, slot int) error {
	uid, gid := outerID(slot)
	if p.user != (identity{inner, uint64(uid)}) || p.group != (identity{inner, uint64(gid)}) {
		return fmt.Errorf("identity: the profile has user %v and group %v, not %d as %d and %d", p.user, p.group, inner, uid, gid)
	}
	return nil
}

// mapIDs gives the child's user namespace its ids (user_namespaces(7)): nobody inside is the slot's user outside. A root daemon's child is
// uid 0 besides, until it becomes nobody; an unprivileged daemon's is nobody from the start, and has every capability in there until it
// drops them.
func mapIDs(pid int, p *profile) error {
	also, groups := "", "deny"
	if os.Geteuid() == 0 {
		also, groups = "0 0 1\n", "allow"
	}
	for _, file := range []struct{ name, text string }{
		{"setgroups", groups}, {"uid_map", p.user.mapping() + also}, {"gid_map", p.group.mapping() + also},
	} {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/%s", pid, file.name), []byte(file.text), 0); err != nil {
			return err
		}
	}
	return nil
}

func (i identity) mapping() string { return fmt.Sprintf("%d %d 1\n", i.inside, i.outside) }

// explainSpawn adds what the kernel's answer means here.
func explainSpawn(err error) error {
	switch {
	case errors.Is(err, unix.EPERM):
		return &HostError{"a user namespace is refused to the daemon: " + err.Error(), refusalCure()}
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		return &HostError{"no further user namespace is allowed to the daemon: " + err.Error(), cureNamespaceCount}
	}
	return err
}

// ends are the child's, each under a number above those that the child moves them to.
type ends struct {
	pipes       [4]*os.File
	lock, begin *os.File
}

func (e *ends) inherited(image *os.File) inherited {
	g := inherited{image: -1, lock: descriptor(e.lock), begin: descriptor(e.begin)}
	for n, f := range e.pipes {
		g.ends[n] = descriptor(f)
	}
	if image != nil {
		g.image = descriptor(image)
	}
	return g
}

// descriptor is the number of an open file. Fd of a file that the runtime polls would make it blocking; those here never are polled.
func descriptor(f *os.File) int32 { return int32(f.Fd()) }

func (e *ends) close() {
	closeAll(append(e.pipes[:], e.lock, e.begin))
	*e = ends{}
}

// openEnds makes the four pipes, the pipe of the start and the socket of the exec lock: our ends in c, polled by the Go runtime, and the
// child's, blocking.
func openEnds() (c *child, theirs *ends, err error) {
	c, theirs = &child{Process: &Process{}}, &ends{}
	err = openPipes(c, theirs)
	if err == nil {
		err = openLock(c, theirs)
	}
	if err != nil {
		theirs.close()
		c.close()
		return nil, nil, err
	}
	return c, theirs, nil
}

func openPipes(c *child, theirs *ends) error {
	for _, end := range []struct {
		ours, theirs **os.File
		weWrite      bool
		name         string
	}{
		{&c.Gate, &theirs.pipes[gateFD], true, "gate"},
		{&c.Stdout, &theirs.pipes[stdoutFD], false, "stdout"},
		{&c.Stderr, &theirs.pipes[stderrFD], false, "stderr"},
		{&c.Control, &theirs.pipes[controlFD], false, "control"},
		{&c.begin, &theirs.begin, true, "begin"},
	} {
		var pair [2]int
		if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		if end.weWrite {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if err := share(pair, end.ours, end.theirs, end.name); err != nil {
			return err
		}
	}
	return nil
}

func openLock(c *child, theirs *ends) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return share(pair, &c.lock, &theirs.lock, "exec lock")
}

// share keeps the first of a pair for us and moves the second out of the way of the child's numbers.
func share(pair [2]int, ours, theirs **os.File, name string) error {
	moved, err := unix.FcntlInt(uintptr(pair[1]), unix.F_DUPFD_CLOEXEC, lastFD+1)
	unix.Close(pair[1])
	if err == nil {
		*theirs = os.NewFile(uintptr(moved), name)
		err = unix.SetNonblock(pair[0], true)
	}
	*ours = os.NewFile(uintptr(pair[0]), name)
	return err
}
