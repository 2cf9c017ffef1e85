package exec

import (
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

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

// fileLimit is more than go test's own log of what the tests open comes to, which
// is a file of this process too, and grows by some 2 MiB with each table.
const fileLimit = 12 << 20

// limitFiles bounds the files this process may write: an error, no signal.
func (w *world) limitFiles() {
	signal.Ignore(syscall.SIGXFSZ)
	w.after = append(w.after, func() { signal.Reset(syscall.SIGXFSZ) })
	w.limit(unix.RLIMIT_FSIZE, fileLimit)
}
