package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const patience = 30 * time.Second

// await receives from c, or fails.
func await[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
		panic("unreachable")
	}
}

// TestDeadConnection: a daemon answers once on a connection, keeps it, and drops
// it on the next request without an answer. net/http repeats some requests then.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	serve := func(f *fake, conn net.Conn) {
		from := bufio.NewReader(conn)
		r, err := f.read(from)
		if err != nil {
			return // the client went away
		}
		if r.URL.Path == "/v1/runs" {
			return // nothing is answered on a new connection either
		}
		_, _ = io.WriteString(conn, answerOf(200, resultType, `{}`))
		_, _ = f.read(from)
	}
	f := newFakeConn(t, serve)
	c := New(f.socket)
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	j := job(t)
	j.ID = "run-1"
	_, err := c.Run(t.Context(), j)
	if got := outcomeOf(t, j.ID, err); got != isUnknown {
		t.Errorf("it is %s: %v", got, err)
	}
	if got := f.requests(); len(got) != 2 || !got[1].Close {
		t.Errorf("%d requests arrived, want one of each", len(got))
	}

	// The control: the transport of net/http as it comes does repeat.
	f = newFakeConn(t, serve)
	usual := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", f.socket)
	}}}
	t.Cleanup(usual.CloseIdleConnections)
	for range 2 {
		response, err := usual.Get(baseURL)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	if n := len(f.requests()); n != 3 {
		t.Errorf("%d requests arrived for two of the usual client: this test would see no repetition", n)
	}
}

// TestTransport: nothing is between the client and its daemon.
func TestTransport(t *testing.T) {
	t.Parallel()
	if tr := transport("/s"); tr.Proxy != nil || !tr.DisableKeepAlives || !tr.DisableCompression {
		t.Errorf("%+v", tr)
	}
}

// TestCancelled: a context that ends after the job was sent leaves its outcome
// unknown, and the daemon sees the connection end.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"before the answer": "",
		"in the result":     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"in a problem":      "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, closed := make(chan struct{}), make(chan error, 1)
			f := newFakeConn(t, func(f *fake, conn net.Conn) {
				from := bufio.NewReader(conn)
				_, _ = f.read(from)
				_, _ = io.WriteString(conn, head)
				close(arrived)
				_, err := from.ReadByte()
				closed <- err
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-arrived
				cancel(errors.New("enough"))
			}()
			j := job(t)
			j.ID = "run-1"
			_, err := New(f.socket).Run(ctx, j)
			if got := outcomeOf(t, j.ID, err); got != isUnknown || !errors.Is(err, context.Canceled) {
				t.Errorf("it is %s: %v", got, err)
			}
			if err := await(t, closed, "the connection to end"); err == nil {
				t.Error("the connection did not end")
			}
		})
	}
}

