package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"confined"
	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

var serverTimingForm = regexp.MustCompile(`^queue;dur=[0-9.]+(, [a-z]+;dur=[0-9.]+)*$`)

func executorGiving(r exec.Result) func(context.Context, exec.Request) exec.Result {
	return func(context.Context, exec.Request) exec.Result { return r }
}

func TestGets(t *testing.T) {
	r := newRig(t, nil)
	for path, want := range map[string]string{
		"/v1/runtime": `"nodeVersion":"26.8.1"`, "/v1/profile": `"name":"confined-linux/1"`, "/v1/slots": `"maxRetained":8`,
		"/v1/status": `"ready":true`, "/healthz": "ok\n", "/readyz": "ok\n", "/metrics": "confined_queue 0\n", "/openapi.yaml": confined.Contract(),
	} {
		w := r.get(t, path)
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("GET %s: %d %.300s", path, w.Code, w.Body)
		}
		head := r.do(t, httptest.NewRequest(http.MethodHead, path, nil))
		if head.Code != 200 || head.Header().Get("Content-Type") != w.Header().Get("Content-Type") {
			t.Errorf("HEAD %s: %d %v", path, head.Code, head.Header())
		}
	}
}

func TestWrongPathsAndMethods(t *testing.T) {
	r := newRig(t, nil)
	for _, path := range []string{"/", "/v1", "/v1/runs/", "/V1/runs", "/v1/runs/x/y", "/v1/nothing", "//healthz"} {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.URL.Path = path
		if p := problemOf(t, r.do(t, req)); p.Code != ProblemCodeNotFound {
			t.Errorf("%s: %s", path, p.Code)
		}
	}
	for _, method := range []string{"BREW", "PRI", "OPTIONS"} {
		for _, path := range []string{"/nothing", "*"} {
			req := httptest.NewRequest(method, "/", nil)
			req.URL.Path = path
			if p := problemOf(t, r.do(t, req)); p.Code != ProblemCodeNotFound {
				t.Errorf("%s %s: %s", method, path, p.Code)
			}
		}
	}
	for request, allow := range map[string]string{
		"BREW /v1/runs": "GET, HEAD, POST", "DELETE /v1/runs": "GET, HEAD, POST", "GET /v1/runs/x": "DELETE", "HEAD /v1/runs/x": "DELETE", "POST /v1/runs/x": "DELETE", "OPTIONS /v1/snapshots": "POST", "TRACE /healthz": "GET, HEAD",
		"POST /v1/runtime": "GET, HEAD", "PUT /openapi.yaml": "GET, HEAD",
	} {
		method, path, _ := strings.Cut(request, " ")
		w := r.do(t, httptest.NewRequest(method, path, nil))
		if p := problemOf(t, w); p.Code != ProblemCodeMethodNotAllowed || w.Header().Get("Allow") != allow {
			t.Errorf("%s: %s, Allow %q", request, p.Code, w.Header().Get("Allow"))
		}
	}
}

func TestIDsAreOnEveryAnswer(t *testing.T) {
	r := newRig(t, nil)
	for given, kept := range map[string]bool{"abc-1.2_3": true, "": false, "a b": false, "ü": false, strings.Repeat("a", 65): false, strings.Repeat("a", 64): true} {
		req := httptest.NewRequest(http.MethodGet, "/nothing", nil)
		req.Header.Set("X-Request-Id", given)
		w := r.do(t, req)
		if got := w.Header().Get("X-Request-Id"); (got == given) != kept || problemOf(t, w).Instance != "urn:confined:request:"+got {
			t.Errorf("%q became %q", given, got)
		}
		if got := w.Header().Get("Confined-Instance"); got != r.Instance() {
			t.Errorf("instance %q", got)
		}
	}
}

