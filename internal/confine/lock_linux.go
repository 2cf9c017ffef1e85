package confine

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlock denies this thread everything that a ruleset of ABI 6 can, except the profile's rights. The mask is fixed: a newer kernel
// handles no more, so that one profile means one thing.
func (s *stage) landlock() error {
	attr := landlockRuleset{fs: landlockHandledFS, net: landlockHandledNet, scoped: landlockScoped}
	ruleset, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return in("create ruleset", e)
	}
	defer unix.Close(int(ruleset))
	for _, rule := range planLandlock(s.profile.entries) {
		if err := addRule(ruleset, rule); err != nil {
			return in(rule.path, err)
		}
	}
	_, _, e = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0)
	return in("restrict", orNil(e))
}

// landlockRuleset is struct landlock_ruleset_attr as of ABI 6.
type landlockRuleset struct{ fs, net, scoped uint64 }

func addRule(ruleset uintptr, rule landlockRule) error {
	fd, err := unix.Open(rule.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rule.access, Parent_fd: int32(fd)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	return orNil(e)
}

// filterAndExec puts the filter on this thread and spends its one exec on Node:
//
//	this thread                              the other thread
//	seccomp(NEW_LISTENER) → listener ──────→ ioctl(RECV)            waits
//	execveat(node)                           ...it is our execveat?
//	  the kernel asks the listener ────────→ ioctl(SEND, CONTINUE)
//	  ends the other thread, closes the
//	  listener: nobody is left to consent
//	Node
//
// Both threads must be able to run: execveat is made as a call that gives its processor to others of the Go runtime while it waits.
func (s *stage) filterAndExec() error {
	arch, err := hostArchitecture()
	if err != nil {
		return err
	}
	program, err := s.profile.filter.compile(arch, uint32(unix.Getpid()))
	if err != nil {
		return err
	}
	exec, err := s.prepareExec()
	if err != nil {
		return err
	}
	go s.consentOnce(unix.Gettid())
	listener, err := installFilter(program)
	if err != nil {
		return in("install", err)
	}
	s.listener <- listener
	return in("execveat", exec())
}

// prepareExec lays out the arguments of the last call, so that nothing is allocated after the filter is on.
func (s *stage) prepareExec() (func() error, error) {
	argv, err := syscall.SlicePtrFromStrings(s.argv)
	if err != nil {
		return nil, err
	}
	var environment []string
	for _, v := range s.profile.environment {
		environment = append(environment, v.name+"="+v.value)
	}
	envp, err := syscall.SlicePtrFromStrings(environment)
	if err != nil {
		return nil, err
	}
	empty := new(byte)
	return func() error {
		_, _, e := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(s.node), uintptr(unsafe.Pointer(empty)),
			uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envp[0])), unix.AT_EMPTY_PATH, 0)
		return e
	}, nil
}

// installFilter needs no_new_privs. It fails with EBUSY if a filter with a listener is already on this thread, as under some container
// managers: the kernel allows one. Once the listener has received a question, only a fatal signal makes the kernel withdraw it.
func installFilter(program []instruction) (listener int, err error) {
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&filter)))
	return int(fd), orNil(e)
}

// notification is struct seccomp_notif.
type notification struct {
	id                 uint64
	pid, flags         uint32
	number             int32
	architecture       uint32
	instructionPointer uint64
	arguments          [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// consentOnce runs on another thread, on which there is no filter. It waits for the first execveat, makes sure that it is the one this
// stage means to make, and lets it run. It consents no second time: it ends with the exec. A signal before the question is received makes the
// kernel withdraw it and ask again; that is ENOENT, and no consent was given.
func (s *stage) consentOnce(caller int) {
	listener := <-s.listener
	for {
		err := s.consent(listener, caller)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINTR) {
			refuse("exec lock", err)
		}
	}
}

func (s *stage) consent(listener, caller int) error {
	var n notification
	if err := notifyControl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
		return in("receive", err)
	}
	if err := s.recognise(n, caller); err != nil {
		return err
	}
	yes := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	return in("send", notifyControl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&yes)))
}

func (s *stage) recognise(n notification, caller int) error {
	if n.pid != uint32(caller) || n.number != unix.SYS_EXECVEAT || n.arguments[0] != uint64(s.node) || n.arguments[4] != unix.AT_EMPTY_PATH {
		return fmt.Errorf("a call that is not ours: %+v", n)
	}
	return nil
}

func notifyControl(listener int, request uintptr, argument unsafe.Pointer) error {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), request, uintptr(argument))
	return orNil(e)
}
