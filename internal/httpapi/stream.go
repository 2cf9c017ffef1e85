package httpapi

import (
	"context"
	"net/http"
	"time"

	"confined/internal/exec"
)

// heartbeatAfter is how long a stream is silent at most.
const heartbeatAfter = 15 * time.Second

// stream is the answer of a run as it goes. Two goroutines share it: the run's
// carries it out and tells the feed, which never waits; the request's writes.
// So no client, however slow, has a say in a run other than by going away.
type stream struct {
	operations
	call *call
	feed *feed

	settled chan struct{} // closed when the run is over; what follows is then known
	answer  frozen
	failure error // why there is no answer
}

// begin starts the run's goroutine.
func (a operations) begin(ctx context.Context, c *call, req exec.Request) *stream {
	s := &stream{operations: a, call: c, feed: newFeed(a.memory, c.ticket.entered), settled: make(chan struct{})}
	go s.carryOut(ctx, req)
	return s
}

func (s *stream) carryOut(ctx context.Context, req exec.Request) {
	defer close(s.settled)
	defer func() {
		if v := recover(); v != nil {
			s.failure = s.panicked(ctx, s.call, v)
		}
	}()
	s.answer, s.failure = s.carry(ctx, s.call, req, s.feed.trace())
}

// VisitCreateRunResponse implements CreateRunResponseObject. It returns when the
// run is over, whatever becomes of its client.
func (s *stream) VisitCreateRunResponse(w http.ResponseWriter) error {
	defer s.end()
	h := w.Header()
	h.Set("Content-Type", mediaStream)
	h.Set("Confined-Run-Id", s.call.runID)
	w.WriteHeader(http.StatusOK)
	e := newEvents(w, s.call.runID, s.call.ticket.entered)
	err := e.accepted(s.call.ticket.ahead)
	if err == nil {
		err = s.follow(e)
	}
	if err != nil {
		return err
	}
	return e.flush()
}

// end leaves no run behind: one that is not over is that of a client that took
// no more.
func (s *stream) end() {
	s.call.ticket.cancel()
	<-s.settled
	s.feed.take().giveBack()
}

// follow writes what happens, up to the last event.
func (s *stream) follow(e *events) error {
	silence := time.NewTimer(heartbeatAfter)
	defer silence.Stop()
	for sent := int64(0); ; {
		if e.seq > sent {
			if err := e.flush(); err != nil {
				return err
			}
			silence.Reset(heartbeatAfter)
			sent = e.seq
		}
		var err error
		select {
		case <-s.feed.news:
			err = s.catchUp(e)
		case <-silence.C:
			err = s.beat(e)
		case <-s.settled:
			return s.last(e)
		}
		if err != nil {
			return err
		}
	}
}

// beat says that the run is still there, unless something else just did.
func (s *stream) beat(e *events) error {
	now, before := time.Since(e.start), e.seq
	if err := s.catchUp(e); err != nil || e.seq > before {
		return err
	}
	return e.heartbeat(now)
}

func (s *stream) catchUp(e *events) error {
	b := s.feed.take()
	defer b.giveBack()
	return e.happenings(b)
}

// last writes what is left to tell of a run that is over.
func (s *stream) last(e *events) error {
	if err := s.catchUp(e); err != nil {
		return err
	}
	now := time.Since(e.start)
	if err := e.rest(now); err != nil {
		return err
	}
	if s.failure != nil {
		return e.problem(s.describe(s.call, s.failure), now)
	}
	return e.result(s.answer.result, now)
}
