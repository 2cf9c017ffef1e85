package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confined/internal/exec"
)

// unixServer serves r on a real Unix socket.
func unixServer(t *testing.T, r *rig) func() net.Conn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: r}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return func() net.Conn {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

func sendForm(t *testing.T, conn net.Conn, id string) {
	t.Helper()
	body, contentType := helloForm(func(m object) { m["id"] = id })
	if _, err := fmt.Fprintf(conn, "POST /v1/runs HTTP/1.1\r\nHost: c\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", contentType, len(body), body); err != nil {
		t.Fatal(err)
	}
}

func readAnswer(t *testing.T, conn net.Conn) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// blocking makes the executor's runs wait for release or their context.
func (r *rig) blocking() (started chan string, release chan struct{}) {
	started, release = make(chan string, 100), make(chan struct{})
	r.executor.run = func(ctx context.Context, req exec.Request) exec.Result {
		started <- req.RunID()
		select {
		case <-release:
			return observedResult(req.RunID())
		case <-ctx.Done():
			stopped := observedResult(req.RunID())
			stopped.Process.Stopped = exec.StopCancelled
			return stopped
		}
	}
	return started, release
}

// waitFor polls what has no event to wait for.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !cond(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

func (r *rig) waiting(n int) func() bool {
	return func() bool { _, w := r.Load(); return w == n }
}

// TestClientsThatGoAway: one that waits leaves the queue, one that runs has its
// run cancelled, one that only stops sending still gets its result.
func TestClientsThatGoAway(t *testing.T) {
	abandoned := make(chan struct{}, 10)
	r := newRig(t, func(o *Options) { o.Workers = 1; o.Trace.Abandoned = func() { abandoned <- struct{}{} } })
	started, _ := r.blocking()
	dial := unixServer(t, r)
	alive, queued, half := dial(), dial(), dial()
	sendForm(t, alive, "alive")
	<-started
	sendForm(t, queued, "queued")
	waitFor(t, "one waits", r.waiting(1))
	sendForm(t, half, "half")
	waitFor(t, "two wait", r.waiting(2))
	_ = queued.Close()
	<-abandoned
	_ = half.(*net.UnixConn).CloseWrite()
	<-abandoned
	res, body := readAnswer(t, half)
	if res.StatusCode != 200 || !strings.Contains(body, `"status":"not-started","runId":"half","reason":"aborted"`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	_ = alive.Close()
	waitFor(t, "all have gone", func() bool {
		running, waiting := r.Load()
		return running+waiting == 0 && r.memory.used.Load() == 0
	})
	if len(started) != 0 {
		t.Errorf("a run started for a client that was gone: %s", <-started)
	}
}

func TestDrainAnswersEveryone(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Workers = 1 })
	started, _ := r.blocking()
	dial := unixServer(t, r)
	alive, queued := dial(), dial()
	sendForm(t, alive, "alive")
	<-started
	sendForm(t, queued, "queued")
	waitFor(t, "one waits", r.waiting(1))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Drain(ctx) }()
	if res, body := readAnswer(t, queued); res.StatusCode != 503 || !strings.Contains(body, `"code":"draining"`) || res.Header.Get("Retry-After") == "" {
		t.Errorf("queued: %d %s", res.StatusCode, body)
	}
	late := dial()
	sendForm(t, late, "late")
	if res, body := readAnswer(t, late); res.StatusCode != 503 || !strings.Contains(body, `"code":"draining"`) {
		t.Errorf("late: %d %s", res.StatusCode, body)
	}
	select {
	case err := <-done:
		t.Errorf("drained while a run was alive: %v", err)
	default:
	}
	cancel()
	if res, body := readAnswer(t, alive); res.StatusCode != 200 || !strings.Contains(body, `"stopped":"cancelled"`) {
		t.Errorf("alive: %d %s", res.StatusCode, body)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestDrainGivesUpOnWhoTakesNoAnswer: after the grace, and says so.
func TestDrainGivesUpOnWhoTakesNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		stuck, _, err := r.queue.enter(t.Context(), summary{id: "stuck"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := r.Drain(ctx); err == nil || time.Since(start) != time.Second+answerGrace {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		stuck.leave(true)
		stuck.close()
	})
}

// TestEarlyRefusals: a client that writes its whole body before it reads gets
// the refusal and no broken pipe; one that waits to be asked is not asked.
func TestEarlyRefusals(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Workers, o.Queue = 1, 0 })
	started, release := r.blocking()
	dial := unixServer(t, r)
	first := dial()
	sendForm(t, first, "first")
	<-started
	const size = 64 << 20
	head := fmt.Sprintf("POST /v1/runs HTTP/1.1\r\nHost: c\r\nContent-Type: %s\r\nContent-Length: %d\r\n", rawType, size)
	naive := dial()
	if _, err := io.WriteString(naive, head+"\r\n"+strings.Repeat("x", size)); err != nil {
		t.Errorf("writing the body: %v", err)
	}
	if res, body := readAnswer(t, naive); res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	polite := dial()
	if _, err := io.WriteString(polite, head+"Expect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if res, body := readAnswer(t, polite); res.StatusCode != 429 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	close(release)
	if res, body := readAnswer(t, first); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}
