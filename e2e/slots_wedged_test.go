//go:build linux

package e2e

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReleaseOfALeftover: after a kill -9 the next daemon releases what is
// left, but not while the program, which the kernel was to end, is still there,
// as when something keeps it from ending.
func TestReleaseOfALeftover(t *testing.T) {
	t.Parallel()
	d := bootDaemon(t, newPlaces(t), nil)
	run := d.live(t, d.script(t, waiting("leftover")), "leftover")
	letGo := wedge(t, run.pid)
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !d.wait(patience) {
		t.Fatal("the daemon does not end")
	}
	d.client.CloseIdleConnections()
	awaitWedged(t, run.pid)
	d = startDaemonIn(t, d.places)
	shown := d.slot(t, "slot-0")
	if shown.Slot.State != "leftover" || !slices.Equal(shown.Users, []int{run.pid}) {
		t.Errorf("%+v, want the user %d", shown, run.pid)
	}
	d.mustRefuse(t, "slot-0", "slot-busy", "process "+strconv.Itoa(run.pid), shown.etag)
	letGo()
	poll(t, func() bool { return len(d.slot(t, "slot-0").Users) == 0 }, func() string { return "the program does not end" })
	d.mustRelease(t, "slot-0", shown.etag)
}

// TestReleaseOfUnresolved: a process that could not be seen gone keeps its slot
// from being released for as long as it is there.
func TestReleaseOfUnresolved(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := d.script(t, waiting("unresolved"))
	r.id = "unresolved"
	run := d.live(t, r, "unresolved")
	letGo := wedge(t, run.pid)
	if got := d.cancel(t, r.id); got != 202 {
		t.Fatalf("the run is not cancelled: %d", got)
	}
	got := run.answer(t, d).result(t)
	if got.Status != "unresolved" || got.Namespace == nil || got.Namespace.Reason != "unresolved" {
		t.Fatalf("%+v", got)
	}
	awaitWedged(t, run.pid)
	shown := d.slot(t, "slot-0")
	if shown.Slot.State != "quarantined" || shown.Slot.RunID != got.RunID || !slices.Equal(shown.Users, []int{run.pid}) {
		t.Errorf("%+v, want the user %d", shown, run.pid)
	}
	d.mustRefuse(t, "slot-0", "slot-busy", "process "+strconv.Itoa(run.pid), shown.etag)
	letGo()
	poll(t, func() bool { return len(d.slot(t, "slot-0").Users) == 0 }, func() string { return "the program does not end" })
	d.mustRelease(t, "slot-0", shown.etag)
}

// wedge keeps a process from ending: killed, it stops on its way out with all
// that it has, until it is let go.
func wedge(t *testing.T, pid int) (letGo func()) {
	t.Helper()
	seized, release, done := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // a tracer is a thread
		seized <- seizeThread(pid, unix.PTRACE_O_TRACEEXIT)
		<-release
		_ = ptrace(unix.PTRACE_DETACH, pid, 0) // works once it has stopped; else the thread's end does it
		close(done)
	}()
	letGo = sync.OnceFunc(func() { close(release); <-done })
	t.Cleanup(letGo)
	if err := <-seized; err != nil {
		t.Fatal(err)
	}
	return letGo
}

func awaitWedged(t *testing.T, pid int) {
	t.Helper()
	poll(t, func() bool {
		p, _ := readProcess("/proc/" + strconv.Itoa(pid) + "/stat")
		return p.state == "t"
	}, func() string { return "the program was to stop on its way out" })
}
