package e2e

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
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
func (d *daemon) halfSent(t *testing.T) *sender { return d.halfSentTo(t, "/v1/runs") }

func (d *daemon) halfSentTo(t *testing.T, path string) *sender {
	t.Helper()
	contentType, body := form(t, goodRun(t, d).parts(t))
	conn := d.dial(t)
	head := "POST " + path + " HTTP/1.1\r\nHost: confined\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\nContent-Type: " + contentType + "\r\n\r\n"
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
	return s.status(t)
}

// status is that of the answer.
func (s *sender) status(t *testing.T) int {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// TestDrainWhileSending: who is still sending when the daemon is told to end is
// answered when the body is whole; who never gets there does not hold it up, and
// is answered too.
func TestDrainWhileSending(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	if got := d.halfSent(t).finish(t); got != 200 {
		t.Errorf("a body in two pieces: %d", got)
	}
	alive := d.live(t, d.waiter(t, "drain-sending"), "drain-sending")
	finishes, never, snapshot := d.halfSent(t), d.halfSent(t), d.halfSentTo(t, "/v1/snapshots")
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	poll(t, func() bool { return d.get(t, "/readyz").status == 503 }, func() string { return "it does not drain" })
	if got := finishes.finish(t); got != 503 {
		t.Errorf("a run that came whole while the daemon drained: %d, want 503", got)
	}
	alive.release(t)
	d.mustEnd(t, 0)
	for what, s := range map[string]*sender{"a run": never, "a snapshot": snapshot} {
		if got := s.status(t); got != 503 {
			t.Errorf("%s that never came whole: %d, want 503", what, got)
		}
	}
}

// TestUploadMemory: what requests keep in the daemon until their files are on
// disk is bounded by one number. A request that could never fit is too large;
// one that does not fit now is told to come again, and fits once the others have
// gone.
func TestUploadMemory(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1", "--upload-memory=4MiB"))
	large := d.waiter(t, "upload-memory")
	large.input = files{"big": strings.Repeat("x", 3<<20)} // on disk once the program runs
	alive := d.live(t, large, "upload-memory")
	holder := goodRun(t, d)
	holder.input = large.input
	queued := d.launch(t, t.Context(), holder)
	d.awaitQueue(t, 1)
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
	d.mustBeRight(t, holder, queued.answer(t, d).result(t))
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
	for r.timeoutMs = 300; r.timeoutMs < 10_000; r.timeoutMs *= 2 { // on a busy host that can be over before the program is admitted
		if got, _, _ = d.postRun(t, r); got.Process != nil && got.Process.Admission == "admitted" {
			break
		}
	}
	d.mustBeRight(t, r, got)
	if p := got.Process; p.Stopped == nil || *p.Stopped != "timeout" || !p.KillSent || p.DurationMs < float64(r.timeoutMs) || p.DurationMs > float64(r.timeoutMs+10_000) {
		t.Errorf("beyond its time: %+v", p)
	}
}

// TestFullBoundsInJSON: in base64, too, both trees may have 64 MiB, and a byte
// more of either is refused for what it is. Nothing else of the request is
// there, so nothing runs.
func TestFullBoundsInJSON(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for _, row := range []struct {
		program, input int // bytes
		beyond         []string
	}{
		{64 << 20, 64 << 20, nil},
		{64<<20 + 1, 64<<20 + 2, []string{"/program/files/big", "/input/files/big"}},
	} {
		var body []io.Reader
		for _, tree := range []struct {
			before string
			size   int
		}{{`{"program":{"files":[{"path":"big","content":{"encoding":"base64","data":"`, row.program}, {`"}}]},"input":{"files":[{"content":{"data":"`, row.input}} {
			tail := base64.StdEncoding.EncodeToString(make([]byte, tree.size%3))
			body = append(body, strings.NewReader(tree.before), io.LimitReader(letters{}, int64(tree.size/3*4)), strings.NewReader(tail))
		}
		r := d.newRequest(t, http.MethodPost, "/v1/runs", io.MultiReader(append(body, strings.NewReader(`","encoding":"base64"},"path":"big"}]}}`))...))
		r.Header.Set("Content-Type", "application/json")
		var beyond []string
		for _, f := range d.ask(t, r).problem(t).Errors {
			switch f.Code {
			case "snapshot-too-large":
				beyond = append(beyond, f.Pointer)
			case "missing-field":
			default:
				t.Errorf("%+v", f)
			}
		}
		if !slices.Equal(beyond, row.beyond) {
			t.Errorf("%d and %d bytes: beyond the bound are %v, want %v", row.program, row.input, beyond, row.beyond)
		}
	}
}

// letters is an endless text of the letter A, which is base64 of zeros.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	return len(p), nil
}
