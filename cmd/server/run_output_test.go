package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"confined/client"
	"confined/client/api"
)

// errBrokenPipe is what a write gets whose reader is gone.
func errBrokenPipe() error {
	return &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

// narrow takes room bytes and then fails.
type narrow struct {
	bytes.Buffer
	room int
	err  error
}

func (n *narrow) Write(p []byte) (int, error) {
	fits := p[:min(len(p), n.room-n.Len())]
	n.Buffer.Write(fits)
	if len(fits) < len(p) {
		return len(fits), n.err
	}
	return len(p), nil
}

func printed(stream api.OutputEventStream, text string) client.Event {
	return client.Event{Type: client.EventOutput, Stream: stream, Output: []byte(text)}
}

func TestOutputGoesWhereItBelongs(t *testing.T) {
	const stdout, stderr = api.OutputEventStreamStdout, api.OutputEventStreamStderr
	for name, row := range map[string]struct {
		events         []client.Event
		stdout, stderr string
	}{
		"lines":           {[]client.Event{printed(stdout, "a\n"), printed(stderr, "b\n")}, "a\n", "b\nconfined: facts\n"},
		"bytes, verbatim": {[]client.Event{printed(stdout, "\x1b[2J\xff\x00")}, "\x1b[2J\xff\x00", "confined: facts\n"},
		"an open line":    {[]client.Event{printed(stderr, "warn")}, "", "warn\nconfined: facts\n"},
		"nothing":         {nil, "", "confined: facts\n"},
		"other events":    {[]client.Event{{Type: client.EventStage, Output: []byte("x")}, {Type: "new", Stream: stdout, Output: []byte("x")}}, "", "confined: facts\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var one, two bytes.Buffer
			o := newOutput(surroundings{stdout: &one, stderr: &two}, false)
			for _, e := range row.events {
				o.event(e)
			}
			o.conclude("facts")
			if one.String() != row.stdout || two.String() != row.stderr {
				t.Errorf("stdout %q, stderr %q", &one, &two)
			}
		})
	}
}

// TestReaderThatLeaves: after the first write that failed nothing more is
// written, and stderr says what was.
func TestReaderThatLeaves(t *testing.T) {
	to := &narrow{room: 5, err: errBrokenPipe()}
	var stderr bytes.Buffer
	o := newOutput(surroundings{stdout: to, stderr: &stderr}, false)
	for range 3 {
		o.event(printed(api.OutputEventStreamStdout, "abc"))
	}
	to.room = 100
	o.event(printed(api.OutputEventStreamStdout, "late"))
	o.conclude("facts")
	if to.String() != "abcab" {
		t.Errorf("stdout got %q", to.String())
	}
	if want := fmt.Sprintf("confined: stdout was not taken whole: %v after 5 bytes\n", errBrokenPipe()); !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("stderr says %q, want at its end %q", stderr.String(), want)
	}
}

// TestErrorsAreSpelt: a path in an error may be of a stranger's making.
func TestErrorsAreSpelt(t *testing.T) {
	var stderr strings.Builder
	exitCode("run", errors.New("open \x1b[2J/x: no such file\n  a second line"), &stderr)
	if got, want := stderr.String(), "confined run: open ^[[2J/x: no such file\n  a second line\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSpell(t *testing.T) {
	for text, want := range map[string]string{
		"plain text\n\tgrüße 日本 👩‍👩‍👧\n": "plain text\n\tgrüße 日本 👩‍👩‍👧\n",
		"\x1b[31mred\x1b]0;title\a":      "^[[31mred^[]0;title^G",
		"over\rwritten\b\x7f\x00":        "over^Mwritten^H^?^@",
		"\u009b2J and \xff\xc3(":         "<U+009B>2J and <FF><C3>(",
		"user\u202egnp.exe\u2066":        "user<U+202E>gnp.exe<U+2066>",
	} {
		if got := string(spell([]byte(text))); got != want {
			t.Errorf("%q is spelt %q, want %q", text, got, want)
		}
	}
}

// TestVisibleKeepsRunesWhole cuts a text at every place.
func TestVisibleKeepsRunesWhole(t *testing.T) {
	const text, want = "日\x1b👩\u009bé\xe6\x97", "日^[👩<U+009B>é<E6><97>"
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			var out bytes.Buffer
			v := visible{to: &out}
			for _, part := range []string{text[:i], text[i:j], text[j:]} {
				if n, err := v.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := v.Flush(); err != nil || out.String() != want {
				t.Fatalf("cut at %d and %d: %q, %v", i, j, out.String(), err)
			}
		}
	}
}

func TestVisibleTellsOfFailedWrites(t *testing.T) {
	v := visible{to: &narrow{err: errors.New("gone")}}
	if _, err := v.Write([]byte("x")); err == nil {
		t.Error("a write that failed is told as done")
	}
}

// FuzzSpell: whatever a program prints, no control reaches a terminal but
// newlines and tabs, however the output is cut.
func FuzzSpell(f *testing.F) {
	f.Add([]byte("a\x1b[0m\xc2\x9b\xe2\x80\xae"), 3)
	f.Add([]byte("\xf0\x9f\x91\xa9\xff\r"), 2)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		at = min(max(at, 0), len(text))
		var cut bytes.Buffer
		v := visible{to: &cut}
		_, _ = v.Write(text[:at])
		_, _ = v.Write(text[at:])
		_ = v.Flush()
		if whole := spell(text); !bytes.Equal(whole, cut.Bytes()) {
			t.Errorf("whole %q, cut %q", whole, cut.Bytes())
		}
		for _, r := range cut.String() {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Errorf("%q lets %U through", cut.Bytes(), r)
			}
		}
	})
}
