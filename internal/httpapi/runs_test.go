package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"confined/internal/exec"
)

// liveRun is an entry of GET /v1/runs as a client sees it.
type liveRun struct {
	RunID, Stage, Program, Entry string
	ReceivedAt                   time.Time
	StartedAt                    *time.Time
	Slot                         *string
	TimeoutMs                    int
}

func (r *rig) list(t *testing.T) []liveRun {
	t.Helper()
	var got struct{ Runs []liveRun }
	w := r.get(t, "/v1/runs")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || got.Runs == nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return got.Runs
}

func (r *rig) cancel(t *testing.T, id string) *httptest.ResponseRecorder {
	t.Helper()
	return r.do(t, httptest.NewRequest(http.MethodDelete, "/v1/runs/"+id, nil))
}

// TestListRuns: at each stage, in the order of the queue, and only while they
// last.
func TestListRuns(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Workers = 1 })
	if got := r.list(t); len(got) != 0 {
		t.Errorf("nothing runs: %+v", got)
	}
	step := make(chan struct{})
	r.executor.traced = func(_ context.Context, req exec.Request, trace *exec.Trace) exec.Result {
		id, result := req.RunID(), observedResult(req.RunID())
		for _, hook := range []func(){
			func() {},
			func() { trace.Counted(exec.CountedInfo{RunID: id}) },
			func() { trace.Materialised(exec.MaterialisedInfo{RunID: id, Namespace: "/r/slot-3"}) },
			func() { trace.Launched(exec.LaunchedInfo{RunID: id, Namespace: "/r/slot-3"}) },
			func() { trace.Admitted(exec.AdmittedInfo{RunID: id, Namespace: "/r/slot-3"}) },
			func() { trace.Output(exec.OutputInfo{RunID: id, Kept: exec.OutputOf([]byte("x"))}) },
			func() { trace.Collected(exec.CollectedInfo{RunID: id, Namespace: "/r/slot-3"}) },
			func() { trace.Settled(exec.SettledInfo{RunID: id, Result: result}) },
		} {
			hook()
			step <- struct{}{} // reached
			<-step             // looked at
		}
		return result
	}
	dial := unixServer(t, r)
	alive, one, two := dial(), dial(), dial()
	before := time.Now().Truncate(time.Millisecond)
	sendForm(t, alive, "alive")
	<-step
	sendForm(t, one, "one")
	waitFor(t, "one waits", r.waiting(1))
	sendForm(t, two, "two")
	waitFor(t, "two wait", r.waiting(2))
	for _, want := range []string{"queued -", "counted -", "materialised slot-3", "launched slot-3", "admitted slot-3", "admitted slot-3", "collected slot-3", "settled slot-3"} {
		got := r.list(t)
		if len(got) != 3 || got[0].RunID != "alive" || got[1].RunID != "one" || got[2].RunID != "two" {
			t.Fatalf("runs %+v", got)
		}
		slot := "-"
		if got[0].Slot != nil {
			slot = *got[0].Slot
		}
		if got[0].Stage+" "+slot != want || got[0].StartedAt == nil || got[0].StartedAt.Before(got[0].ReceivedAt) {
			t.Errorf("%+v, want %s", got[0], want)
		}
		for _, waits := range got[1:] {
			if waits.Stage != "queued" || waits.StartedAt != nil || waits.Slot != nil {
				t.Errorf("%+v is to wait", waits)
			}
		}
		for _, any := range got {
			if any.Entry != "main.mjs" || any.TimeoutMs != 1000 || !strings.HasPrefix(any.Program, "sha256:375d") || any.ReceivedAt.Before(before) || time.Since(any.ReceivedAt) > time.Minute {
				t.Errorf("%+v", any)
			}
		}
		step <- struct{}{}
		if want != "settled slot-3" {
			<-step
		}
	}
	readAnswer(t, alive)
	for range 2 {
		for range 8 {
			<-step
			step <- struct{}{}
		}
	}
	readAnswer(t, two)
	if got := r.list(t); len(got) != 0 {
		t.Errorf("everything ended: %+v", got)
	}
}

