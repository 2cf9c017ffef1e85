package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confined/internal/exec"
	"confined/internal/pins"
)

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// hugeForm is a form whose last file has n zero bytes.
func hugeForm(n int64, parts ...string) io.Reader {
	head := ""
	for _, p := range parts {
		head += "--b\r\n" + p + "\r\n"
	}
	return io.MultiReader(strings.NewReader(head+"--b\r\n"+rawPart("input/big", "")), io.LimitReader(zeros{}, n), strings.NewReader("\r\n--b--\r\n"))
}

func (r *rig) postReader(t testing.TB, path string, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, path, body)
	req.Header.Set("Content-Type", rawType)
	return r.do(t, req)
}

func TestBodiesAreBounded(t *testing.T) {
	r := newRig(t, nil)
	b := newBody(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", io.LimitReader(zeros{}, maxMultipart+1)), r.memory)
	b.bound(maxMultipart)
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, b, make([]byte, 1<<20))
	if p := b.refusal(err); n > maxMultipart || n < maxMultipart-1<<20 || !errors.Is(err, errBodyTooLarge) || p.code != ProblemCodeTooLarge || !strings.Contains(p.detail, "64 MiB each") {
		t.Errorf("%d bytes, %v, %v", n, err, p)
	}
	b.release()
	small := newRig(t, func(o *Options) { o.UploadMemory = 1 << 20 })
	if p := problemOf(t, small.postReader(t, "/v1/runs", hugeForm(2<<20, rawRequest(), rawProgram()))); p.Code != ProblemCodeTooLarge || !strings.Contains(p.Detail, "all the upload memory") {
		t.Errorf("%+v", p)
	}
	if r.memory.used.Load()+small.memory.used.Load() != 0 {
		t.Error("memory is not given back")
	}
}

// TestUploadMemoryIsShared: bytes that one request holds keep another out, until
// the first is answered; an output that waits to be answered counts too.
func TestUploadMemoryIsShared(t *testing.T) {
	r := newRig(t, func(o *Options) { o.UploadMemory = 1 << 20 })
	started, release := r.blocking()
	first := make(chan *httptest.ResponseRecorder, 1)
	go func() { first <- r.postReader(t, "/v1/runs", hugeRequest(600<<10)) }()
	<-started
	w := r.postReader(t, "/v1/runs", hugeRequest(600<<10))
	if p := problemOf(t, w); p.Code != ProblemCodeUploadMemoryFull || p.Status != 503 {
		t.Errorf("%+v", p)
	}
	close(release)
	if w := <-first; w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := r.postReader(t, "/v1/runs", hugeRequest(600<<10)); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := r.memory.used.Load(); got != 0 {
		t.Errorf("%d bytes are still held", got)
	}
	r.executor.run = func(_ context.Context, req exec.Request) exec.Result {
		res := observedResult(req.RunID())
		res.Process.Stdout = exec.OutputOf(bytes.Repeat([]byte{'x'}, 2<<20))
		return res
	}
	if w := r.postReader(t, "/v1/runs", hugeRequest(1<<10)); w.Code != 200 || r.memory.used.Load() != 0 {
		t.Errorf("%d, %d bytes are still held", w.Code, r.memory.used.Load())
	}
}

// TestRunsOnDiskLetGo: a run that lasts keeps no upload out once its files are
// on disk.
func TestRunsOnDiskLetGo(t *testing.T) {
	r := newRig(t, nil)
	var before, after int64
	r.executor.traced = func(_ context.Context, req exec.Request, trace *exec.Trace) exec.Result {
		before = r.memory.used.Load()
		trace.Materialised(exec.MaterialisedInfo{RunID: req.RunID(), Namespace: "/r/slot-0"})
		after = r.memory.used.Load()
		return observedResult(req.RunID())
	}
	if w := r.postReader(t, "/v1/runs", hugeRequest(1<<10)); w.Code != 200 || before < 1<<10 || after != 0 {
		t.Errorf("%d, %d bytes are held before, %d after", w.Code, before, after)
	}
}

