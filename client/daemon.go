package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"confined/client/api"
)

// Pins reads what a run on this daemon has to quote. The daemon looks at every
// file of its runtime for that, and hashes them where integrity is rehashed: once
// for many runs is enough.
func (c *Client) Pins(ctx context.Context) (Pins, error) {
	runtime, err := c.Runtime(ctx)
	if err != nil {
		return Pins{}, err
	}
	profile, err := c.Profile(ctx)
	if err != nil {
		return Pins{}, err
	}
	return Pins{Runtime: runtime.Digest, Profile: profile.Digest}, nil
}

// Runtime is the identity of the runtime, and what proves it.
func (c *Client) Runtime(ctx context.Context) (*api.Runtime, error) {
	return read[api.Runtime](c.api.GetRuntime(ctx))
}

// Profile is the identity of the boundary, and its text.
func (c *Client) Profile(ctx context.Context) (*api.Profile, error) {
	return read[api.Profile](c.api.GetProfile(ctx))
}

// Status is what the daemon says of itself, and why a run could not start now.
func (c *Client) Status(ctx context.Context) (*api.Status, error) {
	return read[api.Status](c.api.GetStatus(ctx))
}

// Runs are the runs that wait or are alive, in the order in which they entered
// the queue.
func (c *Client) Runs(ctx context.Context) ([]api.LiveRun, error) {
	live, err := read[api.LiveRuns](c.api.ListRuns(ctx))
	if err != nil {
		return nil, err
	}
	return live.Runs, nil
}

// Cancel asks a run to stop. What came of that is in the run's own result, which
// goes to whoever sent the job. A run that has ended is a [ProblemError] with the
// code run-unknown.
func (c *Client) Cancel(ctx context.Context, runID string) error {
	response, err := c.api.CancelRun(ctx, runID)
	if err != nil {
		return bare(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		return problemOf(response)
	}
	return nil
}

// Slots is everything in the root.
type Slots struct {
	api.Slots
	Raw []byte // the answer, verbatim
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Slots) UnmarshalJSON(text []byte) error {
	s.Raw = bytes.Clone(text)
	return json.Unmarshal(text, &s.Slots)
}

// Slots reads what is in the root.
func (c *Client) Slots(ctx context.Context) (*Slots, error) {
	return read[Slots](c.api.ListSlots(ctx))
}

// Slot is what is in one slot, and the ETag that stands for exactly that in
// [Client.ReleaseSlot].
func (c *Client) Slot(ctx context.Context, name string) (detail *api.SlotDetail, etag string, err error) {
	response, err := c.api.GetSlot(ctx, name)
	detail, err = read[api.SlotDetail](response, err)
	if err != nil {
		return nil, "", err
	}
	if etag = response.Header.Get("ETag"); etag == "" {
		return nil, "", fmt.Errorf("the answer about %s has no ETag", name)
	}
	return detail, etag, nil
}

// ReleaseSlot removes what the ETag of [Client.Slot] stands for and nothing else.
// The answer is an [api.Removed], or an [api.Quarantined] where something changed
// on the way and the rest is kept: see its ValueByDiscriminator.
func (c *Client) ReleaseSlot(ctx context.Context, name, etag string) (*api.Namespace, error) {
	return read[api.Namespace](c.api.ReleaseSlot(ctx, name, &api.ReleaseSlotParams{IfMatch: etag}))
}

// read decodes an answer, which must be a 200, and closes it.
func read[T any](response *http.Response, err error) (*T, error) {
	if err != nil {
		return nil, bare(err)
	}
	defer response.Body.Close()
	if err := expect(response, resultType); err != nil {
		return nil, err
	}
	body, err := readBody(response)
	if err != nil {
		return nil, fmt.Errorf("the answer is cut: %w", err)
	}
	v := new(T)
	if err := json.Unmarshal(body, v); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	return v, nil
}
