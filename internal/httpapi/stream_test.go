package httpapi

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"confined/internal/exec"
)

const allStagesButCollected = "accepted counted materialised launched admitted "

// TestStreamOfARun: the events in order, each as the contract has it, and last
// the bytes of the answer that is no stream.
func TestStreamOfARun(t *testing.T) {
	r := newRig(t, nil)
	r.running(func(p *printer) {
		p.print(exec.Stdout, "one ")
		p.print(exec.Stderr, "two <&>\n")
		p.print(exec.Stdout, "three")
	})
	w, got := r.streamed(t, func(m object) { m["id"] = "a" })
	if want := allStagesButCollected + "stdout:utf-8:one  stderr:utf-8:two <&>\n stdout:utf-8:three collected settled result"; outline(got) != want {
		t.Errorf("got  %s\nwant %s", outline(got), want)
	}
	last := got[len(got)-1]
	_, again := r.streamed(t, func(m object) { m["id"] = "b" })
	if want := bytes.Replace(last.Result, []byte(`"runId":"a"`), []byte(`"runId":"b"`), 1); !bytes.Equal(again[len(again)-1].Result, want) {
		t.Errorf("not the same twice: %s", again[len(again)-1].Result)
	}
	body, contentType := helloForm(func(m object) { m["id"] = "c" })
	if plain := r.post(t, "/v1/runs", body, contentType).Body.String(); strings.Replace(plain, `"runId":"c"`, `"runId":"a"`, 1) != string(last.Result) {
		t.Errorf("without a stream: %s", plain)
	}
	h := w.Header()
	if h.Get("Confined-Run-Id") != "a" || h.Get("Confined-Status")+h.Get("Content-Digest")+h.Get("Server-Timing")+h.Get("Content-Length") != "" {
		t.Errorf("headers %v", h)
	}
	if r.memory.used.Load() != 0 || r.openTickets() != 0 {
		t.Errorf("left: %d bytes, %d open", r.memory.used.Load(), r.openTickets())
	}
}

// TestStreamsOfAllResults: every kind of result is the last event, verbatim.
func TestStreamsOfAllResults(t *testing.T) {
	for name, result := range results() {
		r := newRig(t, nil)
		r.executor.run = executorGiving(result)
		_, got := r.streamed(t, func(m object) { m["id"] = result.ID() })
		if last := got[len(got)-1]; got[0].Type != "accepted" || !bytes.Equal(last.Result, encoded(t, result)) {
			t.Errorf("%s: %s", name, outline(got))
		}
	}
}

// TestOutputIsToldWhole: however output is torn, the events of each stream
// together are its bytes, and only what is not UTF-8 is not told as that.
func TestOutputIsToldWhole(t *testing.T) {
	rows := map[string]struct {
		parts []string // odd ones on stderr
		want  string
	}{
		"torn in two":            {[]string{"a\xc3", "", "\xa9b"}, "stdout:utf-8:a stdout:utf-8:éb"},
		"torn in four":           {[]string{"\xf0", "", "\x9f", "", "\x98", "", "\x80"}, "stdout:utf-8:😀"},
		"torn by the other one":  {[]string{"\xc3", "x", "\xa9"}, "stderr:utf-8:x stdout:utf-8:é"},
		"both torn":              {[]string{"\xc3", "\xe2\x82", "\xa9", "\xac"}, "stdout:utf-8:é stderr:utf-8:€"},
		"never completed":        {[]string{"a\xe2\x82", "b\xc3"}, "stdout:utf-8:a stderr:utf-8:b stdout:base64:4oI= stderr:base64:ww=="},
		"not continued":          {[]string{"a\xe2\x82", "", "b"}, "stdout:utf-8:a stdout:base64:4oJi"},
		"never a character":      {[]string{"a\xff", "\x80"}, "stdout:base64:Yf8= stderr:base64:gA=="},
		"bad, and the next torn": {[]string{"\xff\xc3", "", "\xa9"}, "stdout:base64:/w== stdout:utf-8:é"},
		"a replacement":          {[]string{"\ufffd"}, "stdout:utf-8:\ufffd"},
		"too long for UTF-8":     {[]string{"\xc0\x80", "\xed\xa0", "", "\x80"}, "stdout:base64:wIA= stderr:base64:7aA= stderr:base64:gA=="},
	}
	for name, row := range rows {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.running(func(p *printer) {
				for i, part := range row.parts {
					if part != "" {
						p.print(exec.Stream(i%2), part)
						synctest.Wait() // until it is told
					}
				}
			})
			_, got := r.streamed(t, nil)
			if want := allStagesButCollected + row.want + " collected settled result"; outline(got) != want {
				t.Errorf("%s:\n got %s\nwant %s", name, outline(got), want)
			}
		})
	}
}

