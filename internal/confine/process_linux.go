package confine

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// takeDescriptors moves what the child is given to the numbers it knows them by, and closes all else that it has as a copy of the daemon:
// at once, since the copies hold other runs' pipes open and other slots' locks. It says so to the daemon, which waits for it.
func (s *stage) takeDescriptors() {
	if s.inherit.image >= 0 { // first, since its number may be one of those
		s.call("", unix.SYS_DUP3, int(s.inherit.image), nodeFD, unix.O_CLOEXEC).unless(unix.EINVAL) // it is that one already
	}
	for number, fd := range s.inherit.ends {
		s.call("", unix.SYS_DUP3, int(fd), number, 0)
	}
	s.call("", unix.SYS_DUP3, int(s.inherit.lock), lockFD, unix.O_CLOEXEC)
	s.call("", unix.SYS_DUP3, int(s.inherit.begin), beginFD, unix.O_CLOEXEC)
	if s.inherit.image < 0 {
		s.call("", unix.SYS_CLOSE_RANGE, nodeFD, nodeFD, 0)
	}
	s.call("", unix.SYS_CLOSE_RANGE, lastFD+1, uintptr(^uint32(0)), 0)
	s.call("", unix.SYS_WRITE, lockFD, "1", 1)
}

// awaitIDs waits for the daemon's word that this user namespace has its ids.
func (s *stage) awaitIDs() {
	word := new([1]byte)
	s.call("", unix.SYS_READ, beginFD, unsafe.Pointer(word), 1).is(1, "the daemon has given up")
	s.call("", unix.SYS_CLOSE, beginFD)
}

// newSession leaves the daemon's session and process group.
func (s *stage) newSession() { s.call("", unix.SYS_SETSID) }

// resetSignals gives every signal its default action and unblocks all of them. A handler would become the default at exec by itself, an
// ignored signal would stay ignored, and the Go runtime's handlers must not run here.
func (s *stage) resetSignals() {
	var byDefault sigaction
	for signal := 1; signal <= 64; signal++ {
		if signal != int(unix.SIGKILL) && signal != int(unix.SIGSTOP) {
			s.call("", unix.SYS_RT_SIGACTION, signal, unsafe.Pointer(&byDefault), 0, sigSetSize)
		}
	}
	s.call("", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, unsafe.Pointer(new(uint64)), 0, sigSetSize)
}

// sigaction is the kernel's struct on both architectures; its zero value is SIG_DFL.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

const sigSetSize = 8 // bytes

// resetPersonality turns off what a daemon may have inherited and an exec keeps: no randomised addresses, readable implies executable.
func (s *stage) resetPersonality() { s.call("", unix.SYS_PERSONALITY, 0) }

// setOOM writes the two /proc files of a process that exec preserves. Raising the score needs no right.
func (s *stage) setOOM() {
	s.writeProc("oom_score_adj", number(s.profile.oomScoreAdj))
	s.writeProc("coredump_filter", number(s.profile.coredumpFilter))
}

func (s *stage) writeProc(name, content string) {
	fd := new(int32)
	s.call(name, unix.SYS_OPENAT, here, "/proc/self/"+name, unix.O_WRONLY|unix.O_CLOEXEC).into(fd)
	s.write(name, fd, content)
	s.close(fd)
}

// openNode sees to it that Node is descriptor nodeFD: the sealed copy, which must be the one that the profile names, or the file where the
// profile has it in the new root.
func (s *stage) openNode() {
	if image, sealed := s.profile.first(kindImage); sealed {
		s.identify(image.path, nodeFD, unix.S_IFREG, image.id)
		return
	}
	fd := new(int32)
	s.call(s.profile.executable, unix.SYS_OPENAT, here, s.profile.executable, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0).into(fd)
	s.call(s.profile.executable, unix.SYS_DUP3, fd, nodeFD, unix.O_CLOEXEC).unless(unix.EINVAL) // it is that one already
}

// securebits, from linux/securebits.h: bit 0 uid 0 means nothing, 2 a change of uid changes no capability, 4 (left off) none survives it, 6
// none becomes ambient; each with its lock, the bit above.
const securebits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7

