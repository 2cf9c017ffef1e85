package client

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"confined/client/api"
)

// pinning answers the two requests of pins, and runs with a sound result.
func pinning(r received) string {
	switch r.URL.Path {
	case "/v1/runtime":
		return answerOf(200, resultType, `{"digest":"sha256:r"}`)
	case "/v1/profile":
		return answerOf(200, resultType, `{"digest":"sha256:p"}`)
	}
	return resultAnswer(observed(r))
}

// TestPins: what a job does not pin is read first, and only then.
func TestPins(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		given, used Pins
		requests    int
	}{
		{Pins{}, Pins{"sha256:r", "sha256:p"}, 3},
		{Pins{Runtime: "sha256:1"}, Pins{"sha256:1", "sha256:p"}, 3},
		{Pins{Profile: "sha256:1"}, Pins{"sha256:r", "sha256:1"}, 3},
		{Pins{"sha256:1", "sha256:2"}, Pins{"sha256:1", "sha256:2"}, 1},
	} {
		f := newFake(t, pinning)
		j := job(t)
		j.Pins = row.given
		if _, err := New(f.socket).Run(t.Context(), j); err != nil {
			t.Errorf("%v: %v", row.given, err)
		}
		got := f.requests()
		if len(got) != row.requests {
			t.Fatalf("%v: %d requests", row.given, len(got))
		}
		if doc := got[len(got)-1].document(); (Pins{doc.Runtime, doc.Profile}) != row.used {
			t.Errorf("%v: pinned %s and %s", row.given, doc.Runtime, doc.Profile)
		}
	}
}

// TestNoPins: whatever kept the pins from being read, no run was sent.
func TestNoPins(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"a refusal": answerOf(503, problemType, problem(503, "runtime-unavailable"), "Retry-After: 60"),
		"a 500":     answerOf(500, problemType, problem(500, "internal")),
		"cut":       "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n",
		"no JSON":   answerOf(200, resultType, "{"),
	} {
		f := newFake(t, func(received) string { return answer })
		j := job(t)
		j.Pins = Pins{}
		_, err := New(f.socket).Run(t.Context(), j)
		if got := outcomeOf(t, "", err); got != isNotSent || len(f.requests()) != 1 || !strings.Contains(err.Error(), "pins") {
			t.Errorf("%s: it is %s: %v", name, got, err)
		}
		var p *ProblemError
		if name == "a refusal" && (!errors.As(err, &p) || p.RetryAfter != time.Minute) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCalls: each call asks for what it says, and hands on problems.
func TestCalls(t *testing.T) {
	t.Parallel()
	const slots = `{"new":"\u00fc", "free":3, "slots":[{"sinceAt":"2026-11-29T10:00:00.250Z"}]}`
	const etag = `"a/b+c==:%20"`
	f := newFake(t, func(r received) string {
		switch r.Method + " " + r.URL.Path {
		case "GET /v1/status":
			return answerOf(200, resultType, `{"version":"v1"}`)
		case "GET /v1/runs":
			return answerOf(200, resultType, `{"runs":[{"runId":"a","slot":null},{"runId":"b","slot":"slot-1"}]}`)
		case "DELETE /v1/runs/a":
			return "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
		case "GET /v1/slots":
			return answerOf(200, resultType, slots)
		case "GET /v1/slots/slot-1":
			return answerOf(200, resultType, `{"users":[7]}`, "ETag: "+etag)
		case "GET /v1/slots/slot-2":
			return answerOf(200, resultType, `{}`)
		case "DELETE /v1/slots/slot-1":
			return answerOf(200, resultType, `{"state":"quarantined","path":"/r/slot-1","reason":"removal-failed","message":"m"}`)
		}
		return answerOf(404, problemType, problem(404, "not-found"))
	})
	c, ctx := New(f.socket), t.Context()
	if s, err := c.Status(ctx); err != nil || s.Version != "v1" {
		t.Error(s, err)
	}
	if runs, err := c.Runs(ctx); err != nil || len(runs) != 2 || runs[0].Slot != nil || *runs[1].Slot != "slot-1" {
		t.Error(runs, err)
	}
	if err := c.Cancel(ctx, "a"); err != nil {
		t.Error(err)
	}
	var p *ProblemError
	if err := c.Cancel(ctx, "b"); !errors.As(err, &p) || p.Problem.Code != api.ProblemCodeNotFound {
		t.Error(err)
	}
	if s, err := c.Slots(ctx); err != nil || s.Free != 3 || string(s.Raw) != slots {
		t.Error(s, err)
	}
	if d, tag, err := c.Slot(ctx, "slot-1"); err != nil || tag != etag || !slices.Equal(d.Users, []int{7}) {
		t.Error(d, tag, err)
	}
	if _, _, err := c.Slot(ctx, "slot-2"); err == nil || !strings.Contains(err.Error(), "ETag") {
		t.Error(err)
	}
	ns, err := c.ReleaseSlot(ctx, "slot-1", etag)
	if err != nil {
		t.Fatal(err)
	}
	got := f.requests()
	if match := got[len(got)-1].Header["If-Match"]; !slices.Equal(match, []string{etag}) {
		t.Errorf("If-Match is %q", match)
	}
	v, err := ns.ValueByDiscriminator()
	if q, ok := v.(api.Quarantined); err != nil || !ok || q.Reason != api.QuarantineReasonRemovalFailed {
		t.Errorf("the namespace is %v, %v", v, err)
	}
	if r, err := c.API().GetStatusWithResponse(ctx); err != nil || r.JSON200.Version != "v1" {
		t.Error(r, err)
	}
}
