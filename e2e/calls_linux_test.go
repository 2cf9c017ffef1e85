package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perFile is how often a daemon of root makes a system call for one more file
// of a run, from the upload to the removal. It is written once, read back
// twice, and removed; docs/performance.md has the sum.
var perFile = calls{
	unix.SYS_OPENAT: 3, unix.SYS_FCNTL: 3, unix.SYS_CLOSE: 3, // fcntl is package os, which asks about each file that it opens
	unix.SYS_FSTAT: 4, unix.SYS_NEWFSTATAT: 2,
	unix.SYS_WRITE: 1, unix.SYS_PREAD64: 2,
	unix.SYS_FCHOWN:   1, // by root alone: a run has a user of its own
	unix.SYS_UNLINKAT: 1,
}

// anyTimes are the calls that are made more often where a host is busy: to
// wait, as the threads of a daemon do for one another, to get memory, and to
// read an upload as it comes.
var anyTimes = []uint64{
	unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_SCHED_YIELD, unix.SYS_EPOLL_PWAIT, unix.SYS_TGKILL, unix.SYS_GETPID, unix.SYS_RT_SIGRETURN,
	unix.SYS_MMAP, unix.SYS_MADVISE, unix.SYS_READ, unix.SYS_CLONE, unix.SYS_CLONE3, unix.SYS_SIGALTSTACK, unix.SYS_RT_SIGPROCMASK, unix.SYS_GETTID,
}

// TestCallsPerFile: one more file costs a daemon the system calls that it is
// known to cost. A time says little on a host that is busy or on a disk where
// much was just removed; this is the same everywhere, and a sync, a walk or a
// look more for each file is in it. What is read(2) by a file is not: an upload
// is.
func TestCallsPerFile(t *testing.T) {
	t.Parallel()
	const few, many = 200, 700
	d := startDaemon(t)
	less, more := d.calls(t, fileHeavy(t, d, few)), d.calls(t, fileHeavy(t, d, many))
	total, all := 0.0, maps.Clone(more)
	maps.Copy(all, perFile)
	for call := range all {
		if slices.Contains(anyTimes, call) {
			continue
		}
		want, got := perFile[call], float64(more[call]-less[call])/(many-few)
		if call == unix.SYS_FCHOWN && os.Geteuid() != 0 {
			want = 0
		}
		if math.Abs(got-float64(want)) > 0.2 { // directories, and what a run does whatever its files are
			t.Errorf("system call %d is made %.2f times for each file, want %d", call, got, want)
		}
		total += got
	}
	t.Logf("%.2f system calls for each file", total)
}

// calls is how often each system call was made, by its number.
type calls map[uint64]int

// counter is a tracer that counts the system calls of a daemon until its
// standard input ends. It does not follow what the daemon starts.
const counter = "e2e-counter" // DAEMON

// calls counts those of d while it carries out j.
func (d *daemon) calls(t *testing.T, j job) calls {
	t.Helper()
	x := d.trace(t, counter)
	a, err := d.exchange(d.newRun(t, t.Context(), j.runRequest))
	must(t, err)
	must(t, j.judgeAnswer(a))
	must(t, x.stop.Close())
	var made calls
	must(t, json.NewDecoder(x.says).Decode(&made))
	must(t, x.cmd.Wait())
	return made
}

func countCalls(daemon int, _ []string) error {
	threads, err := seize(daemon, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACESYSGOOD)
	if err != nil {
		return err
	}
	for _, tid := range threads { // from the next stop on it stops at calls
		_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0)
	}
	var mutex sync.Mutex
	made := calls{}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		mutex.Lock()
		_ = json.NewEncoder(os.Stdout).Encode(made)
		os.Exit(0)
	}()
	fmt.Println()
	for {
		tid, status, err := nextStop()
		if err != nil {
			return err
		}
		if call, ok := begun(tid); ok && atCall(status) {
			mutex.Lock()
			made[call]++
			mutex.Unlock()
		}
		_ = ptrace(unix.PTRACE_SYSCALL, tid, undelivered(status))
	}
}

// begun is the number of the system call that a stopped thread is about to
// make.
func begun(tid int) (call uint64, ok bool) {
	var info struct { // struct ptrace_syscall_info, ptrace(2)
		op       uint8
		arch     uint32
		ip, sp   uint64
		number   uint64
		argument [6]uint64
		more     uint64
	}
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	return info.number, errno == 0 && info.op == unix.PTRACE_SYSCALL_INFO_ENTRY
}