// dropAll leaves the process without privilege and without a way to any: the profile's uid and gid, five empty capability sets, locked
// securebits, no_new_privs.
func (s *stage) dropAll() {
	s.call("securebits", unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, securebits, 0, 0, 0)
	s.dropBounding()
	s.becomeNobody()
	s.call("ambient set", unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	s.call("capset", unix.SYS_CAPSET, unsafe.Pointer(&header), unsafe.Pointer(&none))
	s.call("no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// dropBounding drops every capability that a kernel can have: the two words of a set hold 64. Past the last that it knows is EINVAL.
func (s *stage) dropBounding() {
	for capability := range 64 {
		c := s.call("bounding set", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if capability > unix.CAP_CHECKPOINT_RESTORE {
			c.unless(unix.EINVAL)
		}
	}
}

// becomeNobody takes on the profile's ids. An unprivileged daemon's child has them already; the kernel forbids it setgroups, so the
// daemon's supplementary groups stay, with nothing in sight that they could open.
func (s *stage) becomeNobody() {
	uid, gid := int(s.profile.user.inside), int(s.profile.group.inside)
	if s.asRoot {
		s.call("setgroups", unix.SYS_SETGROUPS, 0, 0)
	}
	s.call("setresgid", unix.SYS_SETRESGID, gid, gid, gid)
	s.call("setresuid", unix.SYS_SETRESUID, uid, uid, uid)
}

// dieWithParent asks for SIGKILL at the end of the daemon's thread, and then makes sure that it had not ended before.
func (s *stage) dieWithParent() {
	s.call("", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, int(unix.SIGKILL), 0, 0, 0)
	s.call("", unix.SYS_GETPPID).is(s.daemon, "our parent is not the daemon, which ended")
}

// resource is a limit of the profile as the kernel counts it.
type resource struct {
	name  string
	which int
	unit  uint64 // bytes, seconds or pieces in one unit of the profile
	value uint64
	asked bool // by the request, not fixed by the profile
}

const blockSize = 512

// resources lists all limits, the reported ones first.
func (s *stage) resources() []resource {
	l := s.profile.limits
	return []resource{
		{"cpu", unix.RLIMIT_CPU, 1, l.cpu, true},
		{"descriptors", unix.RLIMIT_NOFILE, 1, l.descriptors, true},
		{"core", unix.RLIMIT_CORE, blockSize, l.core, false},
		{"file", unix.RLIMIT_FSIZE, blockSize, l.file, false},
		{"threads", unix.RLIMIT_NPROC, 1, l.threads, false},
		{"stack", unix.RLIMIT_STACK, 1, l.stack, false},
		{"memlock", unix.RLIMIT_MEMLOCK, 1, l.memlock, false},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, 1, l.msgqueue, false},
		{"sigpending", unix.RLIMIT_SIGPENDING, 1, l.sigpending, false},
		{"data", unix.RLIMIT_DATA, 1, l.data, false},
	}
}

const reported = 4

// setLimits makes soft and hard limits the profile's. It comes after the root's own files are written (file) and the sources are opened
// (descriptors). A value that was asked for and is above the hard limit that the daemon itself is under is not forced: the report will say
// what is in force, and the host will not open the gate.
func (s *stage) setLimits() {
	for _, r := range s.resources() {
		limit := unix.Rlimit{Cur: r.value * r.unit, Max: r.value * r.unit}
		c := s.call(r.name, unix.SYS_PRLIMIT64, 0, r.which, unsafe.Pointer(&limit), 0)
		if r.asked {
			c.unless(unix.EPERM)
		}
	}
}

// readCanary shows that this user may read the canary. Its content does not matter.
func (s *stage) readCanary() {
	canary, there := s.profile.first(kindCanary)
	if !there {
		s.fail(errors.New("the profile has none"))
		return
	}
	fd := new(int32)
	s.call("", unix.SYS_OPENAT, here, canary.path, unix.O_RDONLY|unix.O_CLOEXEC).into(fd)
	s.call("", unix.SYS_READ, fd, unsafe.Pointer(new(byte)), 1).is(1, "is empty")
	s.close(fd)
}

// report reads the limits back and writes the eight lines of the control text.
func (s *stage) report() {
	text := &limitText{}
	for i, r := range s.resources()[:reported] {
		text.limits[i].unit = r.unit
		s.call(r.name, unix.SYS_PRLIMIT64, 0, r.which, 0, unsafe.Pointer(&text.limits[i].value))
	}
	s.call("", unix.SYS_WRITE, controlFD, unsafe.Pointer(&text.text), &text.length).format = text
}
