package prove

import (
	"errors"
	"slices"
)

// cleanup is what has to be taken back, the newest first. The zero value is ready; it is for one goroutine.
type cleanup struct{ undo []func() error }

// LeftError says what [Run] could not take back.
type LeftError struct{ Err error }

func (e *LeftError) Error() string {
	return "something is left, to be removed by hand: " + e.Err.Error()
}
func (e *LeftError) Unwrap() error { return e.Err }

// later adds one thing to take back.
func (c *cleanup) later(undo func()) {
	c.try(func() error {
		undo()
		return nil
	})
}

// try is later for what may fail.
func (c *cleanup) try(undo func() error) { c.undo = append(c.undo, undo) }

// now takes everything back, once. What fails is no reason to leave the rest: it is joined to err, as a [*LeftError].
func (c *cleanup) now(err *error) {
	var left []error
	for _, undo := range slices.Backward(c.undo) {
		left = append(left, undo())
	}
	c.undo = nil
	if failed := errors.Join(left...); failed != nil {
		*err = errors.Join(*err, &LeftError{failed})
	}
}
