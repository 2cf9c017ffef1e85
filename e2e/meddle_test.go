package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// A meddler stands between a client and the daemon and spoils the answer to the
// first POST /v1/runs that passes; all else it leaves alone.

// meddler listens on a socket of its own, which it returns.
func meddler(t testing.TB, d *daemon, meddle func(http.Handler) http.Handler) (socket string) {
	t.Helper()
	p := newPlaces(t)
	listener, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "confined"})
	proxy.FlushInterval = -1 // a stream passes as it comes
	proxy.Transport = d.client.Transport
	spoilt, first := meddle(proxy), atomic.Bool{}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v1/runs" && first.CompareAndSwap(false, true) {
			spoilt.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return p.socket
}

// passing spoils nothing.
func passing(daemon http.Handler) http.Handler { return daemon }

// refusedFirst: the daemon does not see the request, whose client is told to
// come again.
func refusedFirst(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Retry-After", "1")
		sayProblem(w, http.StatusTooManyRequests, "queue-full")
	})
}

// lostFirst: the program runs, and the answer is a 500.
func lostFirst(daemon http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		daemon.ServeHTTP(httptest.NewRecorder(), detached(r))
		sayProblem(w, http.StatusInternalServerError, "internal")
	})
}

// failedFirst: the program runs, and something on the way says that it failed to
// pass on the answer.
func failedFirst(daemon http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		daemon.ServeHTTP(httptest.NewRecorder(), detached(r))
		sayProblem(w, http.StatusBadGateway, "meddled-with")
	})
}

// cutFirst: the program runs, and the connection ends in the middle of the answer.
func cutFirst(daemon http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		daemon.ServeHTTP(whole, detached(r))
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
}

// detached is r for a handler that must not notice how its client fares.
func detached(r *http.Request) *http.Request {
	return r.WithContext(context.WithoutCancel(r.Context()))
}

func sayProblem(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"urn:confined:problem:%[2]s","title":"meddled with","status":%[1]d,`+
		`"detail":"a test says so","instance":"urn:confined:request:1","code":"%[2]s"}`, status, code)
}
