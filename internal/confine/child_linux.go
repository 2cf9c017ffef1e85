package confine

import (
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fork makes the child, which performs the plan and does not come back; the parent goes on with its process id.
//
// The child is a copy of a process of many threads that has only one of them, as in syscall.forkAndExecInChild: it may make raw system calls
// and touch what was laid out before, and nothing else. Nothing here may grow the stack, allocate, take a lock or be preempted. That is what
// nosplit is for, and why every signal is blocked from before the fork: the Go runtime's handlers would run in a process without a runtime.
// The child itself resets and unblocks them (the step "signals"). The linker checks that the frames fit; those of a build without optimisation
// (-gcflags=-N) do not. Precondition: the caller holds syscall.ForkLock.
//
//go:nosplit
//go:norace
//go:nocheckptr
func fork(flags uintptr, steps []step, errnos *[maxErrno]string) (pid uintptr, e syscall.Errno) {
	blocked, before := ^uint64(0), uint64(0)
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&blocked)), uintptr(unsafe.Pointer(&before)), sigSetSize, 0, 0)
	pid, _, e = syscall.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 && e == 0 {
		perform(steps, errnos)
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&before)), 0, sigSetSize, 0, 0)
	return pid, e
}

// perform makes the calls in order, and refuses at the first that fails. The last is an exec: there is nothing after it.
//
//go:nosplit
//go:norace
//go:nocheckptr
func perform(steps []step, errnos *[maxErrno]string) {
	for i := range steps {
		for k := range steps[i].calls {
			c := &steps[i].calls[k]
			if c.format != nil {
				c.format.layOut()
			}
			for n, cell := range c.from {
				if cell != nil {
					c.args[n] = uintptr(*cell) // the child's own copy of the plan
				}
			}
			result, _, e := syscall.RawSyscall6(c.number, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], c.args[5])
			if e == unix.EACCES && c.denied != "" {
				refuse(steps[i].name, c.what, c.denied)
			}
			if e != 0 && e != c.passable {
				refuse(steps[i].name, c.what, errnos[min(e, maxErrno-1)])
			}
			if c.keep != nil {
				*c.keep = int32(result)
			}
			if c.exact && result != c.want || !c.found() {
				refuse(steps[i].name, c.what, c.differs)
			}
		}
	}
	refuse("bug", "", "the last step came back")
}

// found says whether what the call left in memory is what the plan demands.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (c *prepared) found() bool {
	for i := range c.facts {
		f := &c.facts[i]
		got := uint64(*(*uint32)(f.at))
		if f.wide {
			got = *(*uint64)(f.at)
		}
		if got&f.mask != f.want {
			return false
		}
	}
	return true
}

// refuse ends the process with its reason. Once the filter is on, these two calls are among the few that still work.
//
//go:nosplit
//go:norace
func refuse(step, what, reason string) {
	say("confined: ")
	say(step)
	say(": ")
	if what != "" {
		say(what)
		say(": ")
	}
	say(reason)
	say("\n")
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, RefusalCode, 0, 0, 0, 0, 0)
	}
}

//go:nosplit
//go:norace
func say(text string) {
	syscall.RawSyscall6(unix.SYS_WRITE, stderrFD, uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(len(text)), 0, 0, 0)
}

// limitText is the control text's eight lines, written by the child from what the kernel told it.
type limitText struct {
	limits [reported]limitRead
	text   [reported * 2 * longestLine]byte
	length int32
}

// limitRead is one limit as the kernel has it, and what the profile counts it in.
type limitRead struct {
	value unix.Rlimit
	unit  uint64
}

// longestLine is the bytes of the largest number and its end of line; "unlimited" is shorter.
const longestLine = 21

// layOut puts the lines down.
//
//go:nosplit
//go:norace
func (t *limitText) layOut() {
	n := 0
	for i := range t.limits {
		l := &t.limits[i]
		n = t.line(n, l.value.Cur, l.unit)
		n = t.line(n, l.value.Max, l.unit)
	}
	t.length = int32(n)
}

//go:nosplit
//go:norace
func (t *limitText) line(n int, value, unit uint64) int {
	if value == unix.RLIM_INFINITY {
		n += copyText(t.text[n:], "unlimited")
	} else {
		n += decimal(t.text[n:], value/unit)
	}
	t.text[n] = '\n'
	return n + 1
}

//go:nosplit
//go:norace
func copyText(to []byte, text string) int {
	for i := range len(text) {
		to[i] = text[i]
	}
	return len(text)
}

// decimal writes a number and returns how many digits it has.
//
//go:nosplit
//go:norace
func decimal(to []byte, value uint64) int {
	digits := 1
	for rest := value / 10; rest > 0; rest /= 10 {
		digits++
	}
	for i := digits - 1; i >= 0; i-- {
		to[i] = byte('0' + value%10)
		value /= 10
	}
	return digits
}

// maxErrno is one more than the largest error number that has a text.
const maxErrno = 134

// errnoTexts are what a refusal says: the child cannot look them up.
var errnoTexts = sync.OnceValue(func() *[maxErrno]string {
	var texts [maxErrno]string
	for i := range texts {
		texts[i] = syscall.Errno(i).Error()
	}
	return &texts
})
