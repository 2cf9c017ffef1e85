package prove

import (
	"slices"
	"testing"
)

// TestCleanup: the newest first, and once.
func TestCleanup(t *testing.T) {
	var undo cleanup
	var order []int
	for i := range 3 {
		undo.later(func() { order = append(order, i) })
	}
	undo.now()
	undo.now()
	if !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("taken back in the order %v", order)
	}
}
