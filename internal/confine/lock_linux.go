package confine

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlock denies this process everything that a ruleset of ABI 6 can, except the profile's rights. The mask is fixed: a newer kernel
// handles no more, so that one profile means one thing.
func (s *stage) landlock() {
	attr := landlockRuleset{fs: landlockHandledFS, net: landlockHandledNet, scoped: landlockScoped}
	ruleset := new(int32)
	s.call("create ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, unsafe.Pointer(&attr), unsafe.Sizeof(attr), 0).into(ruleset)
	for _, rule := range planLandlock(s.profile.entries) {
		s.addRule(ruleset, rule)
	}
	s.call("restrict", unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
	s.close(ruleset)
}

// landlockRuleset is struct landlock_ruleset_attr as of ABI 6.
type landlockRuleset struct{ fs, net, scoped uint64 }

func (s *stage) addRule(ruleset *int32, rule landlockRule) {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rule.access}
	s.call(rule.path, unix.SYS_OPENAT, here, rule.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0).into(&attr.Parent_fd)
	s.call(rule.path, unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&attr), 0)
	s.close(&attr.Parent_fd)
}

// lockExec puts on the filter that asks about each execveat, and gives the daemon the listener that is asked. It needs no_new_privs, and fails
// with EBUSY if a filter with a listener is already on this process, as under some container managers: the kernel allows one.
//
//	child                                    daemon
//	seccomp(NEW_LISTENER) → listener
//	sendmsg(listener) ─────────────────────→ recvmsg
//	execveat(node)
//	  the kernel asks the listener ────────→ ioctl(RECV)     is it that child's, of that descriptor?
//	  the kernel goes on ←─────────────────  ioctl(SEND, CONTINUE), once
//	Node                                     close: nobody is left to consent
//
// Once the listener has received a question, only a fatal signal makes the kernel withdraw it (WAIT_KILLABLE_RECV).
func (s *stage) lockExec() {
	arch, err := hostArchitecture()
	if err != nil {
		s.fail(err)
		return
	}
	message := newDonation()
	s.install("install", lockProgram(arch), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).into(&message.fd)
	s.call("hand the listener over", unix.SYS_SENDMSG, lockFD, unsafe.Pointer(&message.header), unix.MSG_NOSIGNAL).is(1, "was not sent")
	s.close(&message.fd)
	s.call("close", unix.SYS_CLOSE, lockFD)
}

// donation is a message that carries a descriptor (unix(7), SCM_RIGHTS).
type donation struct {
	header  unix.Msghdr
	data    unix.Iovec
	byte    byte
	control unix.Cmsghdr
	fd      int32 // right behind the header, as the kernel wants it
	_       int32 // to the multiple of eight that the length below counts
}

func newDonation() *donation {
	d := &donation{}
	d.data = unix.Iovec{Base: &d.byte, Len: 1}
	d.control = unix.Cmsghdr{Level: unix.SOL_SOCKET, Type: unix.SCM_RIGHTS, Len: uint64(unix.CmsgLen(4))}
	d.header = unix.Msghdr{Iov: &d.data, Iovlen: 1, Control: (*byte)(unsafe.Pointer(&d.control)), Controllen: uint64(unix.CmsgSpace(4))}
	return d
}

// install puts a filter on this process.
func (s *stage) install(what string, program []instruction, flags int) *prepared {
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	return s.call(what, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, unsafe.Pointer(&filter))
}

// filterAndExec puts the profile's filter on and spends the one exec on Node. The filter knows the process by its id, which the child learns
// by asking, and writes into its own copy of the program: the daemon's serves all runs.
func (s *stage) filterAndExec() {
	program, err := s.profile.filter.child()
	if err != nil {
		s.fail(err)
		return
	}
	for _, i := range program.own {
		s.call("process id", unix.SYS_GETPID).into((*int32)(unsafe.Pointer(&program.instructions[i].k)))
	}
	s.install("install", program.instructions, 0)
	s.call("execveat", unix.SYS_EXECVEAT, nodeFD, "", s.words(s.argv), s.words(s.environment()), unix.AT_EMPTY_PATH)
}

func (s *stage) environment() []string {
	var words []string
	for _, v := range s.profile.environment {
		words = append(words, v.name+"="+v.value)
	}
	return words
}

// words lays out a list of strings as exec takes it.
func (s *stage) words(words []string) unsafe.Pointer {
	list := make([]uintptr, len(words)+1)
	for i, word := range words {
		list[i] = s.text(word)
	}
	return unsafe.Pointer(&list[0])
}
