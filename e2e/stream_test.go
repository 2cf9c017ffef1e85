//go:build linux

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const streamOfARun = "accepted counted materialised launched admitted collected settled result"

// TestStream: a client is told of its run while it goes, of all the output, and
// last what it would have been told without a stream.
func TestStream(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := d.script(t, waiting("streamed")+`
		import fs from 'node:fs';
		const torn = Buffer.from('é€😀');
		for (let i = 0; i < torn.length; i++) { fs.writeSync(1, torn, i, 1); fs.writeSync(2, 'x'); }
		fs.writeSync(1, Buffer.from([0x0a, 0xff, 0x0a]));
		fs.writeSync(2, '<&>\u2028 ready');`)
	r.id = "streamed"
	s := d.stream(t, r)
	s.until(" ready") // while the program waits for:
	tell(t, d.awaitProgram(t, "streamed", nil, nil))
	got := s.rest()
	d.mustBeRight(t, r, got)
	if out := got.Process.Stdout.plain(t); out != "é€😀\n\xff\n" || s.printed("stdout") != out {
		t.Errorf("stdout is %q, and was told as %q", out, s.printed("stdout"))
	}
	if out := got.Process.Stderr.plain(t); out != "xxxxxxxxx<&>\u2028 ready" || s.printed("stderr") != out {
		t.Errorf("stderr is %q, and was told as %q", out, s.printed("stderr"))
	}
	// Output and the admission come by pipes of their own, which have no order between them.
	out, o := regexp.MustCompile(` std(out|err)`), s.outline()
	if out.ReplaceAllString(o, "") != streamOfARun || !strings.Contains(o, " stdout") || strings.Index(o, " std") < strings.Index(o, " launched") {
		t.Errorf("the stream is %s", o)
	}
	for _, e := range s.events {
		if e.Stream == "stdout" && e.Bytes.Encoding != "utf-8" && !strings.Contains(e.Bytes.plain(t), "\xff") {
			t.Errorf("%q was told as %s", e.Bytes.plain(t), e.Bytes.Encoding)
		}
	}
	last := s.events[len(s.events)-1]
	sum := sha256.Sum256(last.Result)
	if want := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"; last.ContentDigest != want {
		t.Errorf("contentDigest is %s, want %s", last.ContentDigest, want)
	}
	if first := s.events[0]; *first.Position != 0 || first.ElapsedMs != 0 || s.head.Header.Get("Confined-Status")+s.head.Header.Get("Content-Digest")+s.head.Header.Get("Server-Timing") != "" {
		t.Errorf("first %+v, head %v", first, s.head.Header)
	}
	if counted := d.metric(t, "confined_output_bytes_sum"); counted != float64(got.Process.OutputBytes) {
		t.Errorf("%v bytes of output are counted, not %d", counted, got.Process.OutputBytes)
	}
}

// TestStreamOfNoProcess: what does not start is told by its result alone, also
// where the run waited first.
func TestStreamOfNoProcess(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := goodRun(t, d)
	r.runtime = r.profile
	s := d.stream(t, r)
	if got := s.rest(); got.Reason != "runtime-mismatch" || s.outline() != "accepted settled result" {
		t.Errorf("%s: %+v", s.outline(), got)
	}
}

// TestStreamDropped: the program of a client that goes away in the middle of a
// stream is ended, and its slot settled.
func TestStreamDropped(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	s := d.stream(t, d.script(t, waiting("dropped")+"console.log('ready');"))
	s.until("ready\n")
	waits := d.stream(t, goodRun(t, d))
	waits.next()
	stays := d.stream(t, goodRun(t, d))
	if e := stays.next(); *e.Position != 1 {
		t.Errorf("%+v", e)
	}
	pid := d.awaitProgram(t, "dropped", nil, nil)
	waits.drop()
	d.awaitQueue(t, 1)
	s.drop()
	d.mustBeRight(t, stays.r, stays.rest())
	if !gone(pid) {
		t.Error("the program is still there")
	}
	if n := d.metric(t, `confined_stops_total{reason="cancelled"}`); n != 1 {
		t.Errorf("%v runs were cancelled", n)
	}
	if n := d.metric(t, `confined_admissions_total{value="admitted"}`); n != 2 {
		t.Errorf("%v programs were admitted", n)
	}
}