// TestRefusedBodiesLetGo: what was read of a refused body does not keep others
// out while the rest of it is drained.
func TestRefusedBodiesLetGo(t *testing.T) {
	r := newRig(t, nil)
	sent, rest := io.Pipe()
	req := httptest.NewRequest(http.MethodPost, "/v1/snapshots", sent)
	req.Header.Set("Content-Type", jsonType)
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() { answered <- r.do(t, req) }()
	_, _ = io.WriteString(rest, `{"files":[`+asText("a", strings.Repeat("x", 500_000)))
	waitFor(t, "memory is held", func() bool { return r.memory.used.Load() > 0 })
	_, _ = io.WriteString(rest, `]]`+strings.Repeat(" ", 100_000))
	waitFor(t, "memory is given back", func() bool { return r.memory.used.Load() == 0 })
	if len(answered) > 0 {
		t.Error("the answer did not wait for the rest of the body")
	}
	_ = rest.Close()
	if p := problemOf(t, <-answered); p.Code != ProblemCodeMalformedRequest {
		t.Errorf("%+v", p)
	}
}

// hugeRequest is a valid run whose input is one file of n zero bytes.
func hugeRequest(n int64) io.Reader {
	var b pins.Builder
	if err := b.Add("big", io.LimitReader(zeros{}, n)); err != nil {
		panic(err)
	}
	s, _ := b.Snapshot()
	request := requestWith(func(m object) { input(m)["digest"] = string(s.Digest()) })
	return hugeForm(n, rawPart("request", request), rawProgram())
}

// TestUploadsAreHeldOnce: the files of a run are in memory once, in whatever form
// and order they came, and no more from when they are on disk; and so they are
// counted.
func TestUploadsAreHeldOnce(t *testing.T) {
	const size, slack = 4 << 20, 1 << 20
	content := strings.Repeat("0123456789abcdef", size/16)
	var b pins.Builder
	_ = b.Add("big", strings.NewReader(content))
	s, _ := b.Snapshot()
	b = pins.Builder{}
	forms := inEveryForm(func(m object) { input(m)["digest"] = string(s.Digest()) }, file{name: "program/main.mjs", content: helloSource}, file{name: "input/big", content: content})
	s.Forget()
	for form, sent := range forms {
		r := newRig(t, nil)
		var during, after, counted, left int64
		before := heap()
		r.executor.traced = func(_ context.Context, req exec.Request, trace *exec.Trace) exec.Result {
			during, counted = heap(), r.memory.used.Load()
			trace.Materialised(exec.MaterialisedInfo{})
			after, left = heap(), r.memory.used.Load()
			runtime.KeepAlive(req)
			return observedResult(req.RunID())
		}
		if w := r.quickly("/v1/runs", sent.body, sent.contentType); w.Code != 200 {
			t.Fatalf("%s: %d %s", form, w.Code, w.Body)
		}
		if grown := during - before; grown < size-slack || grown > size+slack || counted < size {
			t.Errorf("%s: the heap grew by %d bytes for %d, and %d are counted", form, grown, size, counted)
		}
		if grown := after - before; grown > slack || left != 0 {
			t.Errorf("%s: %d bytes are still in memory when they are on disk, and %d are counted", form, grown, left)
		}
	}
	runtime.KeepAlive(forms)
}

