package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confined/internal/exec"
)

// streaming is a client in the middle of a stream.
type streaming struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	got  []event
}

// openStream posts the hello form and asks for a stream.
func openStream(t *testing.T, conn net.Conn, id string) *streaming {
	t.Helper()
	body, contentType := helloForm(func(m object) { m["id"] = id })
	if _, err := fmt.Fprintf(conn, "POST /v1/runs HTTP/1.1\r\nHost: c\r\nAccept: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", mediaStream, contentType, len(body), body); err != nil {
		t.Fatal(err)
	}
	return &streaming{t: t, conn: conn}
}

// head reads up to the end of the head.
func (s *streaming) head() *http.Response {
	s.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(s.conn), nil)
	if err != nil || res.StatusCode != 200 {
		s.t.Fatal(res, err)
	}
	s.in = bufio.NewReader(res.Body)
	return res
}

// next is the next event.
func (s *streaming) next() event {
	s.t.Helper()
	if s.in == nil {
		s.head()
	}
	line, err := s.in.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("%v after %s", err, outline(s.got))
	}
	s.got = append(s.got, eventAfter(s.t, s.got, line))
	return s.got[len(s.got)-1]
}

// until reads on to an event of this type or stage.
func (s *streaming) until(word string) event {
	s.t.Helper()
	for {
		e := s.next()
		if e.Type == word || string(e.Stage) == word {
			return e
		}
	}
}

// mustEnd fails unless the stream ends here, as it should.
func (s *streaming) mustEnd() {
	s.t.Helper()
	if rest, err := io.ReadAll(s.in); err != nil || len(rest) > 0 {
		s.t.Errorf("after the last event: %q, %v", rest, err)
	}
}

// TestStreamIsPrompt: each event is there before anything else happens.
func TestStreamIsPrompt(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Workers = 1 })
	step := make(chan struct{})
	r.running(func(p *printer) {
		<-step
		p.print(exec.Stdout, "one")
		<-step
	})
	dial := unixServer(t, r)
	s := openStream(t, dial(), "a")
	if e := s.next(); e.Type != "accepted" || e.Position != 0 || e.ElapsedMs != 0 {
		t.Errorf("%+v", e)
	}
	s.until("admitted")
	second, third := openStream(t, dial(), "b"), openStream(t, dial(), "c")
	for _, waits := range []*streaming{second, third} {
		waits.next() // while it waits
	}
	positions := map[string]int{}
	for _, e := range slices.Concat(second.got, third.got) {
		positions[fmt.Sprint(e.Type, e.Position)]++
	}
	if positions["accepted0"] != 1 || positions["accepted1"] != 1 {
		t.Errorf("accepted at %v", positions)
	}
	step <- struct{}{}
	if e := s.next(); e.Bytes.Data != "one" {
		t.Errorf("%+v", e)
	}
	step <- struct{}{}
	s.until("result")
	s.mustEnd()
	for range 4 {
		step <- struct{}{}
	}
	second.until("result")
	third.until("result")
}

