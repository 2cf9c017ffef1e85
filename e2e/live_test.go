package e2e

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Programs that the host watches while they run. Their output reaches nobody
// before they end, so they speak by calling themselves something (process.title
// is the process's name in /proc), and go on, or end, at SIGUSR2.

// waiting is the JavaScript of a program that calls itself title and ends well
// at SIGUSR2.
func waiting(title string) string {
	return `setInterval(() => {}, 1 << 30); process.on('SIGUSR2', () => process.exit(0)); process.title = '` + title + `'; `
}

// bootDaemon starts a daemon like startDaemonIn, but leaves its end to the test.
// surroundings may change the command before it starts.
func bootDaemon(t testing.TB, p places, surroundings func(*osexec.Cmd), options ...option) *daemon {
	t.Helper()
	d := newDaemon(t, p, options...)
	if surroundings != nil {
		surroundings(d.cmd)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.exited)
		_ = d.cmd.Wait()
	}()
	d.awaitReady(t)
	return d
}

// live is a run whose program the host has found alive.
type live struct {
	*pending
	d    *daemon
	r    runRequest
	pid  int
	drop context.CancelFunc // drops the connection
}

// live starts r and returns once its program calls itself title.
func (d *daemon) live(t testing.TB, r runRequest, title string) *live {
	t.Helper()
	ctx, drop := context.WithCancel(t.Context())
	l := &live{pending: d.launch(t, ctx, r), d: d, r: r, drop: drop}
	t.Cleanup(drop)
	l.pid = d.awaitProgram(t, title, l.done, func() string { return fmt.Sprintf("%v %.3000s", l.err, l.a.body) })
	return l
}

// awaitProgram is the pid of the program of this daemon that calls itself title.
// over, which may be nil, is closed when its run was answered, and said is how.
func (d *daemon) awaitProgram(t testing.TB, title string, over <-chan struct{}, said func() string) (pid int) {
	t.Helper()
	poll(t, func() bool {
		select {
		case <-over:
			t.Fatalf("the run ended before its program was seen: %s", said())
		default:
		}
		for _, p := range childrenOf(d.cmd.Process.Pid) {
			if titleOf(p.pid) == title {
				pid = p.pid
			}
		}
		return pid != 0
	}, func() string { return "no program calls itself " + title })
	return pid
}

// release lets the program go on and returns its result, which must be right.
func (l *live) release(t testing.TB) result {
	t.Helper()
	tell(t, l.pid)
	got := l.answer(t, l.d).result(t)
	l.d.mustBeRight(t, l.r, got)
	return got
}

// tell sends the signal that the programs of these tests wait for.
func tell(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGUSR2); err != nil {
		t.Fatalf("SIGUSR2 to %d: %v", pid, err)
	}
}

func titleOf(pid int) string {
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSuffix(string(name), "\n")
}

func awaitTitle(t testing.TB, pid int, title string) {
	t.Helper()
	poll(t, func() bool {
		if gone(pid) {
			t.Fatalf("process %d is gone before it called itself %s", pid, title)
		}
		return titleOf(pid) == title
	}, func() string { return fmt.Sprintf("process %d calls itself %q, not %q", pid, titleOf(pid), title) })
}

// within says whether ok did within limit. It asks again every millisecond.
func within(limit time.Duration, ok func() bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return ok()
		}
	}
	return true
}
