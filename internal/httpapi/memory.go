package httpapi

import (
	"runtime/debug"
	"sync/atomic"
)

// memory is the one bound on bytes that requests keep in the daemon: bodies
// from when they are read until their files are on disk, and outputs until they
// are answered.
type memory struct {
	limit      int64
	used       atomic.Int64
	garbage    atomic.Int64 // given back since the last collection
	collecting atomic.Bool  // somebody has begun, and will look again when done
}

// mostGarbage is how much may be given back before it is collected. By itself
// the collector waits until there is as much garbage as there was memory in use:
// results of 256 MiB would have as much of their predecessors beside them, and
// an idle daemon would keep both for minutes. It is so much that the runs of
// many small programs pass between two collections, and so little that it does
// not show in what an idle daemon holds.
const mostGarbage = 4 << 20

// take reserves n bytes, or says that there is no room.
func (m *memory) take(n int64) bool {
	if m.used.Add(n) <= m.limit {
		return true
	}
	m.used.Add(-n)
	return false
}

// force reserves n bytes that exist already. What goes beyond the bound keeps
// later uploads out until it is given back.
func (m *memory) force(n int64) { m.used.Add(n) }

// give returns what take or force reserved, which nobody refers to any more. It
// does not wait for the collection that this may begin.
func (m *memory) give(n int64) {
	m.used.Add(-n)
	m.garbage.Add(n)
	if m.begin() {
		go m.collect()
	}
}

// begin says whether the caller is to collect: there is enough for it, and
// nobody else does. Whoever gives back meanwhile leaves it to that one, who
// therefore asks again at the end.
func (m *memory) begin() bool {
	return m.garbage.Load() >= mostGarbage && m.collecting.CompareAndSwap(false, true)
}

// collect, once begun, returns to the system what was given back, until that is
// little again.
func (m *memory) collect() {
	for more := true; more; more = m.begin() {
		m.garbage.Store(0)
		debug.FreeOSMemory()
		m.collecting.Store(false)
	}
}
