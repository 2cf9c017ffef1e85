package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"confined/client/api"
)

// TestRun is one run as it should be: what is sent, and what is made of the
// answer.
func TestRun(t *testing.T) {
	t.Parallel()
	var result string
	f := newFake(t, func(r received) string {
		result = observed(r)
		return resultAnswer(result)
	})
	j := job(t)
	got, err := New(f.socket).Run(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status() != "observed" || !got.Attributable() || string(got.Raw) != result || len(got.Problems()) != 0 {
		t.Errorf("the result is %+v", got)
	}
	if code, ok := got.ExitCode(); code != 3 || !ok {
		t.Errorf("ExitCode = %d, %t", code, ok)
	}
	if string(got.Stdout()) != printed || string(got.Stderr()) != warned {
		t.Errorf("stdout %q, stderr %q", got.Stdout(), got.Stderr())
	}
	if ns, err := got.Observed.Namespace.ValueByDiscriminator(); err != nil || ns != (api.Removed{State: api.RemovedStateRemoved, Durable: true}) {
		t.Errorf("the namespace is %v, %v", ns, err)
	}
	if len(f.requests()) != 1 {
		t.Fatalf("%d requests arrived", len(f.requests()))
	}
	r := f.requests()[0]
	if r.Method != http.MethodPost || r.URL.Path != "/v1/runs" || r.Header.Get("Accept") != resultType || r.ContentLength != int64(len(r.body)) || r.Header.Get("Accept-Encoding") != "" {
		t.Errorf("sent %s %s, %d bytes announced, %v", r.Method, r.URL, r.ContentLength, r.Header)
	}
	parts, err := r.parts()
	if err != nil {
		t.Fatal(err)
	}
	files := []part{{"program/lib/a.mjs", ""}, {"program/main.mjs", "console.log(1)\n"}, {"input/data@1.bin", "\x00\xff--\r\n"}}
	if parts[0].name != "request" || !slices.Equal(parts[1:], files) {
		t.Errorf("the form is %q", parts)
	}
	doc := r.document()
	if *doc.ID != got.RunID || doc.Program.Digest != j.Program.Digest() || doc.Input.Digest != j.Input.Digest() || !slices.Equal(*doc.Program.Args, j.Args) || doc.TimeoutMs != DefaultBounds().TimeoutMs {
		t.Errorf("asked for %s", parts[0].content)
	}
}

// TestOtherResults: a run that was not started and one that is unresolved.
func TestOtherResults(t *testing.T) {
	t.Parallel()
	run := func(result func(received) string) *Result {
		t.Helper()
		got, err := New(newFake(t, func(r received) string { return resultAnswer(result(r)) }).socket).Run(t.Context(), job(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := got.ExitCode(); ok || got.Attributable() {
			t.Errorf("%s has an exit code or is attributable", got.Status())
		}
		return got
	}
	if got := run(notStarted); got.Status() != "not-started" || got.NotStarted.Reason != api.NotStartedReasonRetainedLimit || got.Process() != nil || got.Stdout() != nil || got.Problems() != nil {
		t.Errorf("not started: %+v", got)
	}
	if got := run(unresolved); got.Status() != "unresolved" || string(got.Stdout()) != printed || got.Problems()[0].Code != api.RunProblemCodeNotReaped {
		t.Errorf("unresolved: %+v", got)
	}
	notOurs := func(r received) string {
		return replace(observed(r), `"attributable":true,"problems":[]`, `"attributable":false,"problems":[{"code":"runtime-changed","message":"m"}]`)
	}
	if got := run(notOurs); got.Status() != "observed" || got.Problems()[0].Code != api.RunProblemCodeRuntimeChanged {
		t.Errorf("not attributable: %+v", got)
	}
	signalled := func(r received) string {
		return replace(observed(r), `{"code":3,"signal":null}`, `{"code":null,"signal":"SIGKILL"}`)
	}
	got, err := New(newFake(t, func(r received) string { return resultAnswer(signalled(r)) }).socket).Run(t.Context(), job(t))
	if err != nil || !got.Attributable() {
		t.Fatal(got, err)
	}
	if _, ok := got.ExitCode(); ok {
		t.Error("a signal is an exit code")
	}
}

// TestForm: a body is whole once its last byte was handed over, and not later.
func TestForm(t *testing.T) {
	t.Parallel()
	for _, short := range []int64{0, 1, 100} {
		f := order{job(t)}.form()
		n, err := io.CopyN(io.Discard, f, f.size-short)
		whole := f.seal()
		rest, restErr := io.Copy(io.Discard, f)
		if err != nil || n != f.size-short || whole != (short == 0) || rest != 0 || (restErr == nil) != whole || f.seal() != whole {
			t.Errorf("%d bytes short: whole is %t, then %d bytes more, %v", short, whole, rest, restErr)
		}
	}
}

// outcome is what a call comes to.
type outcome string

const (
	isResult  outcome = "a result"
	isProblem outcome = "a problem; nothing was started"
	isUnknown outcome = "unknown"
	isNotSent outcome = "not sent; nothing was started"
)

// outcomeOf is the outcome of a call, and checks that StartedNothing agrees.
func outcomeOf(t testing.TB, id string, err error) outcome {
	t.Helper()
	var unknown *UnknownError
	var problem *ProblemError
	var notSent *NotSentError
	out := isResult
	switch {
	case errors.As(err, &unknown):
		out = isUnknown
		if unknown.RunID != id || !strings.Contains(err.Error(), id) {
			t.Errorf("the error does not name the run %s: %v", id, err)
		}
	case errors.As(err, &notSent):
		out = isNotSent
	case errors.As(err, &problem):
		out = isProblem
	case err != nil:
		t.Errorf("an error without a type: %v", err)
	}
	if nothing := out == isProblem || out == isNotSent; StartedNothing(err) != nothing {
		t.Errorf("StartedNothing = %t of: %v", !nothing, err)
	}
	return out
}

// TestAnswers: each answer that is not exactly what was asked for is unknown,
// and a problem is what the retry table says.
func TestAnswers(t *testing.T) {
	t.Parallel()
	changed := func(oldnew ...string) func(received) string {
		return func(r received) string { return resultAnswer(replace(observed(r), oldnew...)) }
	}
	whole := func(edit func(answer string) string) func(received) string {
		return func(r received) string { return edit(resultAnswer(observed(r))) }
	}
	problems := func(status int, code string, fields ...string) func(received) string {
		return func(received) string { return answerOf(status, problemType, problem(status, code), fields...) }
	}
	plain := func(status int) func(received) string {
		return func(received) string { return answerOf(status, "text/plain", "no") }
	}
	for name, row := range map[string]struct {
		answer func(received) string
		want   outcome
	}{
		"as asked":                  {whole(func(a string) string { return a }), isResult},
		"more fields":               {changed(`"problems":[]`, `"problems":[],"new":{"a":null}`), isResult},
		"a new enum value":          {changed(`"admission":"admitted"`, `"admission":"waved-through"`), isResult},
		"digests of two algorithms": {whole(func(a string) string { return replace(a, "Content-Digest: ", "Content-Digest: md5=:AA==:, ") }), isResult},

		"another digest": {whole(func(a string) string {
			return replace(a, "Content-Digest: "+digestIn(a), "Content-Digest: "+digestOf(""))
		}), isUnknown},
		"another algorithm":      {whole(func(a string) string { return replace(a, "Content-Digest: sha-256", "Content-Digest: sha-512") }), isUnknown},
		"no digest":              {whole(func(a string) string { return replace(a, "Content-Digest: ", "X: ") }), isUnknown},
		"one byte differs":       {whole(func(a string) string { return replace(a, `"pid":4711`, `"pid":4712`) }), isUnknown},
		"another run":            {changed(`"runId":"`, `"runId":"x`), isUnknown},
		"another program":        {changed(`"program":{"digest":"sha256:`, `"program":{"digest":"sha256:f`), isUnknown},
		"another entry":          {changed(`"entry":"main.mjs"`, `"entry":"lib/a.mjs"`), isUnknown},
		"other arguments":        {changed(`"args":["<a>",`, `"args":["<a>","",`), isUnknown},
		"another input":          {changed(`"input":"sha256:`, `"input":"sha256:f`), isUnknown},
		"another runtime":        {changed(`"runtime":"sha256:aa`, `"runtime":"sha256:ab`), isUnknown},
		"another profile":        {changed(`"digest":"sha256:bb`, `"digest":"sha256:bc`), isUnknown},
		"another timeout":        {changed(`"timeoutMs":30000`, `"timeoutMs":30001`), isUnknown},
		"another output bound":   {changed(`"maxOutputBytes":1048576`, `"maxOutputBytes":0`), isUnknown},
		"another CPU bound":      {changed(`"cpuSeconds":30`, `"cpuSeconds":31`), isUnknown},
		"another file bound":     {changed(`"maxDescriptors":256`, `"maxDescriptors":255`), isUnknown},
		"no identities":          {changed(`"identities":`, `"identity":`), isUnknown},
		"attributable, problems": {changed(`"problems":[]`, `"problems":[{"code":"not-reaped","message":""}]`), isUnknown},
		"not attributable, none": {changed(`"attributable":true`, `"attributable":false`), isUnknown},
		"bad base64":             {changed(`/8Op`, `/8O`), isUnknown},
		"unknown encoding":       {changed(`"encoding":"utf-8"`, `"encoding":"utf-16"`), isUnknown},
		"an unknown status":      {changed(`"status":"observed"`, `"status":"half"`), isUnknown},
		"a wrong type":           {changed(`"pid":4711`, `"pid":"4711"`), isUnknown},
		"no JSON":                {func(received) string { return resultAnswer("{") }, isUnknown},
		"an empty body":          {func(received) string { return resultAnswer("") }, isUnknown},
		"200 with a problem":     {func(received) string { return answerOf(200, problemType, problem(200, "internal")) }, isUnknown},
		"200 as text":            {whole(func(a string) string { return replace(a, resultType, "text/plain") }), isUnknown},
		"201":                    {whole(func(a string) string { return replace(a, "200 OK", "201 Created") }), isUnknown},
		"204":                    {func(received) string { return "HTTP/1.1 204 No Content\r\n\r\n" }, isUnknown},
		"a redirect": {func(received) string {
			return "HTTP/1.1 303 See Other\r\nLocation: /v1/runs\r\nContent-Length: 0\r\n\r\n"
		}, isUnknown},
		"too long": {func(received) string {
			return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n"
		}, isUnknown},
		"not HTTP":               {func(received) string { return "SSH-2.0-OpenSSH_9.2\r\n" }, isUnknown},
		"500":                    {problems(500, "internal", "Retry-After: 7"), isUnknown},
		"502":                    {problems(502, "internal"), isUnknown},
		"500 as text":            {plain(500), isUnknown},
		"503 as text":            {plain(503), isUnknown},
		"404 as text":            {plain(404), isUnknown},
		"a problem as JSON":      {func(received) string { return answerOf(429, resultType, problem(429, "queue-full")) }, isUnknown},
		"a problem of another":   {func(received) string { return answerOf(429, problemType, problem(422, "invalid-request")) }, isUnknown},
		"a problem without code": {func(received) string { return answerOf(429, problemType, problem(429, "")) }, isUnknown},
		"400":                    {problems(400, "malformed-request"), isProblem},
		"409":                    {problems(409, "run-id-used"), isProblem},
		"422":                    {problems(422, "invalid-request"), isProblem},
		"429":                    {problems(429, "queue-full", "Retry-After: 7"), isProblem},
		"503": {func(received) string {
			return answerOf(503, problemType, replace(problem(503, "draining"), `"status"`, `"retryAfterMs":7000,"status"`), "Retry-After: 8")
		}, isProblem},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, row.answer)
			j := job(t)
			j.ID = "run-1"
			result, err := New(f.socket).Run(t.Context(), j)
			if got := outcomeOf(t, j.ID, err); got != row.want || (result != nil) != (got == isResult) {
				t.Errorf("it is %s: %v, %v", got, result, err)
			}
			if n := len(f.requests()); n != 1 {
				t.Errorf("%d requests arrived", n)
			}
			var p *ProblemError
			if errors.As(err, &p) && !strings.Contains(fmt.Sprint(err), "why") {
				t.Errorf("the message has no detail: %v", err)
			}
			wait := time.Duration(0)
			if name == "429" || name == "503" {
				wait = 7 * time.Second
			}
			if p != nil && p.RetryAfter != wait {
				t.Errorf("RetryAfter = %v, want %v", p.RetryAfter, wait)
			}
		})
	}
}

