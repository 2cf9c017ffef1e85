package httpapi

// rememberedRuns is how many finished runs keep their id from being used again.
const rememberedRuns = 10_000

// runIDs remembers which run ids are taken: those of runs that wait or are
// alive, and the last rememberedRuns of which a process existed or may have.
type runIDs struct {
	taken    map[string]bool
	finished []string // a ring, oldest at next once it is full
	next     int
}

// claim takes id, or says that it is taken.
func (m *runIDs) claim(id string) bool {
	if m.taken[id] {
		return false
	}
	if m.taken == nil {
		m.taken = map[string]bool{}
	}
	m.taken[id] = true
	return true
}

// release makes id free again: no process existed.
func (m *runIDs) release(id string) { delete(m.taken, id) }

// finish keeps id taken until rememberedRuns others have finished.
func (m *runIDs) finish(id string) {
	if len(m.finished) < rememberedRuns {
		m.finished = append(m.finished, id)
		return
	}
	delete(m.taken, m.finished[m.next])
	m.finished[m.next] = id
	m.next = (m.next + 1) % rememberedRuns
}
