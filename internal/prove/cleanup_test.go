package prove

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
)

// TestCleanup: the newest first, once, and all of it; what fails is told beside what went wrong before.
func TestCleanup(t *testing.T) {
	var undo cleanup
	var order []int
	for i := range 3 {
		undo.later(func() { order = append(order, i) })
	}
	undo.try(func() error { return fs.ErrPermission })
	first := errors.New("first")
	err := first
	undo.now(&err)
	undo.now(&err)
	if !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("taken back in the order %v", order)
	}
	var left *LeftError
	if !errors.Is(err, first) || !errors.As(err, &left) || !errors.Is(left, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}