// TestStreamOfAPanic: it ends with the problem that says "unknown", after what
// the run had told; the daemon goes on.
func TestStreamOfAPanic(t *testing.T) {
	r := newRig(t, nil)
	r.running(func(p *printer) {
		p.print(exec.Stdout, "before\xc3")
		panic("a bug of ours")
	})
	_, got := r.streamed(t, func(m object) { m["id"] = "p" })
	last := got[len(got)-1]
	if want := allStagesButCollected + "stdout:utf-8:before stdout:base64:ww== problem"; outline(got) != want {
		t.Errorf("got  %s\nwant %s", outline(got), want)
	}
	if p := last.Problem; p == nil || p.Code != ProblemCodeInternal || p.Status != 500 || *p.RunID != "p" || strings.Contains(p.Detail, "bug") {
		t.Errorf("%+v", p)
	}
	log := r.log.String()
	for _, want := range []string{"a bug of ours", "stream_ends_test.go", `"runId":"p"`, `"status":200`, `"code":"internal"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q: %s", want, log)
		}
	}
	if running, waiting := r.Load(); running+waiting != 0 || r.memory.used.Load() != 0 || r.openTickets() != 0 {
		t.Errorf("left: %d %d, %d bytes, %d open", running, waiting, r.memory.used.Load(), r.openTickets())
	}
}

// TestCancelledStreams: a run asked to stop tells how it ended, whether it
// waited or was alive.
func TestCancelledStreams(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Workers = 1 })
	started, _ := r.blocking()
	dial := unixServer(t, r)
	alive := openStream(t, dial(), "alive")
	<-started
	waits := openStream(t, dial(), "waits")
	waits.next()
	r.cancel(t, "waits")
	if e := waits.next(); e.Type != "result" || !strings.Contains(string(e.Result), `"reason":"aborted"`) {
		t.Errorf("%+v", e)
	}
	waits.mustEnd()
	r.cancel(t, "alive")
	if e := alive.until("result"); !strings.Contains(string(e.Result), `"stopped":"cancelled"`) {
		t.Errorf("%+v", e)
	}
	alive.mustEnd()
}

// TestStreamClientsThatGoAway: a run whose client has gone is cancelled, and
// until it has settled its request is not over.
func TestStreamClientsThatGoAway(t *testing.T) {
	abandoned := make(chan struct{}, 1)
	r := newRig(t, func(o *Options) { o.Workers = 1; o.Trace.Abandoned = func() { abandoned <- struct{}{} } })
	cancelled, settle := make(chan struct{}), make(chan struct{})
	r.executor.run = func(ctx context.Context, req exec.Request) exec.Result {
		<-ctx.Done()
		close(cancelled)
		<-settle
		return observedResult(req.RunID())
	}
	dial := unixServer(t, r)
	alive := openStream(t, dial(), "alive")
	alive.next()
	waits := openStream(t, dial(), "waits")
	waits.next()
	_ = waits.conn.Close()
	<-abandoned
	_ = alive.conn.Close()
	<-cancelled
	waitFor(t, "the one that waited is answered", func() bool { return strings.Count(r.log.String(), `"msg":"request"`) == 1 })
	if running, _ := r.Load(); running != 1 || r.openTickets() != 1 {
		t.Errorf("while it settles %d run and %d are open", running, r.openTickets())
	}
	close(settle)
	waitFor(t, "all is over", func() bool {
		running, waiting := r.Load()
		return running+waiting == 0 && r.memory.used.Load() == 0 && strings.Count(r.log.String(), `"msg":"request"`) == 2
	})
}

// TestDrainAnswersStreams: one that waits ends with a problem, one that is alive
// with its result, and the daemon is not drained before the client has it.
func TestDrainAnswersStreams(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Workers = 1 })
	big := strings.Repeat("much ", 200_000)
	r.executor.traced = func(ctx context.Context, req exec.Request, trace *exec.Trace) exec.Result {
		p := &printer{trace: trace, id: req.RunID()}
		trace.Admitted(exec.AdmittedInfo{RunID: p.id})
		<-ctx.Done()
		p.print(exec.Stdout, big)
		return p.result()
	}
	dial := unixServer(t, r)
	alive := openStream(t, dial(), "alive")
	alive.until("admitted")
	waits := openStream(t, dial(), "waits")
	waits.next()
	ctx, cancel := context.WithCancel(t.Context())
	drained := make(chan error, 1)
	go func() { drained <- r.Drain(ctx) }()
	if e := waits.next(); e.Type != "problem" || e.Problem.Code != ProblemCodeDraining || e.Problem.RetryAfterMs == nil || *e.Problem.RunID != "waits" {
		t.Errorf("%+v", e)
	}
	waits.mustEnd()
	cancel()
	waitFor(t, "the run has settled", func() bool { running, _ := r.Load(); return running == 0 })
	select {
	case err := <-drained:
		t.Errorf("drained, and the client has not read its result: %v", err)
	default:
	}
	alive.until("result")
	alive.mustEnd()
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if got := printedIn(t, alive.got, "stdout"); string(got) != big {
		t.Errorf("%d bytes were told", len(got))
	}
}

// pipeServer serves r on one connection that is in memory, and so in a bubble
// of time.
func pipeServer(r *rig) (conn net.Conn, stop func()) {
	near, far := net.Pipe()
	l := &pipeListener{conns: make(chan net.Conn, 1)}
	l.conns <- far
	server := &http.Server{Handler: r}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	return near, func() { _ = server.Close(); _ = near.Close(); <-done }
}

// TestStreamClientThatReadsNothing: the run neither waits for it nor notices;
// what it keeps in memory is on the account; then its connection is cut, in the
// middle of the stream.
func TestStreamClientThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		const chunks = 1000
		chunk := strings.Repeat("x", 1000)
		r.running(func(p *printer) {
			for i := range chunks {
				p.print(exec.Stream(i%2), chunk)
			}
		})
		conn, stop := pipeServer(r)
		defer stop()
		start := time.Now()
		s := openStream(t, conn, "a")
		synctest.Wait()
		if running, _ := r.Load(); running != 0 || time.Since(start) != 0 || r.openTickets() != 1 {
			t.Errorf("after %s %d run and %d are open: the run is to have ended", time.Since(start), running, r.openTickets())
		}
		if used := r.memory.used.Load(); used < chunks*1000 || used > chunks*1100 {
			t.Errorf("%d bytes are on the account", used)
		}
		pass(answerIdle + time.Second)
		if r.openTickets() != 0 || r.memory.used.Load() != 0 || !strings.Contains(r.log.String(), "the answer was not taken") {
			t.Errorf("%d open, %d bytes, log %s", r.openTickets(), r.memory.used.Load(), r.log)
		}
		s.conn.SetReadDeadline(time.Now().Add(time.Second))
		if text, err := io.ReadAll(conn); err != nil || strings.Contains(string(text), "0\r\n\r\n") {
			t.Errorf("the stream is to break off: %q, %v", text, err)
		}
	})
}

// TestStreamClientThatReadsSlowly: it gets everything, however long that takes.
func TestStreamClientThatReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		text := strings.Repeat("slowly ", 40_000)
		r.running(func(p *printer) { p.print(exec.Stdout, text) })
		conn, stop := pipeServer(r)
		defer stop()
		s := openStream(t, conn, "a")
		start := time.Now()
		s.conn = slowConn{conn}
		s.until("result")
		s.mustEnd()
		if took := time.Since(start); took < 2*answerIdle {
			t.Errorf("it took only %s", took)
		}
		if got := printedIn(t, s.got, "stdout"); string(got) != text {
			t.Errorf("%d bytes were told", len(got))
		}
	})
}

// slowConn takes 4 KiB each 5 s.
type slowConn struct{ net.Conn }

func (c slowConn) Read(p []byte) (int, error) {
	pass(5 * time.Second)
	return c.Conn.Read(p[:min(len(p), 4096)])
}

// TestPanicFreesItsPlace: also where the client does not take the answer.
func TestPanicFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Workers = 1 })
		r.running(func(p *printer) { panic("a bug of ours") })
		conn, stop := pipeServer(r)
		defer stop()
		openStream(t, conn, "a")
		synctest.Wait()
		if running, _ := r.Load(); running != 0 || r.openTickets() != 1 {
			t.Errorf("%d run, %d are open", running, r.openTickets())
		}
	})
}

// TestStreamThatCannotBeWritten: it breaks off; its run is cancelled, and the
// request is over when that has settled.
func TestStreamThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		started := make(chan struct{})
		r.executor.run = func(ctx context.Context, req exec.Request) exec.Result {
			close(started)
			<-ctx.Done()
			pass(time.Hour)
			return observedResult(req.RunID())
		}
		body, contentType := helloForm(nil)
		req := httptest.NewRequest(http.MethodPost, "/v1/runs", strings.NewReader(body))
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Accept", mediaStream)
		start := time.Now()
		defer func() {
			if v := recover(); v != http.ErrAbortHandler || time.Since(start) != time.Hour {
				t.Errorf("the handler ended with %v after %s", v, time.Since(start))
			}
			if running, waiting := r.Load(); running+waiting != 0 || r.openTickets() != 0 || r.memory.used.Load() != 0 {
				t.Errorf("left: %d %d, %d open", running, waiting, r.openTickets())
			}
		}()
		r.ServeHTTP(&brokenWriter{after: started}, req)
	})
}

// brokenWriter can be written to no more once something has happened.
type brokenWriter struct {
	h     http.Header
	after <-chan struct{}
}

func (w *brokenWriter) Header() http.Header {
	if w.h == nil {
		w.h = http.Header{}
	}
	return w.h
}

func (*brokenWriter) WriteHeader(int) {}

func (w *brokenWriter) Write([]byte) (int, error) {
	<-w.after
	return 0, errors.New("broken")
}

func (*brokenWriter) FlushError() error { return nil }