// heap is what is in use; pools give back what they hold with the second
// collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestResultsAreNeverHeldEncoded: sending 16 MiB of output allocates next to nothing.
func TestResultsAreNeverHeldEncoded(t *testing.T) {
	for name, fill := range map[string]byte{"text": 'x', "binary": 0xff} {
		res := observedResult("x")
		res.Process.Stdout = exec.OutputOf([]byte(strings.Repeat(string([]byte{fill}), 16<<20)))
		w := &discardAnswer{header: http.Header{}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := (frozen{result: res}).VisitCreateRunResponse(w); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 || w.n < 16<<20 || fmt.Sprint(w.n) != w.header.Get("Content-Length") {
			t.Errorf("%s: %d bytes allocated, %d sent, Content-Length %s", name, got, w.n, w.header.Get("Content-Length"))
		}
	}
}

type discardAnswer struct {
	header http.Header
	n      int64
}

func (d *discardAnswer) Header() http.Header         { return d.header }
func (d *discardAnswer) WriteHeader(int)             {}
func (d *discardAnswer) Write(p []byte) (int, error) { d.n += int64(len(p)); return len(p), nil }

// trickle is a client in a bubble that sends the head of a request at once, a
// first byte, and then another one after each pause, for as long as it can.
func (r *rig) trickle(t *testing.T, path string, pause time.Duration, times int) (conn net.Conn, end func()) {
	l := &pipeListener{conns: make(chan net.Conn)}
	server := &http.Server{Handler: r}
	go func() { _ = server.Serve(l) }()
	client, far := net.Pipe()
	l.conns <- far
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: c\r\nContent-Type: %s\r\nContent-Length: 1000000\r\n\r\n--b\r\n", path, rawType)
		for range times {
			pass(pause)
			if err == nil {
				_, err = io.WriteString(client, "X")
			}
		}
	}()
	return client, func() {
		_ = client.Close()
		_ = server.Close()
		<-done
		pass(time.Second) // in which net/http lets go of the connection
		if got := r.memory.used.Load(); got != 0 {
			t.Errorf("%d bytes are still held", got)
		}
	}
}

// TestSlowUploadsEnd: who sends nothing for long in the middle of a body is
// answered and lets go of the memory, and so is who sends a little now and then
// for very long; until then nobody is.
func TestSlowUploadsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		pause time.Duration
		times int
		after time.Duration
	}{
		"stalled at once": {0, 0, uploadIdle},
		"stalled later":   {uploadIdle - time.Second, 3, 3*(uploadIdle-time.Second) + uploadIdle},
		"trickling":       {uploadIdle / 2, 100, uploadWhole},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				client, end := newRig(t, nil).trickle(t, "/v1/runs", c.pause, c.times)
				defer end()
				res, body := readAnswer(t, client)
				if res.StatusCode != 400 || !strings.Contains(body, "malformed-request") || !strings.Contains(body, "nothing came for 1m0s") || time.Since(start) != c.after {
					t.Errorf("after %v: %d %s", time.Since(start), res.StatusCode, body)
				}
			})
		})
	}
}

// TestLateUploadsAreAnswered: a body that is still coming when everything else
// is done is not waited for much longer, and its client told why.
func TestLateUploadsAreAnswered(t *testing.T) {
	for _, path := range []string{"/v1/runs", "/v1/snapshots"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			client, end := r.trickle(t, path, time.Second, 100)
			defer end()
			pass(10 * time.Second)
			start := time.Now()
			if err := r.Drain(t.Context()); err != nil || time.Since(start) != 0 {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			res, body := readAnswer(t, client)
			if res.StatusCode != 503 || !strings.Contains(body, `"code":"draining"`) || res.Header.Get("Retry-After") == "" || time.Since(start) != lateBodies {
				t.Errorf("%s after %v: %d %s", path, time.Since(start), res.StatusCode, body)
			}
		})
	}
}

// pipeListener hands out the connections it is given.
type pipeListener struct{ conns chan net.Conn }

func (l *pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l *pipeListener) Close() error   { close(l.conns); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func TestBodyFailuresStay(t *testing.T) {
	failure := errors.New("reset")
	req := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("abc"), failing{failure}))
	b := newBody(httptest.NewRecorder(), req, &memory{limit: 100})
	b.end = "END"
	got, err := io.ReadAll(b)
	if string(got) != "abc" || !errors.Is(err, failure) || !errors.Is(b.failed(), failure) {
		t.Errorf("%q %v", got, err)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, failure) {
		t.Errorf("then %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
