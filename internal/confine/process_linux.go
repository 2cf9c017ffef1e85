package confine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resetSignals gives every signal its default action and unblocks all of them on this thread, the one that will be Node's main thread. A
// handler becomes the default at exec by itself, an ignored signal stays ignored; so only those are touched, and the Go runtime keeps
// its handlers until then. Except for SIGURG, by which it preempts its own threads: the default, to discard it, keeps it from interrupting
// the last call.
func (s *stage) resetSignals() error {
	if err := rtSigaction(uintptr(unix.SIGURG), &sigaction{}, nil); err != nil {
		return err
	}
	for number := uintptr(1); number <= 64; number++ {
		if err := stopIgnoring(number); err != nil {
			return fmt.Errorf("signal %d: %w", number, err)
		}
	}
	return unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil)
}

// resetPersonality turns off what a daemon may have inherited and an exec keeps: no randomised addresses, readable implies executable.
func (s *stage) resetPersonality() error {
	_, _, e := unix.RawSyscall(unix.SYS_PERSONALITY, 0, 0, 0)
	return orNil(e)
}

// sigaction is the kernel's struct on both architectures.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

const (
	sigIgnore  = 1 // SIG_IGN; SIG_DFL is 0
	sigSetSize = 8 // bytes
)

func stopIgnoring(number uintptr) error {
	var action sigaction
	if err := rtSigaction(number, nil, &action); err != nil || action.handler != sigIgnore {
		return err
	}
	return rtSigaction(number, &sigaction{}, nil)
}

func rtSigaction(number uintptr, set, get *sigaction) error {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), sigSetSize, 0, 0)
	return orNil(e)
}

func orNil(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// checkIdentity compares the id maps of this user namespace with the profile: the ids that the process will have are those outside, too,
// that the host meant, and by the profile's rules never 0.
func (s *stage) checkIdentity() error {
	for file, want := range map[string]identity{"uid_map": s.profile.user, "gid_map": s.profile.group} {
		text, err := os.ReadFile("/proc/self/" + file)
		if err != nil {
			return err
		}
		if !mapsPair(string(text), want) {
			return fmt.Errorf("%s does not map %d to %d alone", file, want.inside, want.outside)
		}
	}
	return nil
}

// mapsPair says whether an id map holds the given pair, as a range of one.
func mapsPair(text string, want identity) bool {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == number(want.inside) && f[1] == number(want.outside) && f[2] == "1" {
			return true
		}
	}
	return false
}

// securebits, from linux/securebits.h: bit 0 uid 0 means nothing, 2 a change of uid changes no capability, 4 (left off) none survives it, 6
// none becomes ambient; each with its lock, the bit above.
const securebits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7

// dropAll leaves this thread without privilege and without a way to any: the profile's uid and gid, five empty capability sets, locked
// securebits, no_new_privs. All calls act on this thread alone.
func (s *stage) dropAll() error {
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, securebits, 0, 0, 0); err != nil {
		return in("securebits", err)
	}
	if err := dropBounding(); err != nil {
		return in("bounding set", err)
	}
	if err := s.becomeNobody(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return in("ambient set", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return in("capset", err)
	}
	return in("no_new_privs", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
}

func dropBounding() error {
	for capability := uintptr(0); ; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && capability > unix.CAP_CHECKPOINT_RESTORE {
			return nil // past the last that this kernel knows
		}
		if err != nil {
			return err
		}
	}
}

// becomeNobody takes on the profile's ids. An unprivileged daemon's stage has them already; the kernel forbids it setgroups, so the
// daemon's supplementary groups stay, with nothing in sight that they could open.
func (s *stage) becomeNobody() error {
	uid, gid := uintptr(s.profile.user.inside), uintptr(s.profile.group.inside)
	if unix.Getuid() == 0 {
		if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); e != 0 {
			return in("setgroups", e)
		}
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); e != 0 {
		return in("setresgid", e)
	}
	_, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid)
	return in("setresuid", orNil(e))
}

// dieWithParent asks for SIGKILL at the end of the daemon's thread, and then makes sure that it had not ended before.
func (s *stage) dieWithParent() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if parent := unix.Getppid(); parent != s.daemon {
		return fmt.Errorf("process %d is our parent, not the daemon, %d", parent, s.daemon)
	}
	return nil
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

// resources lists all limits but the one of memory, the reported ones first.
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
	}
}

const reported = 4

// setLimits sets them. It comes after the root's own files are written (file) and the sources are opened (descriptors).
func (s *stage) setLimits() error {
	for _, r := range s.resources() {
		if err := r.set(); err != nil {
			return in(r.name, err)
		}
	}
	return nil
}

// set makes soft and hard limit the profile's. A value that was asked for and is above the hard limit that the daemon itself is under is
// not forced: the report will say what is in force, and the host will not open the gate.
func (r resource) set() error {
	limit := unix.Rlimit{Cur: r.value * r.unit, Max: r.value * r.unit}
	err := unix.Prlimit(0, r.which, &limit, nil)
	if r.asked && errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}

// limitMemory bounds private writable memory.
func (s *stage) limitMemory() error {
	return resource{"data", unix.RLIMIT_DATA, 1, s.profile.limits.data, false}.set()
}

// report reads the limits back and writes the eight lines of the control text.
func (s *stage) report() error {
	var text strings.Builder
	for _, r := range s.resources()[:reported] {
		var limit unix.Rlimit
		if err := unix.Prlimit(0, r.which, nil, &limit); err != nil {
			return in(r.name, err)
		}
		text.WriteString(r.line(limit.Cur) + r.line(limit.Max))
	}
	n, err := unix.Write(controlFD, []byte(text.String()))
	if err == nil && n != text.Len() {
		err = errors.New("cut short")
	}
	return err
}

func (r resource) line(v uint64) string {
	if v == unix.RLIM_INFINITY {
		return "unlimited\n"
	}
	return strconv.FormatUint(v/r.unit, 10) + "\n"
}
