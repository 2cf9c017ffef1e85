package e2e

import (
	"fmt"
	"os"
	osexec "os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Surroundings in which a daemon finds itself in a container. The test binary,
// started under one of these names, makes them of its own process and then is
// the command that follows.
const (
	countedNamespaces = "e2e-counted-namespaces" // N: in a user namespace that allows N more
	systemCallFilter  = "e2e-system-call-filter" // FLAGS: clone and unshare with any of them fail, as in Docker
	overlayHome       = "e2e-overlay-home"       // DIR: DIR/home is an overlay of DIR/lower and DIR/upper
)

// surround is called first thing by TestMain. It returns in a test.
func surround() {
	if f, ok := tracers[os.Args[0]]; ok {
		f.run(os.Args[1], os.Args[2:])
	}
	act, ok := map[string]func(string) error{
		countedNamespaces: func(n string) error { return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte(n), 0) },
		systemCallFilter:  denyFlags,
		overlayHome:       mountOverlay,
	}[os.Args[0]]
	if !ok {
		return
	}
	runtime.LockOSThread() // the thread that changes is the one that goes on
	err := act(os.Args[1])
	if err == nil {
		err = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
	if err == nil {
		err = syscall.Exec(os.Args[2], os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "e2e: surroundings:", err)
	os.Exit(1)
}

// inside makes a command run in such surroundings. A user namespace is made
// here, so that what is done in it needs no privilege.
func inside(t *testing.T, name, argument string) func(*osexec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(cmd *osexec.Cmd) {
		cmd.Args = append([]string{name, argument, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = self
		if name == systemCallFilter {
			return
		}
		const ordinary = 1000 // inside: the daemon is nobody special there
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: ordinary, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: ordinary, HostID: os.Getegid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE},
		}
	}
}

// denyFlags is the part of Docker's default filter that user namespaces meet.
func denyFlags(flags string) error {
	mask, err := strconv.ParseUint(flags, 0, 32)
	if err != nil {
		return err
	}
	const load, equal, anyOf, give = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // the call's number
		{Code: equal, K: unix.SYS_CLONE3, Jt: 4},
		{Code: equal, K: unix.SYS_CLONE, Jt: 1},
		{Code: equal, K: unix.SYS_UNSHARE, Jf: 4},
		{Code: load, K: 16}, // its first argument
		{Code: anyOf, K: uint32(mask), Jt: 1, Jf: 2},
		{Code: give, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: give, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: give, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return e
	}
	return nil
}

func mountOverlay(dir string) error {
	for _, sub := range []string{"lower", "upper", "work", "home"} {
		if err := os.Mkdir(dir+"/"+sub, 0o700); err != nil && !os.IsExist(err) {
			return err
		}
	}
	return unix.Mount("overlay", dir+"/home", "overlay", 0, "userxattr,lowerdir="+dir+"/lower,upperdir="+dir+"/upper,workdir="+dir+"/work")
}
