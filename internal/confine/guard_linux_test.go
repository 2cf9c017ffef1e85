package confine

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bare is a child of ours without a pidfd, as on macOS: it waits for its standard input to end.
func bare(t *testing.T) (pid int, end func()) {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	pid, err = syscall.ForkExec("/bin/cat", []string{"cat"}, &syscall.ProcAttr{Files: []uintptr{r.Fd(), 1, 2}})
	must(t, err)
	must(t, r.Close())
	return pid, func() { must(t, w.Close()) }
}

// killUntilDone sends SIGKILL by number again and again until the first answer that is not success, which it returns.
func killUntilDone(pid int, kill func(func() error) error) error {
	for {
		if err := kill(func() error { return unix.Kill(pid, unix.SIGKILL) }); err != nil {
			return err
		}
	}
}

// noKill is for an await that sees the end.
func noKill() error { return errors.New("a kill was sent") }

// TestGuard: a kill that runs all through the end and the reaping of a process is answered by the guard and never goes to a process id
// that is free. Without the guard, the kernel has to answer it (ESRCH), or another process would have.
func TestGuard(t *testing.T) {
	round := func(guarded bool) error {
		pid, end := bare(t)
		watch, err := watchExit(pid)
		must(t, err)
		g := &guard{watch: watch}
		kill := g.kill
		if !guarded {
			kill = func(send func() error) error { return send() }
		}
		answer := make(chan error)
		go func() { answer <- killUntilDone(pid, kill) }()
		end()
		must(t, g.await(noKill))
		_, err = syscall.Wait4(pid, nil, 0, nil)
		must(t, err)
		return <-answer
	}
	for range 200 {
		if err := round(true); err != os.ErrProcessDone {
			t.Fatalf("a guarded kill was sent and met %v", err)
		}
	}
	if err := round(false); err != unix.ESRCH {
		t.Fatalf("the control met %v: killing goes on after the reaping, so it must find nobody", err)
	}
}

// TestGuardDoesNotReap: the watch leaves the process to the one who waits, and a kill before its end works.
func TestGuardDoesNotReap(t *testing.T) {
	pid, end := bare(t)
	watch, err := watchExit(pid)
	must(t, err)
	g := &guard{watch: watch}
	must(t, g.kill(func() error { return unix.Kill(pid, unix.SIGKILL) }))
	must(t, g.await(noKill))
	sent := false
	if err := g.kill(func() error { sent = true; return nil }); err != os.ErrProcessDone || sent {
		t.Errorf("after the end: sent %v, error %v", sent, err)
	}
	var status syscall.WaitStatus
	if got, err := syscall.Wait4(pid, &status, 0, nil); got != pid || err != nil || status.Signal() != syscall.SIGKILL {
		t.Errorf("reaped %d, %v, %v", got, err, status)
	}
	end()
}

// TestGuardWithoutWatch: if the end cannot be seen there is an error, one kill while the id is still the process's own, and none after it.
func TestGuardWithoutWatch(t *testing.T) {
	g := &guard{watch: exitWatch{os.Getpid()}} // no child of ours
	sent := 0
	send := func() error { sent++; return nil }
	if err := g.await(send); !errors.Is(err, unix.ECHILD) || sent != 1 {
		t.Errorf("await: %v, and %d kills", err, sent)
	}
	if err := g.kill(send); err != os.ErrProcessDone || sent != 1 {
		t.Errorf("kill: %v, and %d kills", err, sent)
	}
}

// TestUnwatchedEnds: a process whose end cannot be watched for is ended, since nobody could end it any more, and reaped.
func TestUnwatchedEnds(t *testing.T) {
	p, err := spawn([]string{"/bin/cat"}, "/")
	must(t, err)
	defer p.close()
	p.guard.watch = exitWatch{os.Getpid()} // no child of ours
	alarm := time.AfterFunc(5*time.Second, func() { _ = p.Gate.Close() })
	defer alarm.Stop()
	if state, err := p.Wait(); state == nil || !errors.Is(err, unix.ECHILD) || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("%v, %v", state, err)
	}
}

// TestKillsWhileWaiting is for the race detector: many kills, at every moment of a process's end.
func TestKillsWhileWaiting(t *testing.T) {
	for range 50 {
		p, err := spawn([]string{"/bin/cat"}, "/")
		must(t, err)
		var refused atomic.Int32
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for p.Kill() == nil {
				}
				refused.Add(1)
			})
		}
		state, err := p.Wait()
		must(t, err)
		group.Wait()
		if refused.Load() != 4 || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%d refused, %v", refused.Load(), state)
		}
		p.close()
	}
}
