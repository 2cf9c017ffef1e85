package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/google/uuid"

	"confined/client/api"
)

// Job is one run to ask for.
type Job struct {
	// ID names the run, as [A-Za-z0-9][A-Za-z0-9._-]{0,63}. A daemon accepts an
	// ID once in its life, as far as a process existed or may have existed. When
	// it is empty each call takes a new one.
	ID string

	// Pins are what the run must find on the host. What is empty is read from
	// the daemon before each run: that trusts what the daemon says now, and
	// costs it a look at its whole runtime.
	Pins Pins

	Program Tree
	Entry   string   // the path in Program of the file that Node is to run
	Args    []string // what the program finds in process.argv after its own path
	Input   Tree     // the working directory of the program; the zero Tree is empty
	Bounds  Bounds   // the zero Bounds stand for DefaultBounds
}

// Pins are the digests of everything that a run depends on beside its job. Those
// of a daemon that is not updated do not change: keep them, and a run on
// anything else is not started.
type Pins struct {
	Runtime string // Node, its libraries, the launcher and the kernel
	Profile string // the boundary
}

// Bounds limit one run: milliseconds of wall time, seconds of CPU time, bytes of
// output that are kept, and open descriptors.
type Bounds = api.Bounds

// DefaultBounds are 30 s of wall time, 30 s of CPU time, 1 MiB of output and 256
// descriptors.
func DefaultBounds() Bounds {
	return Bounds{TimeoutMs: 30_000, CPUSeconds: 30, MaxOutputBytes: 1 << 20, MaxDescriptors: 256}
}

// NewID returns a run id that nothing else has: a UUIDv7.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// order is a job with nothing left open: what is asked for, and what the answer
// is compared with.
type order struct{ Job }

// order completes a job. No error of it leaves a process anywhere.
func (c *Client) order(ctx context.Context, job Job) (order, error) {
	if job.ID == "" {
		job.ID = NewID()
	}
	if job.Bounds == (Bounds{}) {
		job.Bounds = DefaultBounds()
	}
	for _, text := range append([]string{job.ID, job.Entry}, job.Args...) {
		if !utf8.ValidString(text) {
			return order{}, &NotSentError{fmt.Errorf("%.100q is not UTF-8, and a request holds nothing else: pass such bytes in a file of the input", text)}
		}
	}
	if job.Pins.Runtime == "" || job.Pins.Profile == "" {
		now, err := c.Pins(ctx)
		if err != nil {
			return order{}, notSent(fmt.Errorf("reading the pins: %w", err))
		}
		job.Pins = Pins{cmp.Or(job.Pins.Runtime, now.Runtime), cmp.Or(job.Pins.Profile, now.Profile)}
	}
	return order{job}, nil
}

// form is the body that asks for it.
func (o order) form() *form {
	request := api.RunRequest{
		ID: &o.ID, Runtime: o.Pins.Runtime, Profile: o.Pins.Profile,
		TimeoutMs: o.Bounds.TimeoutMs, MaxOutputBytes: o.Bounds.MaxOutputBytes,
		CPUSeconds: o.Bounds.CPUSeconds, MaxDescriptors: o.Bounds.MaxDescriptors,
	}
	request.Program.Digest, request.Program.Entry = o.Program.Digest(), o.Entry
	if len(o.Args) > 0 {
		request.Program.Args = &o.Args
	}
	request.Input.Digest = o.Input.Digest()
	document, err := json.Marshal(request)
	if err != nil {
		panic(fmt.Sprintf("client: bug: a request does not encode: %v", err))
	}
	return newForm(document, o.Program, o.Input)
}
