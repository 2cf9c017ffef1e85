package exec

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// childEnd opens, from outside, the pipe that a process has on a descriptor.
func (w *world) childEnd(pid, descriptor, flags int) *os.File {
	path := "/proc/" + itoa(pid) + "/fd/" + itoa(descriptor)
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

// flood writes to a descriptor of a process until its pipe takes no more.
func (w *world) flood(pid, descriptor int) {
	f := w.childEnd(pid, descriptor, unix.O_WRONLY)
	var err error
	for err == nil {
		_, err = unix.Write(int(f.Fd()), make([]byte, 4096))
	}
	if !errors.Is(err, unix.EAGAIN) {
		w.t.Error(err)
	}
	w.must(f.Close())
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
