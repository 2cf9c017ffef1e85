package httpapi

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"confined/e2e/contract"
	"confined/internal/exec"
)

// TestEveryKindOfAnswer: each operation answers with each status and code that
// the contract declares for it, for the cause that belongs to it. A kind that
// is declared and that no row makes fails here; one that is made and not
// declared fails wherever an answer is judged.
func TestEveryKindOfAnswer(t *testing.T) {
	seen, rows := &contract.Ledger{}, map[string]cause{}
	kinds := mustContract(t).Kinds()
	for _, more := range []map[string]cause{everywhereCauses(t), runCauses(), otherCauses()} {
		maps.Copy(rows, more)
	}
	for _, kind := range kinds {
		row := rows[kind.String()]
		if row == nil {
			t.Errorf("no row makes %s", kind)
			continue
		}
		delete(rows, kind.String())
		t.Run(kind.String(), func(t *testing.T) {
			row(t, seen)
			if missing := seen.Missing([]contract.Kind{kind}); len(missing) > 0 {
				t.Error("it was not answered")
			}
		})
	}
	if len(rows) > 0 {
		t.Errorf("the contract has no %v", slices.Sorted(maps.Keys(rows)))
	}
}

// cause makes one kind of answer, and notes it.
type cause func(*testing.T, *contract.Ledger)

// answerOf is the judged and noted answer of an API.
func answerOf(t *testing.T, seen *contract.Ledger, a http.Handler, req *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, req)
	fitsAndNotes(t, req, w.Code, w.Header(), w.Body.Bytes(), seen)
	return w
}

// asking is the cause that is a request alone.
func asking(change func(*Options), method, path, body string, header ...string) cause {
	return func(t *testing.T, seen *contract.Ledger) {
		answerOf(t, seen, newRig(t, change), request(method, path, body, header...))
	}
}

func request(method, path, body string, header ...string) *http.Request {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// everywhereCauses are those of the answers that every path has.
func everywhereCauses(t *testing.T) map[string]cause {
	rows := map[string]cause{"* 404 not-found": asking(nil, "GET", "/nowhere", "")}
	stranger := func(o *Options) { owner := 1; o.Owner = &owner } // the requests of these tests have no peer
	for template, item := range mustContract(t).Doc.Paths.Map() {
		path := strings.NewReplacer("{runId}", "a", "{name}", "slot-0").Replace(template)
		rows[template+" 405 method-not-allowed"] = asking(nil, "PATCH", path, "")
		for method, operation := range item.Operations() {
			rows[operation.OperationID+" 403 forbidden"] = asking(stranger, method, path, "")
			rows[operation.OperationID+" 500 internal"] = func(t *testing.T, seen *contract.Ledger) {
				w := &breaking{ResponseRecorder: httptest.NewRecorder()}
				req := request(method, path, "")
				newRig(t, func(o *Options) { o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }) }).ServeHTTP(w, req)
				fitsAndNotes(t, req, w.Code, w.Header(), w.Body.Bytes(), seen)
			}
		}
	}
	return rows
}

// breaking is a connection that panics once, when an answer is about to begin:
// a bug that any operation may come upon.
type breaking struct {
	*httptest.ResponseRecorder
	broken bool
}

func (b *breaking) SetWriteDeadline(time.Time) error {
	if !b.broken {
		b.broken = true
		panic("a bug")
	}
	return nil
}

// runCauses are those of POST /v1/runs and of what else has a body.
func runCauses() map[string]cause {
	rows := map[string]cause{}
	form, formType := helloForm(nil)
	bare, bareType := formOf(file{name: "main.mjs", content: helloSource})
	wrong, wrongType := helloForm(func(m object) { m["cpuSeconds"] = 0 })
	outside, outsideType := formOf(file{name: "../x"})
	large := strings.Repeat("x", 2<<20) // of 1 MiB
	largeForm, largeType := formOf(file{name: "request", content: requestWith(nil)}, file{name: "program/x", content: large})
	largeTree, largeTreeType := formOf(file{name: "x", content: large})
	halfForm, halfType := formOf(file{name: "request", content: requestWith(nil)}, file{name: "program/x", content: large[:512<<10]})
	halfTree, halfTreeType := formOf(file{name: "x", content: large[:512<<10]})
	little := func(o *Options) { o.UploadMemory = 1 << 20 }

	run := func(change func(*Options), body string, header ...string) cause {
		return asking(change, "POST", "/v1/runs", body, header...)
	}
	rows["createRun 200 application/json"] = run(nil, form, "Content-Type", formType)
	rows["createRun 200 application/x-ndjson"] = run(nil, form, "Content-Type", formType, "Accept", "application/x-ndjson")
	rows["createRun 400 malformed-request"] = run(nil, form[:len(form)/2], "Content-Type", formType)
	rows["createRun 406 not-acceptable"] = run(nil, form, "Content-Type", formType, "Accept", "text/html")
	rows["createRun 413 too-large"] = run(little, largeForm, "Content-Type", largeType)
	rows["createRun 415 unsupported-media-type"] = run(nil, form, "Content-Type", "text/plain")
	rows["createRun 422 invalid-request"] = run(nil, wrong, "Content-Type", wrongType)
	rows["createRun 409 run-id-used"] = func(t *testing.T, seen *contract.Ledger) {
		r := newRig(t, nil)
		body, contentType := helloForm(func(m object) { m["id"] = "mine" })
		for range 2 {
			answerOf(t, seen, r, request("POST", "/v1/runs", body, "Content-Type", contentType))
		}
	}
	rows["createRun 429 queue-full"] = func(t *testing.T, seen *contract.Ledger) {
		busy(t, func(o *Options) { o.Workers, o.Queue = 1, 0 }, seen, request("POST", "/v1/runs", form, "Content-Type", formType))
	}
	rows["createRun 503 draining"] = func(t *testing.T, seen *contract.Ledger) {
		r := newRig(t, nil)
		if err := r.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		answerOf(t, seen, r, request("POST", "/v1/runs", form, "Content-Type", formType))
	}
	rows["createRun 503 upload-memory-full"] = func(t *testing.T, seen *contract.Ledger) {
		crowded(t, seen, request("POST", "/v1/runs", halfForm, "Content-Type", halfType))
	}

	snapshot := func(change func(*Options), body string, header ...string) cause {
		return asking(change, "POST", "/v1/snapshots", body, header...)
	}
	rows["describeSnapshot 200 application/json"] = snapshot(nil, bare, "Content-Type", bareType)
	rows["describeSnapshot 400 malformed-request"] = snapshot(nil, bare[:len(bare)/2], "Content-Type", bareType)
	rows["describeSnapshot 413 too-large"] = snapshot(little, largeTree, "Content-Type", largeTreeType)
	rows["describeSnapshot 415 unsupported-media-type"] = snapshot(nil, bare, "Content-Type", "text/plain")
	rows["describeSnapshot 422 invalid-request"] = snapshot(nil, outside, "Content-Type", outsideType)
	rows["describeSnapshot 503 upload-memory-full"] = func(t *testing.T, seen *contract.Ledger) {
		crowded(t, seen, request("POST", "/v1/snapshots", halfTree, "Content-Type", halfTreeType))
	}
	return rows
}