// TestStreamDrained: a run that waits is told that it will not start, one that
// is alive is told to its end, and only then the daemon ends.
func TestStreamDrained(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	alive := d.stream(t, d.script(t, `
		import fs from 'node:fs';
		const text = 'x'.repeat(1 << 20) + 'ready\n'; // written at once: a process.exit would cut what console.log has not written yet
		for (let at = 0; at < text.length; ) at += fs.writeSync(1, text.slice(at));`+waiting("drained")))
	alive.until("admitted") // and reads no more for now
	waits := d.stream(t, goodRun(t, d))
	waits.next()
	pid := d.awaitProgram(t, "drained", nil, nil)
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if e := waits.next(); e.Type != "problem" || e.Problem.Code != "draining" || e.Problem.Status != 503 || e.Problem.RetryAfterMs == 0 {
		t.Errorf("%+v", e)
	}
	tell(t, pid)
	poll(t, func() bool { return d.status(t).Workers.Now == 0 }, func() string { return "the run is still alive" })
	select {
	case <-d.exited:
		t.Error("the daemon ended, and its client has not been told")
	default:
	}
	d.mustBeRight(t, alive.r, alive.rest())
	d.mustEnd(t, 0)
}

// TestStreamFlood: a client that reads nothing neither slows its run nor keeps
// others out, and is told everything when it reads.
func TestStreamFlood(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	r := d.script(t, `
		import fs from 'node:fs';
		const block = Buffer.alloc(1 << 16, 'flood of output ');
		for (let left = 16 << 20; left > 0; ) left -= fs.writeSync(1, block, 0, Math.min(left, block.length));`)
	r.maxOutputBytes = 16 << 20
	r.id = "fast"
	fast, err := d.exchange(d.newRun(t, t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	r.id = "slow"
	slow := d.stream(t, r)
	poll(t, func() bool { return d.metric(t, `confined_runs_total{reason="",status="observed"}`) == 2 }, func() string { return "the run waits for its client" })
	mustRun(t, d) // the worker is free
	if d.logs(`"msg":"request"`, `"runId":"slow"`) || !d.logs(`"msg":"request"`, `"runId":"fast"`) {
		t.Error("the daemon has sent everything: this client is not slow")
	}
	told, last, kept := slow.flood()
	got := strict[result](t, last.Result)
	if want := bytes.Repeat([]byte("flood of output "), 1<<20); !bytes.Equal(told, want) || !bytes.Equal(kept, want) {
		t.Errorf("%d bytes were told, and %d are in the result", len(told), len(kept))
	}
	if p := got.Process; !got.Attributable || p.Stopped != nil || p.OutputBytes != 16<<20 {
		t.Errorf("%+v", got)
	}
	if timing := fast.header.Get("Server-Timing"); got.Process.DurationMs > 5*programMs(t, timing)+5000 {
		t.Errorf("the run took %v ms; one whose client reads was timed as %s", got.Process.DurationMs, timing)
	}
}

// flood reads a stream of a program that prints much, and nothing that JSON
// escapes: the output that was told, and the last event with the output of its
// result apart. To decode it all would take the test longer than the run.
func (s *streaming) flood() (told []byte, last streamEvent, kept []byte) {
	s.t.Helper()
	for last.Type != "result" {
		line, err := s.lines.ReadBytes('\n')
		if err != nil {
			s.t.Fatalf("%v after %d bytes of output", err, len(told))
		}
		head, tail, _ := bytes.Cut(line, []byte(`"data":"`))
		text, tail, _ := bytes.Cut(tail, []byte(`"`))
		if len(text) > 0 {
			line = slices.Concat(head, []byte(`"data":"" `), tail)
		}
		if last = strict[streamEvent](s.t, line); last.Type == "output" {
			told = append(told, text...)
		}
		kept = text
	}
	return told, last, kept
}

// programMs is how long a program ran, as Server-Timing tells it.
func programMs(t *testing.T, timing string) float64 {
	t.Helper()
	_, after, _ := strings.Cut(timing, "program;dur=")
	text, _, _ := strings.Cut(after, ",")
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Errorf("%q: %v", timing, err)
	}
	return ms
}

// TestStreamBreaks: a stream whose daemon is gone ends without a last event,
// which says "unknown".
func TestStreamBreaks(t *testing.T) {
	t.Parallel()
	d := bootDaemon(t, newPlaces(t), nil, keepingRoot())
	s := d.stream(t, d.script(t, waiting("broken")+"console.log('ready');"))
	s.until("ready\n")
	d.kill9(t)
	if rest, err := io.ReadAll(s.lines); !errors.Is(err, io.ErrUnexpectedEOF) || bytes.Contains(rest, []byte(`"type":"result"`)) || bytes.Contains(rest, []byte(`"type":"problem"`)) {
		t.Errorf("%q, %v", rest, err)
	}
}
