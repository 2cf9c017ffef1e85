package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"confined/e2e/contract"
)

// little is an upload memory that one large body exceeds.
func little(o *Options) { o.UploadMemory = 1 << 20 }

// runCauses are those of POST /v1/runs.
func runCauses() map[string]cause {
	rows := map[string]cause{}
	form, formType := helloForm(nil)
	wrong, wrongType := helloForm(func(m object) { m["cpuSeconds"] = 0 })
	large := strings.Repeat("x", 2<<20) // of 1 MiB
	largeForm, largeType := formOf(file{name: "request", content: requestWith(nil)}, file{name: "program/x", content: large})
	halfForm, halfType := formOf(file{name: "request", content: requestWith(nil)}, file{name: "program/x", content: large[:512<<10]})
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

// snapshotCauses are those of POST /v1/snapshots.
func snapshotCauses() map[string]cause {
	rows := map[string]cause{}
	bare, bareType := formOf(file{name: "main.mjs", content: helloSource})
	outside, outsideType := formOf(file{name: "../x"})
	large, largeType := formOf(file{name: "x", content: strings.Repeat("x", 2<<20)})
	half, halfType := formOf(file{name: "x", content: strings.Repeat("x", 512<<10)})
	snapshot := func(change func(*Options), body string, header ...string) cause {
		return asking(change, "POST", "/v1/snapshots", body, header...)
	}
	rows["describeSnapshot 200 application/json"] = snapshot(nil, bare, "Content-Type", bareType)
	rows["describeSnapshot 400 malformed-request"] = snapshot(nil, bare[:len(bare)/2], "Content-Type", bareType)
	rows["describeSnapshot 413 too-large"] = snapshot(little, large, "Content-Type", largeType)
	rows["describeSnapshot 415 unsupported-media-type"] = snapshot(nil, bare, "Content-Type", "text/plain")
	rows["describeSnapshot 422 invalid-request"] = snapshot(nil, outside, "Content-Type", outsideType)
	rows["describeSnapshot 503 draining"] = func(t *testing.T, seen *contract.Ledger) { late(t, seen, bare, bareType) }
	rows["describeSnapshot 503 upload-memory-full"] = func(t *testing.T, seen *contract.Ledger) {
		crowded(t, seen, request("POST", "/v1/snapshots", half, "Content-Type", halfType))
	}
	return rows
}

// late sends half a snapshot to an API that no longer waits for the rest.
func late(t *testing.T, seen *contract.Ledger, body, contentType string) {
	t.Helper()
	r := newRig(t, nil)
	sent, rest := io.Pipe()
	req := httptest.NewRequest("POST", "/v1/snapshots", sent)
	req.Header.Set("Content-Type", contentType)
	w := &expiring{ResponseRecorder: httptest.NewRecorder(), connection: rest}
	go func() {
		_, _ = io.WriteString(rest, body[:len(body)/2])
		r.hurryUp()
	}()
	r.ServeHTTP(w, req)
	fitsAndNotes(t, req, w.Code, w.Header(), w.Body.Bytes(), seen)
}

// expiring is a connection whose read deadline is always now.
type expiring struct {
	*httptest.ResponseRecorder
	connection *io.PipeWriter
}

func (e *expiring) SetReadDeadline(time.Time) error {
	return e.connection.CloseWithError(os.ErrDeadlineExceeded)
}
