package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is a daemon of this binary in a process of its own.
type running struct {
	t      *testing.T
	places places
	cmd    *osexec.Cmd
	log    *logLines
	client *http.Client
}

// logLines keeps what a daemon logged and tells who waits for a line.
type logLines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	close(l.more)
	l.more = make(chan struct{})
	return len(p), nil
}

func (l *logLines) now() (string, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String(), l.more
}

// start runs `confined serve` and waits until it listens.
func start(t *testing.T, p places, more ...string) *running {
	t.Helper()
	d := &running{t: t, places: p, log: &logLines{more: make(chan struct{})}}
	d.cmd = command(t, append(append([]string{"serve"}, p.args()...), more...)...)
	d.cmd.Stderr = d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.cmd.Process.Kill(); d.cmd.Wait() })
	d.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.socket())
		},
	}}
	t.Cleanup(d.client.CloseIdleConnections)
	d.await(`"listening"`)
	return d
}

// await waits until the log holds text.
func (d *running) await(text string) string {
	d.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		log, more := d.log.now()
		if strings.Contains(log, text) {
			return log
		}
		select {
		case <-more:
		case <-deadline:
			d.t.Fatalf("no %s in the log:\n%s", text, log)
		}
	}
}

// stop sends the signals and waits for the end; it returns the exit code.
func (d *running) stop(signals ...os.Signal) int {
	d.t.Helper()
	for _, s := range signals {
		if err := d.cmd.Process.Signal(s); err != nil {
			d.t.Fatal(err)
		}
	}
	d.cmd.Wait()
	return d.cmd.ProcessState.ExitCode()
}

// get returns status and body of one answer.
func (d *running) get(path string) (int, string) {
	d.t.Helper()
	answer, err := d.client.Get("http://confined" + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func (d *running) digest(path string) string {
	d.t.Helper()
	_, body := d.get(path)
	var got struct{ Digest string }
	if err := json.Unmarshal([]byte(body), &got); err != nil || got.Digest == "" {
		d.t.Fatalf("%s: %v: %s", path, err, body)
	}
	return got.Digest
}

// form is a multipart body of parts, in order.
func form(t *testing.T, parts ...[2]string) (string, io.Reader) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		field, err := w.CreateFormField(p[0])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(field, p[1])
	}
	w.Close()
	return w.FormDataContentType(), &body
}

// post sends a form and returns status and body.
func (d *running) post(path string, parts ...[2]string) (int, string, error) {
	kind, body := form(d.t, parts...)
	answer, err := d.client.Post("http://confined"+path, kind, body)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// answer is what a client of a run got.
type answer struct {
	status int
	body   string
	err    error
}

// run submits a program of one file, and answers later.
func (d *running) run(id, source string) chan answer {
	d.t.Helper()
	_, body, err := d.post("/v1/snapshots", [2]string{"main.mjs", source})
	if err != nil {
		d.t.Fatal(err)
	}
	var program struct{ Digest string }
	if err := json.Unmarshal([]byte(body), &program); err != nil {
		d.t.Fatalf("%v: %s", err, body)
	}
	request, err := json.Marshal(map[string]any{
		"id": id, "runtime": d.digest("/v1/runtime"), "profile": d.digest("/v1/profile"),
		"program":   map[string]any{"digest": program.Digest, "entry": "main.mjs"},
		"input":     map[string]any{"digest": "sha256:c0043fe4568bd869827ca5681438f9dbf6deb6c9070e7b18d59f18cc69c1be61"},
		"timeoutMs": 60_000, "maxOutputBytes": 1024, "cpuSeconds": 60, "maxDescriptors": 64,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	out := make(chan answer, 1)
	go func() {
		status, body, err := d.post("/v1/runs", [2]string{"request", string(request)}, [2]string{"program/main.mjs", source})
		out <- answer{status, body, err}
	}()
	return out
}

// until asks path until its answer holds text.
func (d *running) until(path, text string) {
	d.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		_, body := d.get(path)
		if strings.Contains(body, text) {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%s never said %s: %s", path, text, body)
		}
	}
}

// nothingLeft checks what a drained daemon leaves: an empty root, no socket, no lock.
func nothingLeft(t *testing.T, p places) {
	t.Helper()
	for _, dir := range []string{p.root(), filepath.Dir(p.socket())} {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 0 {
			t.Errorf("%s holds %v, %v", dir, left, err)
		}
	}
	if left := p.scratch(); len(left) != 0 {
		t.Errorf("scratch was left: %v", left)
	}
}
