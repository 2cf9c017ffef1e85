package httpapi

import (
	"sync"
	"testing"
)

// TestMemoryIsCollected: what is given back, by many and while it is collected,
// leaves less than would begin a collection.
func TestMemoryIsCollected(t *testing.T) {
	m := &memory{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				m.force(mostGarbage)
				m.give(mostGarbage)
			}
		})
	}
	all.Wait()
	waitFor(t, "all is collected", func() bool { return !m.collecting.Load() && m.garbage.Load() == 0 })
	m.give(mostGarbage - 1)
	if m.collecting.Load() || m.garbage.Load() == 0 {
		t.Error("it is collected before it is much")
	}
}

// TestMemoryIsCollectedByOne: who gives back while somebody collects leaves it
// to that one.
func TestMemoryIsCollectedByOne(t *testing.T) {
	m := &memory{}
	m.garbage.Store(mostGarbage)
	if !m.begin() || m.begin() {
		t.Error("none collects, or two do")
	}
	m.give(mostGarbage)
	if m.garbage.Load() != 2*mostGarbage {
		t.Error("another one collects")
	}
	m.collect()
	if m.collecting.Load() || m.garbage.Load() != 0 {
		t.Errorf("%d bytes are left", m.garbage.Load())
	}
}
