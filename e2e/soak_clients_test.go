//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// manner is how a client goes about one run. Its error is that of the transport.
type manner struct {
	name  string
	share int // of a hundred
	send  func(*life, *testing.T, errand, runRequest) error
}

func manners() []manner {
	return []manner{
		{"multipart", 40, (*life).sendForm}, {"inline", 15, (*life).sendInline}, {"stream", 10, (*life).sendStream}, {"stream read late", 8, (*life).sendStreamLate},
		{"deleted", 7, (*life).sendAndDelete}, {"dropped", 7, (*life).sendAndDrop}, {"stream dropped", 6, (*life).sendStreamAndDrop}, {"cut upload", 7, (*life).sendCut},
	}
}

// client sends one run after the other, until the daemon is gone or the soak
// has failed.
func (l *life) client(t *testing.T) {
	for !t.Failed() {
		e := l.draw()
		r := e.request(t, l.soak, l.d, e.id)
		err := e.manner.send(l, t, e, r)
		for errors.Is(err, errBusy) { // nothing was started: the same again
			l.pause(t, 250*time.Millisecond)
			err = e.manner.send(l, t, e, r)
		}
		switch {
		case err == nil:
			l.count(e.manner.name)
		case l.ending.Load():
			l.count("ended with the daemon")
			return
		default:
			t.Errorf("%s of %s: %v", e.manner.name, e.name, err)
		}
	}
}

func (l *life) sendForm(t *testing.T, e errand, r runRequest) error {
	return l.exchange(t, e, r, l.d.newRun(t, t.Context(), r), false)
}

func (l *life) sendInline(t *testing.T, e errand, r runRequest) error {
	request := l.d.newRequest(t, http.MethodPost, "/v1/runs", strings.NewReader(text(t, r.inline())))
	request.Header.Set("Content-Type", "application/json")
	return l.exchange(t, e, r, request, false)
}

// exchange sends a request and judges the answer. meddled says that the run may
// have been cancelled.
func (l *life) exchange(t *testing.T, e errand, r runRequest, request *http.Request, meddled bool) error {
	request.Close = true // a connection that the daemon has closed meanwhile would be a riddle
	a, err := l.d.exchange(request)
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return l.refused(t, a)
	}
	l.judge(t, e, r, a.result(t), meddled)
	return nil
}

var (
	errBusy     = errors.New("the queue is full")
	errDraining = errors.New("the daemon drains")
)

// refused tells the two refusals that there may be.
func (l *life) refused(t *testing.T, a answer) error {
	code := a.problem(t).Code
	switch {
	case code == "queue-full":
		l.count("refused")
		return errBusy
	case code == "draining" && l.ending.Load():
		return errDraining
	}
	return fmt.Errorf("refused %d: %s", a.status, a.body)
}

func (l *life) pause(t *testing.T, length time.Duration) {
	select {
	case <-time.After(length): // the pace of a client is what is tried here
	case <-t.Context().Done():
	}
}

// judge holds a result against what this kind of program must come to.
func (l *life) judge(t *testing.T, e errand, r runRequest, got result, meddled bool) {
	if meddled && (got.Status == "not-started" && got.Reason == "aborted" || got.Process != nil && got.Process.Stopped != nil && *got.Process.Stopped == "cancelled") {
		l.count("cancelled")
		if n := got.Namespace; n != nil && n.State != "removed" || got.Status == "unresolved" {
			t.Errorf("%s, cancelled: %s %+v", e.name, got.Status, n)
		}
		return
	}
	l.d.mustBeRight(t, r, got)
	if p, there := readProcess(fmt.Sprintf("/proc/%d/stat", got.Process.PID)); there && p.ppid == l.pid {
		t.Errorf("%s is answered, and its process is still there: %+v", e.name, p)
	}
	if o := l.d.outcome(t, got); !e.right(r, o, got.Process) {
		t.Errorf("%s: %.3000s\n%.3000s", e.name, o, text(t, got.Process))
		return
	}
	l.count("right: " + e.name)
}

// sendAndDelete asks for the end of its run after a while.
func (l *life) sendAndDelete(t *testing.T, e errand, r runRequest) error {
	asked := make(chan error, 1)
	ctx, answered := context.WithCancel(t.Context())
	go func() {
		select {
		case <-time.After(e.after):
		case <-ctx.Done():
		}
		request := l.d.newRequest(t, http.MethodDelete, "/v1/runs/"+r.id, nil)
		request.Close = true
		a, err := l.d.exchange(request)
		if err == nil && a.status != http.StatusAccepted && a.status != http.StatusNotFound {
			t.Errorf("DELETE of a run: %d %s", a.status, a.body)
		}
		asked <- err
	}()
	err := l.exchange(t, e, r, l.d.newRun(t, t.Context(), r), true)
	answered()
	return errors.Join(err, <-asked)
}

// sendAndDrop leaves after a while.
func (l *life) sendAndDrop(t *testing.T, e errand, r runRequest) error {
	ctx, drop := context.WithTimeout(t.Context(), e.after)
	defer drop()
	err := l.exchange(t, e, r, l.d.newRun(t, ctx, r), false)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// sendCut stops in the middle of its body: nothing may come of that but a refusal.
func (l *life) sendCut(t *testing.T, e errand, r runRequest) error {
	request := l.d.newRun(t, t.Context(), r)
	whole, err := io.ReadAll(request.Body)
	if err != nil {
		return err
	}
	errCut := errors.New("cut")
	request.Body = io.NopCloser(io.MultiReader(bytes.NewReader(whole[:int(e.part*float64(len(whole)))]), failing{errCut}))
	request.GetBody, request.Close = nil, true
	a, err := l.d.exchange(request)
	switch {
	case err == nil && a.status == http.StatusOK:
		t.Errorf("%s was sent in part and answered %.2000s", e.name, a.body)
	case err == nil:
		return l.refused(t, a)
	case errors.Is(err, errCut):
		return nil
	}
	return err
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

func (l *life) sendStream(t *testing.T, e errand, r runRequest) error {
	return l.stream(t, e, r, t.Context(), 0)
}

// sendStreamLate does not read for a while.
func (l *life) sendStreamLate(t *testing.T, e errand, r runRequest) error {
	return l.stream(t, e, r, t.Context(), time.Second+e.after)
}

func (l *life) sendStreamAndDrop(t *testing.T, e errand, r runRequest) error {
	ctx, drop := context.WithTimeout(t.Context(), e.after)
	defer drop()
	err := l.stream(t, e, r, ctx, 0)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// stream sends a run whose client is told of it as it goes, and judges what its
// last line has. That the lines are of the contract is seen by the transport.
func (l *life) stream(t *testing.T, e errand, r runRequest, ctx context.Context, wait time.Duration) error {
	request := l.d.newRun(t, ctx, r)
	request.Header.Set("Accept", "application/x-ndjson")
	request.Close = true
	response, err := l.d.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	l.pause(t, wait)
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return l.refused(t, answer{request.Method, request.URL.Path, response.StatusCode, response.Header, body})
	}
	lines := bytes.Split(bytes.TrimSpace(body), []byte("\n"))
	var last streamEvent
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		return err
	}
	if last.Problem != nil {
		return l.refused(t, answer{request.Method, request.URL.Path, last.Problem.Status, nil, []byte(text(t, last.Problem))})
	}
	l.judge(t, e, r, strict[result](t, last.Result), false)
	return nil
}