// TestNotHandedOver: as long as the body is not whole, nothing was started.
func TestNotHandedOver(t *testing.T) {
	t.Parallel()
	large := job(t)
	large.ID = "run-1"
	large.Input = tree(t, "a", strings.Repeat("x", 8<<20))

	t.Run("cancelled before", func(t *testing.T) {
		t.Parallel()
		f := newFake(t, func(r received) string { return resultAnswer(observed(r)) })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := New(f.socket).Run(ctx, large)
		if got := outcomeOf(t, large.ID, err); got != isNotSent || !errors.Is(err, context.Canceled) || len(f.requests()) != 0 {
			t.Errorf("it is %s: %v", got, err)
		}
	})
	for name, end := range map[string]func(cancel func(), conn net.Conn){
		"cancelled in the upload": func(cancel func(), conn net.Conn) { cancel(); _, _ = io.Copy(io.Discard, conn) },
		"cut in the upload":       func(_ func(), conn net.Conn) { conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			f := newFakeConn(t, func(_ *fake, conn net.Conn) {
				_, _ = io.ReadFull(conn, make([]byte, 64<<10))
				end(cancel, conn)
			})
			_, err := New(f.socket).Run(ctx, large)
			if got := outcomeOf(t, large.ID, err); got != isNotSent || errors.Is(err, context.Canceled) != (ctx.Err() != nil) {
				t.Errorf("it is %s: %v", got, err)
			}
			cancel()
		})
	}
	// A daemon that refuses before it has read everything still is heard.
	t.Run("refused in the upload", func(t *testing.T) {
		t.Parallel()
		f := newFakeConn(t, func(_ *fake, conn net.Conn) {
			_, _ = io.ReadFull(conn, make([]byte, 64<<10))
			_, _ = io.WriteString(conn, answerOf(429, problemType, problem(429, "queue-full")))
			_, _ = io.Copy(io.Discard, conn)
		})
		_, err := New(f.socket).Run(t.Context(), large)
		if got := outcomeOf(t, large.ID, err); got != isProblem {
			t.Errorf("it is %s: %v", got, err)
		}
	})
	t.Run("not UTF-8", func(t *testing.T) {
		t.Parallel()
		f := newFake(t, func(r received) string { return resultAnswer(observed(r)) })
		j := job(t)
		j.Args = []string{"\xff"}
		_, err := New(f.socket).Run(t.Context(), j)
		if got := outcomeOf(t, "", err); got != isNotSent || len(f.requests()) != 0 || !strings.Contains(err.Error(), `"\xff"`) {
			t.Errorf("it is %s: %v", got, err)
		}
	})
}

// TestNoDaemon: what people see when nobody is there, with the cure.
func TestNoDaemon(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	stale := dir + "/stale"
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	listener.Close()
	if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for socket, want := range map[string]string{
		dir + "/none":                        "nothing is at " + dir + "/none: start the daemon with `confined serve`",
		stale:                                "no daemon listens on " + stale,
		dir + "/file":                        "no daemon listens on " + dir + "/file",
		dir + "/" + strings.Repeat("x", 120): "bytes, and Linux takes 107",
	} {
		j := job(t)
		for _, pins := range []Pins{{}, j.Pins} {
			j.Pins = pins
			_, err := New(socket).Run(t.Context(), j)
			var noDaemon *NoDaemonError
			if !errors.As(err, &noDaemon) || noDaemon.Socket != socket || !strings.Contains(err.Error(), want) || !StartedNothing(err) {
				t.Errorf("%s: %v, want %q", socket, err, want)
			}
		}
	}
}

func TestDefaultSocket(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	t.Setenv("CONFINED_SOCKET", "")
	if s, err := DefaultSocket(); s != filepath.Join("/home/ada", ".confined/socket") || err != nil {
		t.Errorf("DefaultSocket = %q, %v", s, err)
	}
	t.Setenv("CONFINED_SOCKET", "/run/s")
	if s, err := DefaultSocket(); s != "/run/s" || err != nil {
		t.Errorf("with CONFINED_SOCKET: %q, %v", s, err)
	}
	t.Setenv("CONFINED_SOCKET", "")
	t.Setenv("HOME", "")
	if s, err := DefaultSocket(); err == nil || !strings.Contains(err.Error(), "CONFINED_SOCKET") {
		t.Errorf("without HOME: %q, %v", s, err)
	}
}

func TestStartedNothing(t *testing.T) {
	t.Parallel()
	p503 := &ProblemError{}
	p503.Problem.Status = 503
	p500 := &ProblemError{}
	p500.Problem.Status = 500
	for _, row := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New("anything"), false}, {context.Canceled, false}, {io.ErrUnexpectedEOF, false},
		{p503, true}, {p500, false}, {&UnknownError{"r", p503}, false}, {&NotSentError{p500}, true},
		{&NoDaemonError{"/s", os.ErrNotExist}, true}, {&UnknownError{"r", &NotSentError{p503}}, false},
	} {
		if got := StartedNothing(row.err); got != row.want {
			t.Errorf("StartedNothing(%v) = %t", row.err, got)
		}
	}
}
