package httpapi

// remembered is how many runs that have ended keep what they were known by from
// being used again.
const remembered = 10_000

// atMostOnce remembers which keys are taken: those of runs that wait or are alive,
// and the last ones of which a process existed or may have.
type atMostOnce struct {
	taken map[string]bool
	ended []string // a ring, oldest at next once it is full
	next  int
}

func (m *atMostOnce) has(key string) bool { return m.taken[key] }

// claim takes key, or says that it is taken.
func (m *atMostOnce) claim(key string) bool {
	if m.taken[key] {
		return false
	}
	if m.taken == nil {
		m.taken = map[string]bool{}
	}
	m.taken[key] = true
	return true
}

// release makes key free again: no process existed.
func (m *atMostOnce) release(key string) { delete(m.taken, key) }

// finish keeps key taken until as many others as are remembered have ended.
func (m *atMostOnce) finish(key string) {
	if len(m.ended) < remembered {
		m.ended = append(m.ended, key)
		return
	}
	delete(m.taken, m.ended[m.next])
	m.ended[m.next] = key
	m.next = (m.next + 1) % remembered
}
