package e2e

import (
	"net/http"
	"testing"
	"time"
)

type liveRuns struct {
	Runs []liveRun `json:"runs"`
}

type liveRun struct {
	RunID      string  `json:"runId"`
	Stage      string  `json:"stage"`
	ReceivedAt string  `json:"receivedAt"`
	StartedAt  *string `json:"startedAt"`
	Slot       *string `json:"slot"`
	TimeoutMs  int64   `json:"timeoutMs"`
	Program    string  `json:"program"`
	Entry      string  `json:"entry"`
}

// runs is what GET /v1/runs lists now.
func (d *daemon) runs(t *testing.T) []liveRun {
	t.Helper()
	return strict[liveRuns](t, d.get(t, "/v1/runs").body).Runs
}

// cancel asks for the end of a run and returns the status of the answer.
func (d *daemon) cancel(t *testing.T, id string) int {
	t.Helper()
	a, err := d.exchange(d.newRequest(t, http.MethodDelete, "/v1/runs/"+id, nil))
	if err != nil {
		t.Fatal(err)
	}
	if a.status != 202 && (a.status != 404 || a.problem(t).Code != "run-unknown") || a.status == 202 && len(a.body) > 0 {
		t.Errorf("DELETE /v1/runs/%s: %d %s", id, a.status, a.body)
	}
	return a.status
}

// TestListAndCancel: what waits and what is alive is listed, each ends when it
// is asked to, and whoever sent it is told so.
func TestListAndCancel(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	if got := d.runs(t); got == nil || len(got) != 0 {
		t.Errorf("nothing runs: %+v", got)
	}
	r := d.waiter(t, "cancel-alive")
	r.id = "alive"
	alive := d.live(t, r, "cancel-alive")
	waits := d.waiter(t, "cancel-waits")
	waits.id, waits.timeoutMs = "waits", 1234
	queued := d.launch(t, t.Context(), waits)
	d.awaitQueue(t, 1)
	third := d.stream(t, goodRun(t, d)) // with an id of the daemon's
	third.next()
	id := third.head.Header.Get("Confined-Run-Id")

	got := d.runs(t)
	if len(got) != 3 || got[0].RunID != "alive" || got[1].RunID != "waits" || got[2].RunID != id {
		t.Fatalf("%+v", got)
	}
	if one := got[0]; one.Stage != "admitted" || one.Slot == nil || *one.Slot != "slot-0" || one.StartedAt == nil || !inOrder(t, one.ReceivedAt, *one.StartedAt) ||
		one.TimeoutMs != r.timeoutMs || one.Program != r.program.digest() || one.Entry != "main.mjs" {
		t.Errorf("%+v", one)
	}
	if one := got[1]; one.Stage != "queued" || one.Slot != nil || one.StartedAt != nil || one.TimeoutMs != 1234 || one.Program != waits.program.digest() {
		t.Errorf("%+v", one)
	}

	if got := d.cancel(t, "waits"); got != 202 {
		t.Errorf("one that waits: %d", got)
	}
	if got := queued.answer(t, d).result(t); got.Status != "not-started" || got.Reason != "aborted" || got.Namespace != nil {
		t.Errorf("%+v", got)
	}
	for _, unknown := range []string{"waits", "nobody", "no%20id", "%2e%2e", id + "x"} {
		if got := d.cancel(t, unknown); got != 404 {
			t.Errorf("%s: %d", unknown, got)
		}
	}
	for range 2 {
		d.cancel(t, id)
	}
	if got := third.rest(); got.Reason != "aborted" {
		t.Errorf("%+v", got)
	}
	if gone(alive.pid) {
		t.Error("the program that nobody asked to stop is gone")
	}
	if got := d.cancel(t, "alive"); got != 202 {
		t.Errorf("one that is alive: %d", got)
	}
	stopped := alive.answer(t, d).result(t)
	d.mustBeRight(t, r, stopped)
	if p := stopped.Process; p.Stopped == nil || *p.Stopped != "cancelled" || !p.KillSent || !gone(alive.pid) {
		t.Errorf("%+v", p)
	}
	if got := d.cancel(t, "alive"); got != 404 {
		t.Errorf("one that ended: %d", got)
	}
	if got := d.runs(t); len(got) != 0 {
		t.Errorf("everything ended: %+v", got)
	}
	if n := d.metric(t, `confined_runs_total{reason="aborted",status="not-started"}`); n != 2 {
		t.Errorf("%v runs are counted as aborted", n)
	}
}

// inOrder says whether these times are in order and near.
func inOrder(t *testing.T, list ...string) bool {
	t.Helper()
	before := time.Now().Add(-patience)
	for _, one := range list {
		at, err := time.Parse(time.RFC3339, one)
		if err != nil {
			t.Error(err)
		}
		if at.Before(before) {
			return false
		}
		before = at
	}
	return time.Now().After(before)
}