// digestIn is the Content-Digest of an answer.
func digestIn(answer string) string {
	_, after, _ := strings.Cut(answer, "Content-Digest: ")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

// TestCutAnswers cuts sound answers behind each of their bytes: only the whole
// of one is known. Each run is one request.
func TestCutAnswers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer func(received) string
		call   func(context.Context, *Client, Job) (*Result, error)
		whole  outcome
	}{
		"result":  {func(r received) string { return resultAnswer(observed(r)) }, callRun, isResult},
		"problem": {func(received) string { return answerOf(429, problemType, problem(429, "queue-full")) }, callRun, isProblem},
		"stream":  {func(r received) string { return streamAnswer(events(r)) }, callStream, isResult},
		"stream with a problem": {func(r received) string {
			return streamAnswer(append(events(r)[:1], problemEvent(r, 1, 503)))
		}, callStream, isProblem},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cut, length atomic.Int64
			f := newFake(t, func(r received) string {
				answer := row.answer(r)
				length.Store(int64(len(answer)))
				return answer[:cut.Load()]
			})
			j := job(t)
			j.ID = "run-1"
			for length.Store(1); cut.Load() <= length.Load(); cut.Add(1) {
				want := isUnknown
				result, err := row.call(t.Context(), New(f.socket), j)
				if cut.Load() == length.Load() {
					want = row.whole
				}
				if got := outcomeOf(t, j.ID, err); got != want || (result != nil) != (got == isResult) {
					t.Fatalf("%d of %d bytes: %s, want %s: %v", cut.Load(), length.Load(), got, want, err)
				}
			}
			if n := int64(len(f.requests())); n != length.Load()+1 || n < 200 {
				t.Errorf("%d requests arrived for %d runs", n, length.Load()+1)
			}
		})
	}
}

func callRun(ctx context.Context, c *Client, j Job) (*Result, error) { return c.Run(ctx, j) }

func callStream(ctx context.Context, c *Client, j Job) (*Result, error) {
	return c.Stream(ctx, j, func(Event) {})
}
