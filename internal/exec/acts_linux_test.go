package exec

import (
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childEnd opens, from outside, the pipe that a process has on a descriptor.
func (w *world) childEnd(pid, descriptor, flags int) *os.File {
	path := "/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(descriptor)
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		w.t.Fatalf("open %s: %v", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	w.after = append(w.after, func() { _ = f.Close() })
	return f
}

// send writes to a descriptor of a process as a forger would.
func (w *world) send(pid, descriptor int, text string) {
	f := w.childEnd(pid, descriptor, unix.O_WRONLY)
	_, err := f.WriteString(text)
	w.must(err)
	w.must(f.Close())
}

// measured waits until the launch stage has reported its limits: from then on
// the process is on its way to the gate and writes nothing until it is open.
func (w *world) measured(pid int) {
	f := w.childEnd(pid, 3, unix.O_RDONLY)
	text := w.spec.Bounds.asked().text()
	for waiting := 0; waiting < len(text); runtime.Gosched() {
		var err error
		if waiting, err = unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ); err != nil || !w.alive(pid) {
			w.t.Fatalf("process %d reported %d bytes of %q, %v", pid, waiting, text, err)
		}
	}
	w.must(f.Close())
}

// text is what a launch stage that has these limits reports.
func (m MeasuredLimits) text() string {
	var b strings.Builder
	for _, p := range []LimitPair{m.CPUSeconds, m.Descriptors, m.CoreBlocks, m.FileBlocks} {
		b.WriteString(p.Soft.String() + "\n" + p.Hard.String() + "\n")
	}
	return b.String()
}

// alive says whether pid is a process that runs or can run, no zombie.
func (w *world) alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, found := strings.Cut(string(stat), ") ")
	return err == nil && found && !strings.HasPrefix(state, "Z")
}

// flood writes to a descriptor of a process until its pipe takes no more.
func (w *world) flood(pid, descriptor int) {
	f := w.childEnd(pid, descriptor, unix.O_WRONLY)
	for {
		if _, err := unix.Write(int(f.Fd()), make([]byte, 4096)); err != nil {
			if !errors.Is(err, unix.EAGAIN) {
				w.t.Error(err)
			}
			return
		}
	}
}

// breakOurEnd puts a directory where this process reads what the child writes
// to a descriptor: the next read fails with EISDIR.
func (w *world) breakOurEnd(pid, descriptor int) {
	theirs := w.childEnd(pid, descriptor, unix.O_WRONLY)
	var want unix.Stat_t
	w.must(unix.Fstat(int(theirs.Fd()), &want))
	w.must(theirs.Close())
	dir, err := os.Open(w.root)
	w.must(err)
	defer dir.Close()
	broken := 0
	for _, fd := range openDescriptors(w.t) {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Dev == want.Dev && st.Ino == want.Ino {
			w.must(unix.Dup3(int(dir.Fd()), fd, unix.O_CLOEXEC))
			broken++
		}
	}
	if broken != 1 {
		w.t.Errorf("%d descriptors of this process read the child's descriptor %d, want 1", broken, descriptor)
	}
}

func openDescriptors(t testing.TB) (fds []int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		fds = append(fds, fd)
	}
	return fds
}

// limit lowers a soft limit of this process until the run is over.
func (w *world) limit(resource int, soft uint64) {
	var old unix.Rlimit
	w.must(unix.Getrlimit(resource, &old))
	w.must(unix.Setrlimit(resource, &unix.Rlimit{Cur: soft, Max: old.Max}))
	w.after = append(w.after, func() { w.must(unix.Setrlimit(resource, &old)) })
}

// leaveDescriptors takes descriptors of this process until only n are left.
func (w *world) leaveDescriptors(n int) {
	highest := 0
	for _, fd := range openDescriptors(w.t) {
		highest = max(highest, fd)
	}
	w.limit(unix.RLIMIT_NOFILE, uint64(highest+n+1))
	var taken []int
	w.after = append(w.after, func() {
		for _, fd := range taken {
			_ = unix.Close(fd)
		}
	})
	for {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
		if errors.Is(err, unix.EMFILE) {
			break
		}
		w.must(err)
		taken = append(taken, fd)
	}
	for range n {
		_ = unix.Close(taken[len(taken)-1])
		taken = taken[:len(taken)-1]
	}
}

