package httpapi

import (
	"crypto/sha256"
	"net/http"
	"time"
	"unicode/utf8"

	"confined/internal/exec"
)

// maxOutputEvent is how many bytes of output one event has at most: those of a
// client that fell behind come together.
const maxOutputEvent = 64 << 10

// events writes the lines of one stream, each in the contract's order of fields.
// An error stays: nothing is written after it. A line is on its way to the
// client once flush returned.
type events struct {
	encoder
	w     http.ResponseWriter
	runID string
	start time.Time // elapsedMs counts from here
	seq   int64

	kept [2]exec.Output // all output until now, by exec.Stream
	due  [2]int         // how much of it is to be told
	told [2]int
}

func newEvents(w http.ResponseWriter, runID string, start time.Time) *events {
	return &events{encoder: encoder{newJSONWriter(w)}, w: w, runID: runID, start: start}
}

// flush sends what was written.
func (e *events) flush() error {
	if err := e.done(); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// line writes one event that happened at since the start; body adds the fields
// that are its type's own.
func (e *events) line(kind string, at time.Duration, body func()) error {
	e.object(func() {
		e.number("seq", e.seq)
		e.text("at", e.start.Add(at).UTC().Format(timeForm))
		e.text("type", kind)
		e.text("runId", e.runID)
		e.key("elapsedMs")
		e.millis(at)
		body()
	})
	e.seq++
	_, err := e.out.WriteString("\n")
	return err
}

func (e *events) accepted(position int) error {
	return e.line(string(AcceptedEventTypeAccepted), 0, func() { e.number("position", int64(position)) })
}

func (e *events) heartbeat(at time.Duration) error {
	return e.line(string(HeartbeatEventTypeHeartbeat), at, func() {})
}

// happenings writes all of a batch.
func (e *events) happenings(b *batch) error {
	e.kept = b.kept
	for h, ok := b.next(); ok; h, ok = b.next() {
		if err := e.happening(h); err != nil {
			return err
		}
	}
	return nil
}

func (e *events) happening(h happening) error {
	switch h.stage {
	case "":
		e.due[h.stream] += h.bytes
		return e.output(h.stream, h.at)
	case StageCollected: // no more output comes
		if err := e.rest(h.at); err != nil {
			return err
		}
	}
	return e.line(string(StageEventTypeStage), h.at, func() { e.text("stage", string(h.stage)) })
}

// output tells what is due of one stream, up to a character of which the rest
// may still come.
func (e *events) output(s exec.Stream, at time.Duration) error {
	for {
		text := wholeCharacters(e.kept[s].Slice(e.told[s], min(e.due[s], e.told[s]+maxOutputEvent)))
		if text.Len() == 0 {
			return nil
		}
		if err := e.printed(s, text, at); err != nil {
			return err
		}
	}
}

// wholeCharacters is o without the beginning of a character at its end that the
// bytes to come could complete.
func wholeCharacters(o exec.Output) exec.Output {
	end := o.Slice(max(0, o.Len()-utf8.UTFMax), o.Len()).Bytes()
	return o.Slice(0, o.Len()-unfinished(end))
}

// rest tells what output held back: that character never came whole.
func (e *events) rest(at time.Duration) error {
	for _, s := range []exec.Stream{exec.Stdout, exec.Stderr} {
		if text := e.kept[s].Slice(e.told[s], e.due[s]); text.Len() > 0 {
			if err := e.printed(s, text, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *events) printed(s exec.Stream, text exec.Output, at time.Duration) error {
	e.told[s] += text.Len()
	return e.line(string(OutputEventTypeOutput), at, func() {
		e.text("stream", string([]OutputEventStream{OutputEventStreamStdout, OutputEventStreamStderr}[s]))
		e.key("bytes")
		e.bytes(text)
	})
}

// result is the last line of a run that was answered. The result is encoded
// twice, as without a stream: to digest it and to send it.
func (e *events) result(r exec.Result, at time.Duration) error {
	m := measure{hash: sha256.New()}
	if err := encodeResult(&m, r); err != nil {
		return err
	}
	return e.line(string(ResultEventTypeResult), at, func() {
		e.text("contentDigest", m.contentDigest())
		e.key("result")
		_ = encodeResult(e.out, r) // its error stays in out
	})
}

// problem is the last line of a run that was not.
func (e *events) problem(p Problem, at time.Duration) error {
	return e.line(string(ProblemEventTypeProblem), at, func() {
		e.key("problem")
		e.raw(string(encodeJSON(p)))
	})
}
