package httpapi

import "sync/atomic"

// memory is the one bound on bytes that requests keep in the daemon: bodies
// from when they are read until their files are on disk, and outputs until they
// are answered.
type memory struct {
	limit int64
	used  atomic.Int64
}

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

// give returns what take or force reserved.
func (m *memory) give(n int64) { m.used.Add(-n) }
