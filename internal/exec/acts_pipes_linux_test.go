package exec

import (
	"errors"
	"os"
	"runtime"
	"strings"

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

// holdsItsPipes waits until each descriptor of a process is the pipe that it is for
// good: the shell of macOS has the control pipe on 1, too, while it reports.
func (w *world) holdsItsPipes(pid int) {
	if w.byPath() {
		w.atGate(pid)
	}
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
		// All reported, it may be a zombie for a moment: the exec is by another thread than the first.
		if waiting, err = unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ); err != nil || waiting < len(text) && !w.alive(pid) {
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
	w.holdsItsPipes(pid)
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
