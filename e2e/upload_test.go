package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// sender is a client that has sent a part of its body and waits.
type sender struct {
	net.Conn
	rest string
}

// halfSent starts a good run and sends about half of its body.
func (d *daemon) halfSent(t *testing.T) *sender {
	t.Helper()
	contentType, body := form(t, goodRun(t, d).parts(t))
	conn := d.dial(t)
	head := "POST /v1/runs HTTP/1.1\r\nHost: confined\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\nContent-Type: " + contentType + "\r\n\r\n"
	half := len(body) / 2
	if _, err := io.WriteString(conn, head+string(body[:half])); err != nil {
		t.Fatal(err)
	}
	return &sender{conn, string(body[half:])}
}

// finish sends the rest and returns the status of the answer.
func (s *sender) finish(t *testing.T) int {
	t.Helper()
	if _, err := io.WriteString(s, s.rest); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// TestDrainWhileSending: who is still sending when the daemon is told to end is
// answered when the body is whole; who never gets there does not hold it up.
func TestDrainWhileSending(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	if got := d.halfSent(t).finish(t); got != 200 {
		t.Errorf("a body in two pieces: %d", got)
	}
	alive := d.live(t, d.waiter(t, "drain-sending"), "drain-sending")
	finishes, never := d.halfSent(t), d.halfSent(t)
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	poll(t, func() bool { return d.get(t, "/readyz").status == 503 }, func() string { return "it does not drain" })
	if got := finishes.finish(t); got != 503 {
		t.Errorf("a run that came whole while the daemon drained: %d, want 503", got)
	}
	alive.release(t)
	d.mustEnd(t, 0)
	if _, err := never.Read(make([]byte, 1)); err == nil {
		t.Log("the one that never finished was answered, which is as good")
	}
}

// TestUploadMemory: what requests keep in the daemon is bounded by one number.
// A request that could never fit is too large; one that does not fit now is
// told to come again, and fits once the others have gone.
func TestUploadMemory(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1", "--upload-memory=4MiB"))
	holder := d.waiter(t, "upload-memory")
	holder.input = files{"big": strings.Repeat("x", 3<<20)}
	alive := d.live(t, holder, "upload-memory")
	r := goodRun(t, d)
	r.input = files{"big": strings.Repeat("y", 2<<20)}
	if p := d.post(t, r).problem(t); p.Status != 503 || p.Code != "upload-memory-full" {
		t.Errorf("2 MiB beside 3 of 4: %+v", p)
	}
	r.input = files{"big": strings.Repeat("y", 5<<20)}
	if p := d.post(t, r).problem(t); p.Status != 413 || p.Code != "too-large" {
		t.Errorf("5 MiB of 4: %+v", p)
	}
	d.mustBeReady(t, nil)
	alive.release(t)
	r.input = files{"big": strings.Repeat("y", 2<<20)}
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
}

// TestTightBounds: what a small program needs is really enough, and the largest
// output arrives whole.
func TestTightBounds(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := goodRun(t, d)
	r.maxOutputBytes, r.maxDescriptors, r.cpuSeconds = int64(len("hi\n")), 32, 1
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	if o := d.outcome(t, got); o.stdout != "hi\n" || o.code != 0 || got.Process.Stopped != nil {
		t.Errorf("%s", o)
	}
	r = d.script(t, `import fs from 'node:fs'; fs.writeFileSync(1, Buffer.alloc(15 << 20, 0xff)); fs.writeFileSync(2, Buffer.alloc(1 << 20, 0xfe))`)
	r.maxOutputBytes = 16 << 20
	got, _, _ = d.postRun(t, r)
	d.mustBeRight(t, r, got)
	if p := got.Process; p.Stopped != nil || *p.Exit.Code != 0 || p.Stdout.plain(t) != strings.Repeat("\xff", 15<<20) || p.Stderr.plain(t) != strings.Repeat("\xfe", 1<<20) {
		t.Errorf("16 MiB: %d bytes, exit %+v", p.OutputBytes, p.Exit)
	}
	r = d.script(t, `setInterval(() => process.stdout.write('x'.repeat(100)), 1)`)
	r.maxOutputBytes = 250
	got, _, _ = d.postRun(t, r)
	d.mustBeRight(t, r, got)
	if p := got.Process; p.Stopped == nil || *p.Stopped != "output-limit" || !p.KillSent || p.Stdout.plain(t) != strings.Repeat("x", 250) {
		t.Errorf("beyond the bound: %+v", p)
	}
	r = d.waiter(t, "tight-time")
	r.timeoutMs = 300
	got, _, _ = d.postRun(t, r)
	d.mustBeRight(t, r, got)
	if p := got.Process; p.Stopped == nil || *p.Stopped != "timeout" || !p.KillSent || p.DurationMs < 300 || p.DurationMs > 10_000 {
		t.Errorf("beyond its time: %+v", p)
	}
}