// TestRandomOutputIsToldWhole tears random text at random places, among which
// the client keeps up or does not.
func TestRandomOutputIsToldWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	alphabet := []string{"a", "\n", "é", "€", "😀", "\xff", "\xc3", "\xf0\x9f", "\x80", strings.Repeat("long ", 14_000), strings.Repeat("😀", 17_000)}
	for range 12 {
		var p0 *printer
		r := newRig(t, nil)
		r.running(func(p *printer) {
			p0 = p
			for range rng.IntN(12) {
				text := alphabet[rng.IntN(len(alphabet))]
				cut := rng.IntN(len(text) + 1)
				s := exec.Stream(rng.IntN(2))
				for _, part := range []string{text[:cut], text[cut:]} {
					if part != "" {
						p.print(s, part)
					}
				}
			}
		})
		_, got := r.streamed(t, nil)
		for s, name := range []string{"stdout", "stderr"} {
			if all := printedIn(t, got, name); !bytes.Equal(all, p0.kept[s]) {
				t.Fatalf("%s was told as %.200q, is %.200q", name, all, p0.kept[s])
			}
			for _, e := range got {
				b := plainBytes(t, e.Bytes)
				if e.Stream == name && (len(b) == 0 || len(b) > maxOutputEvent || utf8.Valid(b) != (e.Bytes.Encoding == BytesEncodingUTF8)) {
					t.Fatalf("an event has %d bytes as %s", len(b), e.Bytes.Encoding)
				}
				if utf8.Valid(p0.kept[s]) && e.Stream == name && e.Bytes.Encoding != BytesEncodingUTF8 {
					t.Fatalf("valid UTF-8 was told as %s: %.100q", e.Bytes.Encoding, b)
				}
			}
		}
	}
}

// TestHeartbeats: one after each 15 s of silence, counted from the last event.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.running(func(p *printer) {
			pass(35 * time.Second)
			p.print(exec.Stdout, "x")
			pass(10 * time.Second)
			p.print(exec.Stderr, "\xc3") // tells nothing yet
			pass(10 * time.Second)
		})
		_, got := r.streamed(t, nil)
		want := allStagesButCollected + "heartbeat heartbeat stdout:utf-8:x heartbeat stderr:base64:ww== collected settled result"
		if outline(got) != want {
			t.Errorf("got  %s\nwant %s", outline(got), want)
		}
		var at []float64
		for _, e := range got {
			if e.Type == "heartbeat" {
				at = append(at, e.ElapsedMs)
			}
		}
		if len(at) != 3 || at[0] != 15_000 || at[1] != 30_000 || at[2] != 50_000 {
			t.Errorf("heartbeats at %v", at)
		}
	})
}

// TestStreamsAreNeverHeldEncoded: telling of 4 MiB of output, as it comes and in
// the result, allocates next to nothing.
func TestStreamsAreNeverHeldEncoded(t *testing.T) {
	for name, fill := range map[string]byte{"text": 'x', "binary": 0xff} {
		out := bytes.Repeat([]byte{fill}, 4<<20)
		result := observedResult("x")
		result.Process.Stdout, result.Process.Stderr = exec.OutputOf(out), exec.Output{}
		f := newFeed(&memory{limit: 1 << 30}, time.Now())
		f.printed(exec.OutputInfo{Stream: exec.Stdout, Kept: exec.OutputOf(out)})
		w := &discardAnswer{header: http.Header{}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := newEvents(w, "x", time.Now())
		if err := errors.Join(e.happenings(f.take()), e.result(result, time.Second), e.done()); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<19 || w.n < 8<<20 {
			t.Errorf("%s: %d bytes allocated, %d sent", name, got, w.n)
		}
	}
}
