package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
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

// launch plans the stage, forks the child that performs it, maps its ids and starts it.
func launch(i Instance) (*Process, error) {
	if err := checkIDs(i.profile, i.slot); err != nil {
		return nil, in("launch", err)
	}
	p, theirs, err := openEnds()
	if err != nil {
		return nil, in("launch: pipes", err)
	}
	s, err := newStage(i, theirs.inherited(i.image))
	if err == nil {
		err = p.fork(s)
	}
	theirs.close()
	if err != nil {
		p.close()
		return nil, in("launch", err)
	}
	if err := p.start(s); err != nil {
		return nil, errors.Join(err, p.giveUp())
	}
	p.asking.Go(p.consentOnce)
	return p, nil
}

// fork makes the child. ForkLock keeps it from being a copy at a moment when this process has a file open for writing that will be verified.
func (p *Process) fork(s *stage) error {
	texts := errnoTexts()
	syscall.ForkLock.Lock()
	pid, e := fork(unix.CLONE_NEWUSER|unix.CLONE_NEWNS, s.steps, texts)
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(s)
	if e != 0 {
		return explainSpawn(e)
	}
	p.PID = int(pid)
	return nil
}

// start waits until the child holds nothing of ours any more, maps its ids and gives it the word to go on. A child that is gone already says why
// on Stderr. Its handle is opened while it is a child of ours that nobody has reaped, so that its process id can mean no other.
func (p *Process) start(s *stage) (err error) {
	if p.Handle, err = os.FindProcess(p.PID); err != nil {
		return in("launch: handle", err)
	}
	gone, err := p.awaitChild()
	if err != nil {
		return in("launch: start", err)
	}
	if !gone {
		err = mapIDs(p.PID, s.profile)
	}
	if err != nil {
		return in("launch", explainSpawn(err))
	}
	_, _ = p.begin.Write([]byte{1})
	_ = p.begin.Close()
	return nil
}

// childPatience is how long a child may take to close what it has of ours. It takes some microseconds, unless somebody else stops it: then the
// run goes on to its own timeout.
const childPatience = time.Second

// awaitChild returns when the child has said that it holds nothing of ours, or is gone, or after childPatience. It waits in the kernel: the
// thread is this run's own.
func (p *Process) awaitChild() (gone bool, err error) {
	conn, err := p.lock.SyscallConn()
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

// giveUp ends the child, which waits for a word that does not come, and reaps it. It is killed because somebody may have stopped it. Without a
// handle its process id stands for it, as long as it is ours to reap.
func (p *Process) giveUp() error {
	p.close()
	if p.Handle == nil {
		_ = unix.Kill(p.PID, unix.SIGKILL)
		_, err := unix.Wait4(p.PID, nil, 0, nil)
		return err
	}
	_ = p.Handle.Kill()
	_, err := p.Handle.Wait()
	return err
}

// inner is the uid and gid of every confined process inside its namespace, the kernel's number for nobody.
const inner = 65534

// checkIDs makes sure that the profile's user is the one that the slot's files belong to, and nobody inside.
func checkIDs(p *profile, slot int) error {
	uid, gid := OuterID(slot)
	if p.user != (identity{inner, uint64(uid)}) || p.group != (identity{inner, uint64(gid)}) {
		return fmt.Errorf("identity: the profile has user %v and group %v, not %d as %d and %d", p.user, p.group, inner, uid, gid)
	}
	return nil
}

// mapIDs gives the child's user namespace its ids (user_namespaces(7)): nobody inside is the slot's user outside. A root daemon's child is uid 0
// besides, until it becomes nobody; an unprivileged daemon's is nobody from the start, and has every capability in there until it drops them.
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

// openEnds makes the four pipes, the pipe of the start and the socket of the exec lock: our ends in p, polled by the Go runtime, and the
// child's, blocking.
func openEnds() (p *Process, theirs *ends, err error) {
	p, theirs = &Process{}, &ends{}
	if err := errors.Join(openPipes(p, theirs), openLock(p, theirs)); err != nil {
		theirs.close()
		p.close()
		return nil, nil, err
	}
	return p, theirs, nil
}

func openPipes(p *Process, theirs *ends) error {
	for _, end := range []struct {
		ours, theirs **os.File
		weWrite      bool
		name         string
	}{
		{&p.Gate, &theirs.pipes[gateFD], true, "gate"},
		{&p.Stdout, &theirs.pipes[stdoutFD], false, "stdout"},
		{&p.Stderr, &theirs.pipes[stderrFD], false, "stderr"},
		{&p.Control, &theirs.pipes[controlFD], false, "control"},
		{&p.begin, &theirs.begin, true, "begin"},
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

func openLock(p *Process, theirs *ends) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return share(pair, &p.lock, &theirs.lock, "exec lock")
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