// busy asks an API whose one run lasts until the answer has come.
func busy(t *testing.T, change func(*Options), seen *contract.Ledger, req *http.Request) {
	t.Helper()
	r := newRig(t, change)
	started, release := r.blocking()
	body, contentType := helloForm(func(m object) { m["id"] = "alive" })
	alive := make(chan struct{})
	go func() {
		defer close(alive)
		answerOf(t, seen, r, request("POST", "/v1/runs", body, "Content-Type", contentType))
	}()
	<-started
	answerOf(t, seen, r, req)
	close(release)
	<-alive
}

// crowded asks an API whose upload memory another request takes up: one that is
// still sending.
func crowded(t *testing.T, seen *contract.Ledger, req *http.Request) {
	t.Helper()
	r := newRig(t, func(o *Options) { o.UploadMemory = 1 << 20 })
	body, contentType := formOf(file{name: "x", content: strings.Repeat("x", 768<<10)})
	sent, rest := io.Pipe()
	slow := httptest.NewRequest("POST", "/v1/snapshots", sent)
	slow.Header.Set("Content-Type", contentType)
	other := make(chan struct{})
	go func() {
		defer close(other)
		answerOf(t, seen, r, slow)
	}()
	half := len(body) - 100
	if _, err := io.WriteString(rest, body[:half]); err != nil {
		t.Error(err)
	}
	waitFor(t, "the memory is taken", func() bool { return r.memory.used.Load() > 600<<10 })
	answerOf(t, seen, r, req)
	_, _ = io.WriteString(rest, body[half:])
	_ = rest.Close()
	<-other
}

// otherCauses are those of what is only asked.
func otherCauses() map[string]cause {
	rows := map[string]cause{
		"cancelRun 202": func(t *testing.T, seen *contract.Ledger) {
			busy(t, nil, seen, request("DELETE", "/v1/runs/alive", ""))
		},
		"cancelRun 404 run-unknown": asking(nil, "DELETE", "/v1/runs/nobody", ""),
		"metrics 200 application/openmetrics-text": asking(func(o *Options) {
			o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // which chooses by Accept: see package metrics
				w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0")
			})
		}, "GET", "/metrics", ""),
	}
	for operation, path := range map[string]string{
		"listRuns": "/v1/runs", "getRuntime": "/v1/runtime", "getProfile": "/v1/profile", "listSlots": "/v1/slots", "getStatus": "/v1/status",
	} {
		rows[operation+" 200 application/json"] = asking(nil, "GET", path, "")
	}
	for operation, path := range map[string]string{"healthz": "/healthz", "readyz": "/readyz", "metrics": "/metrics", "contract": "/openapi.yaml"} {
		rows[operation+" 200 text/plain"] = asking(nil, "GET", path, "")
	}
	for operation, path := range map[string]string{"listSlots": "/v1/slots", "readyz": "/readyz"} {
		rows[operation+" 503 not-ready"] = func(t *testing.T, seen *contract.Ledger) {
			r := newRig(t, nil)
			r.pool.err = errors.New("the root is gone")
			answerOf(t, seen, r, request("GET", path, ""))
		}
	}
	for code, err := range map[string]error{"unsupported-host": &exec.UnprovenError{}, "runtime-unavailable": errors.New("no Node")} {
		rows["getRuntime 503 "+code] = func(t *testing.T, seen *contract.Ledger) {
			r := newRig(t, nil)
			r.executor.describe = func(context.Context) (exec.Description, error) { return exec.Description{}, err }
			answerOf(t, seen, r, request("GET", "/v1/runtime", ""))
		}
	}
	return rows
}
