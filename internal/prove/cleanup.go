package prove

import "slices"

// cleanup is what has to be taken back, the newest first. The zero value is ready; it is for one goroutine.
type cleanup struct{ undo []func() }

// later adds one thing to take back.
func (c *cleanup) later(undo func()) { c.undo = append(c.undo, undo) }

// now takes everything back, once.
func (c *cleanup) now() {
	for _, undo := range slices.Backward(c.undo) {
		undo()
	}
	c.undo = nil
}
