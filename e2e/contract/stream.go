package contract

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// event is what the checks below need of any line of a stream.
type event struct {
	Seq           int
	Type, RunID   string
	Stream        string
	Bytes         octets
	ContentDigest string
	Result        json.RawMessage
	Problem       struct {
		Status int
		Code   string
	}
}

type octets struct{ Encoding, Data string }

// plain is the bytes themselves. In an answer they are text wherever they can be.
func (o octets) plain() ([]byte, error) {
	if o.Encoding != "base64" {
		return []byte(o.Data), nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(o.Data)
	if err == nil && utf8.Valid(b) {
		err = fmt.Errorf("%q is in base64 and is UTF-8", o.Data)
	}
	return b, err
}

// stream is what the lines before said.
type stream struct {
	runID  string
	lines  int
	last   string // type of the line before
	output map[string][]byte
}

// checkStream holds each line against Event, and all of them against what the
// contract says of their order. Of a stream that was cut it judges what came.
func (c *Contract) checkStream(a Answer, pointer string) error {
	for _, name := range []string{"Confined-Status", "Content-Digest", "Server-Timing"} {
		if a.Header.Get(name) != "" {
			return fmt.Errorf("a stream has the header %s", name)
		}
	}
	s := stream{runID: a.Header.Get("Confined-Run-Id"), output: map[string][]byte{}}
	rest := a.Body
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			break
		}
		err := c.Valid(pointer, line)
		if err == nil {
			err = c.checkEvent(&s, line, a)
		}
		if err != nil {
			return fmt.Errorf("line %d, %.300s: %w", s.lines, line, err)
		}
		rest = after
	}
	switch {
	case a.Cut:
		return nil
	case len(rest) > 0:
		return errors.New("the last line has no newline")
	case s.last != "result" && s.last != "problem":
		return fmt.Errorf("the stream ends with %q", s.last)
	}
	return nil
}

func (c *Contract) checkEvent(s *stream, line []byte, a Answer) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	first, final := s.lines == 0, s.last == "result" || s.last == "problem"
	switch {
	case e.Seq != s.lines:
		return fmt.Errorf("seq is not %d", s.lines)
	case e.RunID != s.runID:
		return fmt.Errorf("runId is not %q", s.runID)
	case final:
		return errors.New("it comes after the last")
	case first != (e.Type == "accepted"):
		return errors.New("only the first is accepted, and it always is")
	}
	s.lines, s.last = s.lines+1, e.Type
	switch e.Type {
	case "output":
		b, err := e.Bytes.plain()
		s.output[e.Stream] = append(s.output[e.Stream], b...)
		return err
	case "result":
		return s.checkResult(e, line)
	case "problem": // as if it had been the answer
		a.Status = e.Problem.Status
		_, err := c.kindOf(a, e.Problem.Code)
		return err
	}
	return nil
}

// checkResult holds the result against its digest, its place in the line, and
// the output that came before it.
func (s *stream) checkResult(e event, line []byte) error {
	if !bytes.HasSuffix(line, append(e.Result, '}')) {
		return errors.New("result is not the last member")
	}
	if want := contentDigest(e.Result); e.ContentDigest != want {
		return fmt.Errorf("contentDigest is not %s", want)
	}
	var r struct {
		RunID   string
		Process *struct{ Stdout, Stderr octets }
	}
	if err := json.Unmarshal(e.Result, &r); err != nil {
		return err
	}
	if r.RunID != s.runID {
		return errors.New("the result is another run's")
	}
	if r.Process == nil {
		return nil
	}
	for name, kept := range map[string]octets{"stdout": r.Process.Stdout, "stderr": r.Process.Stderr} {
		b, err := kept.plain()
		if err != nil {
			return err
		}
		if !bytes.Equal(b, s.output[name]) {
			return fmt.Errorf("the result holds %d bytes of %s, the events %d, or others", len(b), name, len(s.output[name]))
		}
	}
	return nil
}
