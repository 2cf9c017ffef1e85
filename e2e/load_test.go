//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
)

// TestLoad sends 60 runs at once to 8 slots, 2 workers and a queue for less than
// half of them, every tenth by a client that goes away. Every answer is the right result
// of its own run, or 429; and nothing is left.
func TestLoad(t *testing.T) {
	const runs, queue = 60, 24
	d := startDaemon(t, withFlags("--workers=2", "--max-retained=8", fmt.Sprintf("--queue=%d", queue)))
	mustEcho(t, d, d.echo(t, -1), d.post(t, d.echo(t, -1)))
	before := d.traces(t)
	watch := d.watch()
	refused := d.storm(t, runs)
	if most := watch(); most > 2 {
		t.Errorf("%d processes at once, with 2 workers", most)
	}
	if refused == 0 || refused > runs-queue {
		t.Errorf("%d runs were refused", refused)
	}
	d.mustLeaveNothing(t, before)
	d.mustHaveServed(t)
	if kib := statusNumber("VmRSS")(d.cmd.Process.Pid); kib > 256<<10 {
		t.Errorf("the daemon has %d KiB of memory in use", kib)
	}
}

// echo is a run that prints its own number.
func (d *daemon) echo(t *testing.T, n int) runRequest {
	t.Helper()
	r := d.script(t, "console.log(process.argv[2])", fmt.Sprint(n))
	r.id = fmt.Sprintf("echo-%d", n)
	if n < 0 {
		r.id = ""
	}
	return r
}

// mustEcho fails unless a is the right result of r, with its own output.
func mustEcho(t *testing.T, d *daemon, r runRequest, a answer) {
	t.Helper()
	got := a.result(t)
	d.mustBeRight(t, r, got)
	if said := got.Process.Stdout.plain(t); said != r.args[0]+"\n" || *got.Process.Exit.Code != 0 {
		t.Errorf("run %s printed %q and ended with %+v", r.args[0], said, *got.Process.Exit)
	}
}

// storm sends n runs at once and judges every answer. It returns how many were
// refused.
func (d *daemon) storm(t *testing.T, n int) (refused int) {
	t.Helper()
	requests, sent := make([]runRequest, n), make([]*pending, n)
	for i := range n {
		requests[i] = d.echo(t, i)
		ctx, drop := context.WithCancel(t.Context())
		defer drop()
		if i%10 == 0 {
			defer time.AfterFunc(time.Duration(rand.Int64N(int64(5*time.Second))), drop).Stop()
		}
		sent[i] = d.launch(t, ctx, requests[i])
	}
	for i, p := range sent {
		<-p.done
		switch {
		case errors.Is(p.err, context.Canceled) && i%10 == 0:
			continue
		case p.err != nil:
			t.Errorf("run %d: %v", i, p.err)
			continue
		}
		d.mustFitContract(t)
		if p.a.status != 429 {
			mustEcho(t, d, requests[i], p.a)
			continue
		}
		refused++
		if got := p.a.problem(t); got.Code != "queue-full" {
			t.Errorf("run %d was refused: %s, %s", i, got.Code, got.Detail)
		}
	}
	return refused
}

// watch counts the daemon's children again and again; what it returns ends that
// and says how many there were at most.
func (d *daemon) watch() func() int {
	var most, stop atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if stop.Load() > 0 {
				return
			}
			most.Store(max(most.Load(), int64(len(childrenOf(d.cmd.Process.Pid)))))
		}
	}()
	return func() int {
		stop.Store(1)
		<-done
		return int(most.Load())
	}
}

// mustHaveServed: by its own account too, no run met a full root, none was
// unresolved, and nothing was quarantined.
func (d *daemon) mustHaveServed(t *testing.T) {
	t.Helper()
	for _, series := range []string{
		`confined_runs_total{reason="retained-limit",status="not-started"}`,
		`confined_runs_total{reason="setup-failed",status="not-started"}`,
		`confined_runs_total{reason="",status="unresolved"}`,
	} {
		if n := d.metric(t, series); n != 0 {
			t.Errorf("%s is %v", series, n)
		}
	}
	if s := d.slots(t); s.Counted != 0 || s.Free != s.MaxRetained {
		t.Errorf("slots: %+v", s)
	}
}