func TestRunIDs(t *testing.T) {
	r := newRig(t, nil)
	var seen []string
	r.executor.run = func(_ context.Context, req exec.Request) exec.Result {
		seen = append(seen, req.RunID())
		if req.RunID() == "refused" {
			return exec.NotStarted{RunID: "refused", Reason: exec.ReasonRuntimeMismatch, Message: "m"}
		}
		return observedResult(req.RunID())
	}
	send := func(id string) *httptest.ResponseRecorder {
		body, contentType := helloForm(func(m object) {
			if id != "" {
				m["id"] = id
			}
		})
		return r.post(t, "/v1/runs", body, contentType)
	}
	if w := send("mine"); w.Code != 200 || w.Header().Get("Confined-Run-Id") != "mine" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if p := problemOf(t, send("mine")); p.Code != ProblemCodeRunIDUsed || !strings.HasPrefix(p.Detail, `run id "mine" is `) || !strings.HasSuffix(p.Detail, "; give another id for a second run") || p.RunID == nil || *p.RunID != "mine" {
		t.Errorf("%+v", p)
	}
	for range 2 { // of a run that did not start the id stays free: the same request may be sent again
		if w := send("refused"); w.Header().Get("Confined-Status") != "not-started" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	send("")
	if v7 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-`); !v7.MatchString(seen[len(seen)-1]) {
		t.Errorf("ids %v", seen)
	}
}

func TestContentEncodingIsRefused(t *testing.T) {
	body, contentType := helloForm(nil)
	w := newRig(t, nil).post(t, "/v1/runs", body, contentType, "Content-Encoding", "gzip")
	if p := problemOf(t, w); p.Code != ProblemCodeUnsupportedMediaType {
		t.Errorf("%+v", p)
	}
}

// TestPanicsAreUnknown: a panic is a 500, its stack is logged, its run id stays
// taken, and the log holds nothing of what was sent.
func TestPanicsAreUnknown(t *testing.T) {
	r := newRig(t, nil)
	r.executor.run = func(context.Context, exec.Request) exec.Result { panic("a bug of ours") }
	body, contentType := helloForm(func(m object) { m["id"] = "p"; program(m)["args"] = []any{"secret-argument"} })
	if p := problemOf(t, r.post(t, "/v1/runs", body, contentType, "Authorization", "secret-token")); p.Code != ProblemCodeInternal || *p.RunID != "p" || strings.Contains(p.Detail, "bug") {
		t.Errorf("%+v", p)
	}
	if p := problemOf(t, r.post(t, "/v1/runs", body, contentType)); p.Code != ProblemCodeRunIDUsed {
		t.Errorf("%+v", p)
	}
	log := r.log.String()
	for _, want := range []string{"a bug of ours", "api_test.go", `"runId":"p"`, `"route":"/v1/runs"`, `"status":500`, `"code":"internal"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q: %s", want, log)
		}
	}
	if strings.Contains(log, "secret") || strings.Contains(log, "console.log") {
		t.Errorf("the log tells too much: %s", log)
	}
	if running, waiting := r.Load(); running+waiting != 0 || r.memory.used.Load() != 0 || r.queue.open != 0 {
		t.Errorf("left: %d %d, %d bytes, %d open", running, waiting, r.memory.used.Load(), r.queue.open)
	}
}

func TestHandlersCannotForgetTheirAnswer(t *testing.T) {
	next := func(context.Context, http.ResponseWriter, *http.Request, any) (any, error) { return nil, nil }
	if _, err := neverEmpty(next, "x")(t.Context(), nil, nil, nil); err == nil {
		t.Error("an empty answer passed")
	}
}

