package client

import (
	"context"
	"time"

	"confined/client/api"
)

// Run sends a job once and waits for its result.
func (c *Client) Run(ctx context.Context, job Job) (*Result, error) { panic("soon") }

// Stream is Run, told as it goes: tell is called on the caller's goroutine with
// every event but the last, which is what Stream returns.
func (c *Client) Stream(ctx context.Context, job Job, tell func(Event)) (*Result, error) {
	panic("soon")
}

// EventType tells events apart.
type EventType string

// The types of [Event].
const (
	EventAccepted  EventType = "accepted"
	EventStage     EventType = "stage"
	EventOutput    EventType = "output"
	EventHeartbeat EventType = "heartbeat"
)

// Event is one event of a run on its way. Types that this package does not know
// may come from a newer daemon.
type Event struct {
	Type     EventType
	Seq      int64                 // from 0, without a gap
	At       time.Time             // by the daemon's clock
	Elapsed  time.Duration         // since the request was read
	Position int                   // EventAccepted: how many runs wait before it
	Stage    api.Stage             // EventStage
	Stream   api.OutputEventStream // EventOutput: stdout or stderr
	Output   []byte                // EventOutput: what was printed
}