// once calls act when an entry is created (or deleted) in dir, from a goroutine
// that waits for it, before anything else is done in this process. name limits
// it to one entry; empty means any.
func (w *world) once(dir string, mask uint32, name string, act func()) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	w.must(err)
	_, err = unix.InotifyAddWatch(fd, dir, mask)
	w.must(err)
	var acted sync.WaitGroup
	acted.Add(1)
	go func() {
		defer acted.Done()
		defer unix.Close(fd)
		buf := make([]byte, 64<<10)
		for {
			if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 60_000); n == 0 || err != nil && !errors.Is(err, unix.EINTR) {
				w.t.Errorf("nothing happened in %s: %v", dir, err)
				return
			}
			n, err := unix.Read(fd, buf)
			if err != nil {
				w.t.Error(err)
				return
			}
			if name == "" || strings.Contains(string(buf[:n]), name) {
				act()
				return
			}
		}
	}()
	w.after = append(w.after, acted.Wait)
}

// lease takes a write lease on a file: from now on opening it would have to
// wait, and an open that does not wait fails.
func (w *world) lease(path string) {
	f, err := os.Open(path)
	w.must(err)
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	w.must(err)
	w.after = append(w.after, func() { _ = f.Close() })
}

// freezeRoot keeps the root's names as they are: by its mode for an ordinary
// user, by the immutable attribute for root, to whom no directory is closed.
func (w *world) freezeRoot() {
	if os.Geteuid() != 0 {
		w.must(os.Chmod(w.root, 0o500))
		w.after = append(w.after, func() { w.must(os.Chmod(w.root, 0o700)) })
		return
	}
	const immutable = 0x10 // FS_IMMUTABLE_FL
	dir, err := os.Open(w.root)
	w.must(err)
	flags, err := unix.IoctlGetInt(int(dir.Fd()), unix.FS_IOC_GETFLAGS)
	w.must(err)
	w.must(unix.IoctlSetPointerInt(int(dir.Fd()), unix.FS_IOC_SETFLAGS, flags|immutable))
	w.after = append(w.after, func() {
		w.must(unix.IoctlSetPointerInt(int(dir.Fd()), unix.FS_IOC_SETFLAGS, flags))
		w.must(dir.Close())
	})
}

const tracerMark = "trace-from-outside"

// seize has another process trace pid. While it does not wait for it, the
// kernel keeps the dead process from its parent: the reap is delayed.
func (w *world) seize(pid int) {
	tracer := osexec.Command("/proc/self/exe", tracerMark, strconv.Itoa(pid))
	stdin, err := tracer.StdinPipe()
	w.must(err)
	stdout, err := tracer.StdoutPipe()
	w.must(err)
	tracer.Stderr = os.Stderr
	w.must(tracer.Start())
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil {
		w.t.Errorf("tracing %d: %v (a Yama ptrace_scope above 0 forbids it: sysctl kernel.yama.ptrace_scope=0)", pid, err)
	}
	w.after = append(w.after, func() {
		_ = stdin.Close()
		w.must(tracer.Wait())
	})
}

// trace is the tracer's side: it says when it holds the process and lets go
// when its stdin ends.
func trace(pid string) {
	runtime.LockOSThread()
	n, err := strconv.Atoi(pid)
	if err != nil {
		os.Exit(2)
	}
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(n), 0, 0, 0, 0); errno != 0 {
		println("PTRACE_SEIZE:", errno.Error())
		os.Exit(1)
	}
	os.Stdout.Write([]byte{'.'})
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// gone waits until no process has this pid.
func (w *world) gone(pid int) {
	deadline := time.Now().Add(10 * time.Second)
	for unix.Kill(pid, 0) == nil {
		if time.Now().After(deadline) {
			w.t.Errorf("process %d is still there", pid)
			return
		}
		runtime.Gosched()
	}
}