// TestCancelRun: one that waits starts nothing, one that is alive is stopped,
// and each is answered for itself. Asking twice is no mistake.
func TestCancelRun(t *testing.T) {
	abandoned := make(chan struct{}, 10)
	r := newRig(t, func(o *Options) { o.Workers = 1; o.Trace.Abandoned = func() { abandoned <- struct{}{} } })
	started, _ := r.blocking()
	r.executor.run = func(run func(context.Context, exec.Request) exec.Result) func(context.Context, exec.Request) exec.Result {
		return func(ctx context.Context, req exec.Request) exec.Result {
			result := run(ctx, req)
			for range 2 { // while it settles
				if w := r.cancel(t, req.RunID()); w.Code != 202 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
			return result
		}
	}(r.executor.run)
	dial := unixServer(t, r)
	alive, queued, stays := dial(), dial(), dial()
	sendForm(t, alive, "alive")
	<-started
	sendForm(t, queued, "queued")
	waitFor(t, "one waits", r.waiting(1))
	sendForm(t, stays, "stays")
	waitFor(t, "two wait", r.waiting(2))
	if w := r.cancel(t, "queued"); w.Code != 202 || w.Body.Len() != 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	<-abandoned
	res, body := readAnswer(t, queued)
	if res.StatusCode != 200 || !strings.Contains(body, `"status":"not-started","runId":"queued","reason":"aborted","message":"the run was cancelled while it waited`) || strings.Contains(body, "client") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if p := problemOf(t, r.cancel(t, "queued")); p.Code != ProblemCodeRunUnknown {
		t.Errorf("%+v", p)
	}
	if w := r.cancel(t, "alive"); w.Code != 202 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if _, body := readAnswer(t, alive); !strings.Contains(body, `"stopped":"cancelled"`) {
		t.Errorf("alive: %s", body)
	}
	if id := <-started; id != "stays" { // and nothing was started for the one that waited
		t.Errorf("%s was started", id)
	}
	r.cancel(t, "stays")
	if _, body := readAnswer(t, stays); !strings.Contains(body, `"stopped":"cancelled"`) {
		t.Errorf("stays: %s", body)
	}
}

// TestCancelUnknown: ids of runs that ended, of none, and what cannot be an id.
func TestCancelUnknown(t *testing.T) {
	r := newRig(t, nil)
	body, contentType := helloForm(func(m object) { m["id"] = "ended" })
	r.post(t, "/v1/runs", body, contentType)
	for _, id := range []string{"ended", "other", ".", "..", "%2e%2e", "a%20b", "%00", "a%2Fb", "%ff", "%C3%BC", "-", "*", strings.Repeat("x", 5000), "a;b", "a,b", "%7B%22a%22%3A1%7D", "a%25zz"} {
		p := problemOf(t, r.cancel(t, id))
		if p.Code != ProblemCodeRunUnknown || p.RunID != nil || len(p.Detail) > 1000 {
			t.Errorf("%.20s: %+v", id, p)
		}
	}
	for _, path := range []string{"/v1/runs/", "/v1/runs/a/b"} {
		if p := problemOf(t, r.do(t, httptest.NewRequest(http.MethodDelete, path, nil))); p.Code != ProblemCodeNotFound {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

// TestLostOutcomesAreNotRepeated: what was answered 500 is refused when it comes
// again as it was, with and without an id; as a run of its own, and what differs
// from it, is not.
func TestLostOutcomesAreNotRepeated(t *testing.T) {
	for name, accept := range map[string]string{"result": mediaResult, "stream": mediaStream} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			broken, started := true, 0
			r.executor.run = func(_ context.Context, req exec.Request) exec.Result {
				started++
				if broken {
					panic("a bug of ours")
				}
				return observedResult(req.RunID())
			}
			send := func(edit func(object)) (code ProblemCode, detail string) {
				t.Helper()
				body, contentType := helloForm(edit)
				w := r.post(t, "/v1/runs", body, contentType, "Accept", accept)
				switch {
				case w.Code >= 400:
					p := problemOf(t, w)
					return p.Code, p.Detail
				case accept == mediaStream:
					list := eventsOf(t, w.Body.Bytes())
					if p := list[len(list)-1].Problem; p != nil {
						return p.Code, p.Detail
					}
				}
				return "", ""
			}
			want := func(what string, code ProblemCode, runs int, edit func(object)) {
				t.Helper()
				got, detail := send(edit)
				if got != code || started != runs {
					t.Errorf("%s: %q (%s) after %d runs, want %q after %d", what, got, detail, started, code, runs)
				}
				if code == ProblemCodeRunIDUsed && edit == nil && (!strings.Contains(detail, "answered 500") || !strings.Contains(detail, "give it an id")) {
					t.Errorf("%s: the detail is %q", what, detail)
				}
			}
			id := func(id string) func(object) { return func(m object) { m["id"] = id } }
			want("with an id", ProblemCodeInternal, 1, id("a"))
			want("the id again", ProblemCodeRunIDUsed, 1, id("a"))
			want("without an id", ProblemCodeInternal, 2, nil)
			want("again", ProblemCodeRunIDUsed, 2, nil)
			want("and again", ProblemCodeRunIDUsed, 2, nil)
			broken = false
			want("when it is mended", ProblemCodeRunIDUsed, 2, nil)
			want("with an id of its own", "", 3, id("b"))
			want("another request", "", 4, func(m object) { m["cpuSeconds"] = 2 })
			want("that one again", "", 5, func(m object) { m["cpuSeconds"] = 2 })
			if running, waiting := r.Load(); running+waiting != 0 || r.memory.used.Load() != 0 || r.openTickets() != 0 {
				t.Errorf("left: %d %d, %d bytes, %d open", running, waiting, r.memory.used.Load(), r.openTickets())
			}
		})
	}
}

// TestLostOutcomesAreForgotten: when as many others were lost.
func TestLostOutcomesAreForgotten(t *testing.T) {
	q := newQueue(1, 1, always)
	lose := func(content string) error {
		ticket, ctx, err := q.enter(t.Context(), summary{id: content + " id", content: content})
		if err != nil {
			return err
		}
		if _, err := ticket.await(ctx); err != nil {
			t.Fatal(err)
		}
		ticket.lose()
		ticket.lose() // a second time changes nothing
		ticket.leave(true)
		ticket.close()
		return nil
	}
	var codes []bool
	codes = append(codes, lose("first") == nil, codeIs(lose("first"), ProblemCodeRunIDUsed))
	for i := range remembered {
		if err := lose(strings.Repeat("x", i%7) + string(rune('a'+i%26)) + time.Duration(i).String()); err != nil {
			t.Fatal(err)
		}
	}
	codes = append(codes, lose("first") == nil)
	if slices.Contains(codes, false) || len(q.lost.taken) != remembered || len(q.ids.taken) != remembered {
		t.Errorf("%v; %d contents and %d ids are remembered", codes, len(q.lost.taken), len(q.ids.taken))
	}
}
