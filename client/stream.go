package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"confined/client/api"
)

// Stream is [Client.Run], told as it goes. It calls tell, on the caller's own
// goroutine, with every event but the last, which is what Stream returns. The
// result is checked as Run checks it, and so is the stream: no event is missing,
// and the output in them is that of the result.
func (c *Client) Stream(ctx context.Context, job Job, tell func(Event)) (*Result, error) {
	o, err := c.order(ctx, job)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx, o, streamType)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	s := stream{order: o, lines: bufio.NewReaderSize(response.Body, 64<<10), tell: tell, stdout: sha256.New(), stderr: sha256.New()}
	result, err := s.follow()
	if err != nil {
		return nil, o.refused(ctx, err)
	}
	return result, nil
}

// stream is one stream while it is read.
type stream struct {
	order          order
	lines          *bufio.Reader
	tell           func(Event)
	next           int64     // seq of the next event
	process        bool      // an event says that there is or was one
	stdout, stderr hash.Hash // of the output so far
}

// follow reads to the end. The error is a [*ProblemError] when the stream is
// whole and ends with one.
func (s *stream) follow() (*Result, error) {
	for {
		l, e, err := s.read()
		if err != nil {
			return nil, err
		}
		switch e.Type {
		case eventResult:
			return s.result(l)
		case eventProblem:
			return nil, s.problem(l)
		case EventOutput:
			err = s.note(e)
		case EventStage:
			s.process = s.process || e.Stage == api.StageLaunched || e.Stage == api.StageAdmitted || e.Stage == api.StageCollected
		}
		if err != nil {
			return nil, err
		}
		s.tell(e)
	}
}

// read is the next event, which must follow the one before it.
func (s *stream) read() (line, Event, error) {
	text, err := s.line()
	if err == io.EOF {
		err = errors.New("the stream ends without a result or a problem")
	}
	if err != nil {
		return line{}, Event{}, err
	}
	l, e, err := decodeLine(text)
	switch {
	case err != nil:
	case e.Seq != s.next:
		err = fmt.Errorf("the stream has a gap: event %d where %d must follow", e.Seq, s.next)
	case (e.Type == EventAccepted) != (e.Seq == 0):
		err = fmt.Errorf("event %d of the stream is %.50q", e.Seq, e.Type)
	case l.RunID != s.order.ID:
		err = fmt.Errorf("event %d is of the run %.100q", e.Seq, l.RunID)
	}
	s.next++
	return l, e, err
}

// note keeps account of output.
func (s *stream) note(e Event) error {
	s.process = true
	switch e.Stream {
	case api.OutputEventStreamStdout:
		s.stdout.Write(e.Output)
	case api.OutputEventStreamStderr:
		s.stderr.Write(e.Output)
	default:
		return fmt.Errorf("event %d is output of %.50q", e.Seq, e.Stream)
	}
	return nil
}

// result judges the last event, which holds the result.
func (s *stream) result(l line) (*Result, error) {
	if err := s.end(); err != nil {
		return nil, err
	}
	if err := checkDigest(l.ContentDigest, l.Result); err != nil {
		return nil, err
	}
	r, err := s.order.check(l.Result)
	if err != nil {
		return nil, err
	}
	p := r.Process()
	switch {
	case p != nil:
		err = errors.Join(sameOutput("stdout", s.stdout, p.Stdout), sameOutput("stderr", s.stderr, p.Stderr))
	case s.process:
		err = errors.New("the result says that no process existed, and the stream told of one")
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// sameOutput compares what the events held of one stream with the result.
func sameOutput(name string, told hash.Hash, kept api.Bytes) error {
	sum, err := sumOf(kept)
	if err == nil && !bytes.Equal(sum[:], told.Sum(nil)) {
		err = fmt.Errorf("%s of the result is not what the stream told", name)
	}
	return err
}

// problem judges the last event, which holds a problem.
func (s *stream) problem(l line) error {
	if err := s.end(); err != nil {
		return err
	}
	if l.Problem.Code == "" {
		return errors.New("the stream ends with a problem that has no code")
	}
	e := newProblemError(l.Problem, "")
	if s.process && refusal(l.Problem.Status) {
		return fmt.Errorf("the stream told of a process and ends with a refusal: %v", e) // not wrapped: it proves nothing
	}
	return e
}

// end returns nil when nothing follows.
func (s *stream) end() error {
	text, err := s.line()
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("the stream goes on after its last event: %.200q", text)
}

// line is the next whole line, without its newline, or io.EOF where the body
// ended as it should. A long line is put together once.
func (s *stream) line() ([]byte, error) {
	var pieces [][]byte
	size := 0
	for {
		part, err := s.lines.ReadSlice('\n')
		size += len(part)
		switch {
		case size > maxAnswer:
			return nil, fmt.Errorf("a line of the stream has more than %d bytes", maxAnswer)
		case err == bufio.ErrBufferFull:
			pieces = append(pieces, bytes.Clone(part))
		case err == io.EOF && size == 0:
			return nil, io.EOF
		case err != nil:
			return nil, fmt.Errorf("the stream is cut: %w", noEOF(err))
		case pieces == nil:
			return part[:size-1], nil
		default:
			return bytes.Join(append(pieces, part), nil)[:size-1], nil
		}
	}
}

// noEOF is err where an end is too early.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