func TestPeers(t *testing.T) {
	owner := 1000
	r := newRig(t, func(o *Options) { o.Owner = &owner })
	for name, c := range map[string]struct {
		ctx  context.Context
		want int
	}{
		"owner":   {WithPeer(t.Context(), Peer{PID: 77, UID: 1000}), 200},
		"another": {WithPeer(t.Context(), Peer{PID: 77, UID: 0}), 403},
		"unknown": {t.Context(), 403},
	} {
		w := r.do(t, httptest.NewRequest(http.MethodGet, "/v1/status", nil).WithContext(c.ctx))
		if w.Code != c.want || w.Code == 403 && problemOf(t, w).Code != ProblemCodeForbidden {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if !strings.Contains(r.log.String(), `"peerPid":77,"peerUid":1000`) {
		t.Error(r.log)
	}
}

func TestUnknownRuntimes(t *testing.T) {
	for _, c := range []struct {
		err      error
		code     ProblemCode
		notReady NotReadyCode
	}{
		{&exec.HostError{Problem: "p", Cure: "c"}, ProblemCodeUnsupportedHost, NotReadyCodeUnsupportedHost},
		{&exec.UnprovenError{Runtime: pins.Runtime{NodeVersion: "1"}}, ProblemCodeUnsupportedHost, NotReadyCodeRuntimeUnproven},
		{&pins.UnavailableError{Path: "/n", Problem: "p", Cure: "c"}, ProblemCodeRuntimeUnavailable, NotReadyCodeRuntimeUnavailable},
		{fmt.Errorf("identify: %w", &pins.UnavailableError{Path: "/n"}), ProblemCodeRuntimeUnavailable, NotReadyCodeRuntimeUnavailable},
	} {
		r := newRig(t, nil)
		r.executor.describe = func(context.Context) (exec.Description, error) { return exec.Description{}, c.err }
		if p := problemOf(t, r.get(t, "/v1/runtime")); p.Code != c.code || p.Status != 503 {
			t.Errorf("%v: %+v", c.err, p)
		}
		if got := r.NotReady(t.Context()); len(got) != 1 || got[0].Code != c.notReady || got[0].Detail != c.err.Error() {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}

// TestReadiness: every reason at once, in /readyz as in /v1/status.
func TestReadiness(t *testing.T) {
	host := &exec.HostError{Problem: "no user namespaces", Cure: "sysctl"}
	full := ns.Listing{Root: "/r", MaxRetained: 2, Counted: 3, Slots: []ns.SlotInfo{
		{Name: "slot-0", State: ns.Running, RunID: "a", SinceAt: time.Unix(1, 0)}, {Name: "slot-1", State: ns.Quarantined, Reason: ns.Unresolved, Message: "m"}, {Name: "\xff", State: ns.Foreign},
	}}
	for name, c := range map[string]struct {
		change  func(*Options)
		pool    func(*stubPool)
		drained bool
		want    []NotReadyCode
	}{
		"ready":       {want: nil},
		"host":        {change: func(o *Options) { o.HostProblem = func() *exec.HostError { return host } }, want: []NotReadyCode{NotReadyCodeUnsupportedHost}},
		"root":        {pool: func(p *stubPool) { p.err = &ns.RootError{Problem: "p", Cure: "c"} }, want: []NotReadyCode{NotReadyCodeRootUnsound}},
		"no slot":     {pool: func(p *stubPool) { p.listing = full }, want: []NotReadyCode{NotReadyCodeNoFreeSlot}},
		"ours only":   {pool: func(p *stubPool) { p.listing = full; p.listing.Counted = 2 }, want: nil},
		"everything":  {change: func(o *Options) { o.HostProblem = func() *exec.HostError { return host } }, pool: func(p *stubPool) { p.err = errors.New("gone") }, drained: true, want: []NotReadyCode{NotReadyCodeDraining, NotReadyCodeUnsupportedHost, NotReadyCodeRootUnsound}},
		"full queue":  {change: func(o *Options) { o.Queue = 0 }, want: nil},
		"drain alone": {drained: true, want: []NotReadyCode{NotReadyCodeDraining}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.change)
			if c.pool != nil {
				c.pool(r.pool)
			}
			if c.drained {
				if err := r.Drain(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			var status Status
			if err := json.Unmarshal(r.get(t, "/v1/status").Body.Bytes(), &status); err != nil {
				t.Fatal(err)
			}
			var got []NotReadyCode
			for _, reason := range status.NotReady {
				got = append(got, reason.Code)
			}
			if !slices.Equal(got, c.want) || status.Ready != (len(c.want) == 0) {
				t.Errorf("status: ready %v, %v", status.Ready, got)
			}
			w := r.get(t, "/readyz")
			if len(c.want) == 0 {
				if w.Code != 200 {
					t.Errorf("readyz: %d %s", w.Code, w.Body)
				}
				return
			}
			p := problemOf(t, w)
			if p.Code != ProblemCodeNotReady || len(p.Errors) != len(c.want) || p.Errors[0].Pointer != "/notReady/0" {
				t.Errorf("readyz: %+v", p)
			}
			r.get(t, "/v1/slots") // fits the contract in any state
		})
	}
}
