package client

import (
	"context"

	"confined/client/api"
)

// Pins reads what a run of this daemon has to quote. Every file of the runtime is hashed for that.
func (c *Client) Pins(ctx context.Context) (Pins, error) { panic("soon") }

// Runtime is GET /v1/runtime.
func (c *Client) Runtime(ctx context.Context) (*api.Runtime, error) { panic("soon") }

// Profile is GET /v1/profile.
func (c *Client) Profile(ctx context.Context) (*api.Profile, error) { panic("soon") }

// Status is GET /v1/status.
func (c *Client) Status(ctx context.Context) (*api.Status, error) { panic("soon") }

// Runs is GET /v1/runs: the runs that wait or are alive.
func (c *Client) Runs(ctx context.Context) ([]api.LiveRun, error) { panic("soon") }

// Cancel asks a run to stop; what came of it is in the run's own result.
func (c *Client) Cancel(ctx context.Context, runID string) error { panic("soon") }

// Slots is GET /v1/slots.
func (c *Client) Slots(ctx context.Context) (*api.Slots, error) { panic("soon") }

// Slot is what is in one slot, and the ETag that a release of exactly that must quote.
func (c *Client) Slot(ctx context.Context, name string) (detail *api.SlotDetail, etag string, err error) {
	panic("soon")
}

// ReleaseSlot removes exactly what etag covers.
func (c *Client) ReleaseSlot(ctx context.Context, name, etag string) (*api.Namespace, error) {
	panic("soon")
}
