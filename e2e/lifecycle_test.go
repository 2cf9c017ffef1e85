package e2e

import (
	"context"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// waiter is a request whose program calls itself title and waits for tell.
func (d *daemon) waiter(t *testing.T, title string) runRequest {
	t.Helper()
	return d.script(t, waiting(title))
}

// awaitQueue returns once this many runs wait.
func (d *daemon) awaitQueue(t *testing.T, n int) {
	t.Helper()
	poll(t, func() bool { return d.status(t).Queue.Now == n }, func() string { return "the queue is " + text(t, d.status(t).Queue) })
}

// mustDrain fails unless p was refused because the daemon shuts down.
func mustDrain(t *testing.T, d *daemon, p *pending) {
	t.Helper()
	if got := p.answer(t, d).problem(t); got.Status != 503 || got.Code != "draining" {
		t.Errorf("%d %s: %s", got.Status, got.Code, got.Detail)
	}
}

// TestDrain: told to end, a daemon refuses what waits and what comes, says so,
// lets what is alive finish, and only then ends.
func TestDrain(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	alive := d.live(t, d.waiter(t, "drain-alive"), "drain-alive")
	second, third := d.launch(t, t.Context(), goodRun(t, d)), d.launch(t, t.Context(), goodRun(t, d))
	d.awaitQueue(t, 2)
	if s := d.status(t); s.Workers.Now != 1 || s.Workers.Limit != 1 || s.Slots.Now != 1 || !s.Ready {
		t.Errorf("status: %+v", s)
	}
	if one := d.slots(t).Slots[0]; one.Name != "slot-0" || one.State != "running" || one.RunID == "" || one.SinceAt == "" {
		t.Errorf("/v1/slots: %+v", one)
	}
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	mustDrain(t, d, second)
	mustDrain(t, d, third)
	mustDrain(t, d, d.launch(t, t.Context(), goodRun(t, d))) // one that comes now
	d.mustBeReady(t, map[string][]string{"draining": nil})
	if gone(alive.pid) {
		t.Error("the program that was alive is gone")
	}
	if _, err := os.Stat(d.socket); err != nil {
		t.Errorf("while it drains the socket is to stay: %v", err)
	}
	alive.release(t)
	d.mustEnd(t, 0)
}

// mustEnd waits for the daemon to end by itself, with this code.
func (d *daemon) mustEnd(t *testing.T, code int) {
	t.Helper()
	if !d.wait(patience) || d.cmd.ProcessState.ExitCode() != code {
		t.Errorf("the daemon is to end with %d: %v", code, d.cmd.ProcessState)
	}
}

// TestDrainBound: what does not finish within the bound is cancelled, and its
// client still gets the result. A second signal ends the bound at once.
func TestDrainBound(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		drain   string
		signals []os.Signal
	}{
		"the bound passes": {"--drain=100ms", []os.Signal{syscall.SIGTERM}},
		"a second signal":  {"--drain=15m", []os.Signal{syscall.SIGINT, syscall.SIGTERM}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t, withFlags("--workers=1", row.drain))
			alive := d.live(t, d.waiter(t, "drain-bound"), "drain-bound")
			waits := d.launch(t, t.Context(), goodRun(t, d))
			d.awaitQueue(t, 1)
			for _, s := range row.signals {
				if err := d.cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				mustDrain(t, d, waits) // the signal has arrived
			}
			got := alive.answer(t, d).result(t)
			d.mustBeRight(t, alive.r, got)
			if p := got.Process; p.Stopped == nil || *p.Stopped != "cancelled" || !p.KillSent || p.Exit.Signal == nil || *p.Exit.Signal != "SIGKILL" {
				t.Errorf("it was to be cancelled: %+v", p)
			}
			d.mustEnd(t, 0)
		})
	}
}

// TestClientGoesWhileQueued: nothing is started for a client that has gone.
func TestClientGoesWhileQueued(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	alive := d.live(t, d.waiter(t, "queue-alive"), "queue-alive")
	ctx, drop := context.WithCancel(t.Context())
	dropped := d.launch(t, ctx, goodRun(t, d))
	stays := d.launch(t, t.Context(), goodRun(t, d))
	d.awaitQueue(t, 2)
	drop()
	d.awaitQueue(t, 1)
	<-dropped.done
	alive.release(t)
	d.mustBeRight(t, goodRun(t, d), stays.answer(t, d).result(t))
	if observed, aborted := d.metric(t, `confined_runs_total{reason="",status="observed"}`), d.metric(t, `confined_runs_total{reason="aborted",status="not-started"}`); observed != 2 || aborted != 1 {
		t.Errorf("%v runs observed and %v aborted, want 2 and 1", observed, aborted)
	}
	if n := d.metric(t, `confined_admissions_total{value="admitted"}`); n != 2 {
		t.Errorf("%v programs were admitted, want 2", n)
	}
}

// TestClientGoesWhileRunning: the program of a client that has gone is ended,
// and its slot settled.
func TestClientGoesWhileRunning(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	alive := d.live(t, d.waiter(t, "client-gone"), "client-gone")
	alive.drop()
	poll(t, func() bool { return gone(alive.pid) && len(d.rootEntries(t)) == 0 }, func() string { return "the program is still there" })
	poll(t, func() bool { return d.metric(t, `confined_stops_total{reason="cancelled"}`) == 1 }, func() string { return "no stop was counted" })
	poll(t, func() bool { return d.status(t).Workers.Now == 0 }, func() string { return "the worker is still taken" })
	if !strings.Contains(d.log.String(), `"stopped":"cancelled"`) {
		t.Error("the log does not say that the run was cancelled")
	}
	mustRun(t, d)
}

// TestClientGoesWhileSending: half a body starts nothing and stays nowhere.
func TestClientGoesWhileSending(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	mustRun(t, d)
	before := d.traces(t)
	_, body := form(t, goodRun(t, d).parts(t))
	for _, length := range []int{0, 1, len(body) / 2, len(body) - 1} {
		conn := d.dial(t)
		head := "POST /v1/runs HTTP/1.1\r\nHost: confined\r\nContent-Length: 100000\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n"
		if _, err := conn.Write(append([]byte(head), body[:length]...)); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
	d.mustLeaveNothing(t, before)
	if n := d.metric(t, `confined_runs_total{reason="",status="observed"}`); n != 1 {
		t.Errorf("%v runs observed, want the good one", n)
	}
	mustRun(t, d)
}

// TestFullQueue: what finds no place is told when to come again, at once, and
// nothing of it is started; a full queue is no reason not to be ready.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1", "--queue=1"))
	alive := d.live(t, d.waiter(t, "queue-full"), "queue-full")
	waits := d.launch(t, t.Context(), goodRun(t, d))
	d.awaitQueue(t, 1)
	if p := d.post(t, goodRun(t, d)).problem(t); p.Status != 429 || p.Code != "queue-full" {
		t.Errorf("%+v", p)
	}
	d.mustBeReady(t, nil)
	alive.release(t)
	d.mustBeRight(t, goodRun(t, d), waits.answer(t, d).result(t))
	mustRun(t, d)
}

// TestMetricsListen: a local port for a Prometheus serves /metrics and nothing
// else.
func TestMetricsListen(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--metrics-listen=127.0.0.1:0"))
	_, after, _ := strings.Cut(d.log.String(), `"metrics":"`)
	address, _, found := strings.Cut(after, `"`)
	if !found {
		t.Fatalf("the log does not say where: %s", d.log.tail())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for path, want := range map[string]int{"/metrics": 200, "/v1/status": 404, "/healthz": 404, "/": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
}
