package confine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func openLauncher() (*os.File, error) {
	f, err := os.Open("/proc/self/exe")
	return f, in("open this program's binary", err)
}

// launch starts the stage in a new user and mount namespace, with the four pipes and nothing else.
func launch(i Instance, launcher *os.File) (*Process, error) {
	p, theirs, err := openPipes()
	if err != nil {
		return nil, in("launch: pipes", err)
	}
	defer closeAll(theirs)
	// The launcher is one of the child's files, so that its number is kept for it. A number of this process is not: between fork and exec
	// os.StartProcess moves what the child needs to the numbers above, whatever is there.
	files := slices.Concat(theirs, []*os.File{launcher})
	argv := append([]string{stageMarker, strconv.Itoa(os.Getpid()), i.text}, i.argv...)
	p.process, err = os.StartProcess("/proc/self/fd/"+strconv.Itoa(launcherFD), argv, &os.ProcAttr{Env: []string{}, Files: files, Sys: namespaces(i.slot)})
	if err != nil {
		p.close()
		return nil, explainSpawn(err)
	}
	p.PID = p.process.Pid
	return p, nil
}

// inner is the uid and gid of every confined process inside its namespace, the kernel's number for nobody.
const inner = 65534

// namespaces asks for a user namespace in which the process can be root for the time of the stage, and a mount namespace that it owns. A
// root daemon's stage is uid 0 there, and the dedicated uid is nobody; an unprivileged daemon's is nobody from the start, with the two
// capabilities it needs held across the exec of the stage.
func namespaces(slot int) *syscall.SysProcAttr {
	uid, gid := OuterID(slot)
	attr := &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: inner, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: inner, HostID: gid, Size: 1}},
	}
	if os.Geteuid() != 0 {
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
		return attr
	}
	root := syscall.SysProcIDMap{ContainerID: 0, HostID: 0, Size: 1}
	attr.UidMappings = append(attr.UidMappings, root)
	attr.GidMappings = append(attr.GidMappings, root)
	attr.GidMappingsEnableSetgroups = true
	return attr
}

// explainSpawn adds what the kernel's answer means here.
func explainSpawn(err error) error {
	switch {
	case errors.Is(err, unix.EPERM):
		return &HostError{"a user namespace is refused to the daemon: " + err.Error(), refusalCure()}
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		return &HostError{"no further user namespace is allowed to the daemon: " + err.Error(), cureNamespaceCount}
	case errors.Is(err, unix.E2BIG):
		return fmt.Errorf("launch: profile and arguments are more than a quarter of the daemon's own limit of stack (raise ulimit -s, LimitSTACK=): %w", err)
	}
	return in("launch", err)
}

// openPipes makes the four pipes: our ends in p, polled by the Go runtime, and the child's ends by descriptor number, blocking.
func openPipes() (p *Process, theirs []*os.File, err error) {
	p = &Process{}
	ends := []struct {
		ours   **os.File
		writes bool // we write
		name   string
	}{{&p.Gate, true, "gate"}, {&p.Stdout, false, "stdout"}, {&p.Stderr, false, "stderr"}, {&p.Control, false, "control"}}
	for _, end := range ends {
		var pair [2]int
		if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
			p.close()
			closeAll(theirs)
			return nil, nil, err
		}
		our, their := pair[0], pair[1]
		if end.writes {
			our, their = their, our
		}
		err := unix.SetNonblock(our, true)
		*end.ours = os.NewFile(uintptr(our), end.name)
		theirs = append(theirs, os.NewFile(uintptr(their), end.name))
		if err != nil {
			p.close()
			closeAll(theirs)
			return nil, nil, err
		}
	}
	return p, theirs, nil
}

func (p *Process) close() {
	closeAll([]*os.File{p.Gate, p.Control, p.Stdout, p.Stderr})
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
