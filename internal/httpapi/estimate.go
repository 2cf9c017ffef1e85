package httpapi

import "time"

// estimate is when the next place frees, from how long runs took lately and how
// many are alive: fewer than there are workers where the root has no room.
func (q *queue) estimate() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.draining {
		return time.Until(q.drainUntil)
	}
	return q.times.mean() / time.Duration(max(1, len(q.running)))
}

// runTimes are the durations of the latest runs.
type runTimes struct {
	ring [32]time.Duration
	n    int
}

func (r *runTimes) add(d time.Duration) {
	r.ring[r.n%len(r.ring)] = d
	r.n++
}

// mean is one second until a run has told better.
func (r *runTimes) mean() time.Duration {
	known := min(r.n, len(r.ring))
	if known == 0 {
		return time.Second
	}
	var sum time.Duration
	for _, d := range r.ring[:known] {
		sum += d
	}
	return sum / time.Duration(known)
}
