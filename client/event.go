package client

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"confined/client/api"
)

// EventType tells events apart.
type EventType string

// The types of [Event]. A newer daemon may have more: ignore what is unknown.
const (
	EventAccepted  EventType = "accepted"  // the job is valid and has its place in the queue
	EventStage     EventType = "stage"     // the run came to a stage
	EventOutput    EventType = "output"    // the program printed something
	EventHeartbeat EventType = "heartbeat" // nothing happened for a while

	eventResult  EventType = "result"
	eventProblem EventType = "problem"
)

// Event is something that happened to a run. Until the result is there it is a
// report on the way, nothing that was checked.
type Event struct {
	Type    EventType
	Seq     int64         // from 0, without a gap
	At      time.Time     // by the clock of the daemon
	Elapsed time.Duration // since the daemon had read the job

	Position int                   // EventAccepted: how many runs wait before it
	Stage    api.Stage             // EventStage
	Stream   api.OutputEventStream // EventOutput: "stdout" or "stderr"
	Output   []byte                // EventOutput: the bytes; they are the caller's
}

// line is one line of a stream: every member of every type of event.
type line struct {
	Type          EventType
	Seq           *int64
	At            time.Time
	RunID         string
	ElapsedMs     float64
	Position      int
	Stage         api.Stage
	Stream        api.OutputEventStream
	Bytes         api.Bytes
	ContentDigest string
	Result        json.RawMessage
	Problem       api.Problem
}

// decodeLine reads one line of a stream, which ended with its newline.
func decodeLine(text []byte) (line, Event, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return line{}, Event{}, fmt.Errorf("a line of the stream cannot be read: %w: %.200q", err, text)
	}
	if l.Seq == nil {
		return line{}, Event{}, fmt.Errorf("a line of the stream is no event: %.200q", text)
	}
	e := Event{
		Type: l.Type, Seq: *l.Seq, At: l.At, Elapsed: time.Duration(l.ElapsedMs * float64(time.Millisecond)),
		Position: l.Position, Stage: l.Stage, Stream: l.Stream,
	}
	if l.Type == EventOutput {
		r, err := octets(l.Bytes)
		if err == nil {
			e.Output, err = io.ReadAll(r)
		}
		if err != nil {
			return line{}, Event{}, fmt.Errorf("the event %d: %w", e.Seq, err)
		}
	}
	return l, e, nil
}
