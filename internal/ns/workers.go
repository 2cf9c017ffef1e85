package ns

import (
	"runtime"
	"slices"
	"sync"
)

// mostWorkers bounds the goroutines that one walk keeps busy: more of them wait for one another in the file system.
const mostWorkers = 4

// A slot with less than this in it is walked by one goroutine alone: to wake another takes as long as to go on.
const (
	manyEntries = 64
	manyBytes   = 1 << 20
)

// workers are what a walk over a slot is shared among: the goroutine that began it, and helpers that it starts and waits for. There is a token
// for each that may run. Whoever runs holds one, the first by being there. Whoever waits for helpers has given its own up, and the last of these
// leaves it theirs: at most as many run at a time as there are tokens, and since one that waits has nothing open but directories above
// its helpers, they have together at most one descriptor open a level, and one for the file in hand, for each token. nil is the first goroutine
// alone.
type workers struct {
	mu   sync.Mutex
	idle int    // tokens that nobody holds
	jobs []*job // those that their callers work on, outer ones first
}

// workersFor are those that it takes to walk a tree.
func workersFor(n *node) *workers {
	if entries, bytes := n.weight(); entries < manyEntries && bytes < manyBytes {
		return nil
	}
	return newWorkers(min(runtime.GOMAXPROCS(0), mostWorkers))
}

func newWorkers(most int) *workers { return &workers{idle: most - 1} }

// weight is the number of entries below a node, and their bytes.
func (n *node) weight() (entries int, bytes int64) {
	for _, c := range n.children {
		inside, size := c.weight()
		entries, bytes = entries+1+inside, bytes+c.size+size
	}
	return entries, bytes
}

// each does the units 0 to count-1 of a walk, which may themselves be walks. They are begun in order, and none is begun after one that failed.
// It returns when all that were begun have ended, with the error of the first in their order that failed: all before that one were done, as
// they would have been by one goroutine.
func (w *workers) each(count int, do func(unit int) error) error {
	if w == nil {
		for unit := range count {
			if err := do(unit); err != nil {
				return err
			}
		}
		return nil
	}
	j := &job{count: count, do: do, left: make(chan struct{})}
	w.offer(j)
	w.work(j)
	w.wait(j)
	return j.err
}

// job is one call of each; mu of its workers guards it.
type job struct {
	count int
	do    func(unit int) error

	next    int // the first unit that was not begun
	failed  int // the first unit that failed, where err is not nil
	err     error
	helpers int           // at work on it
	waited  bool          // for the last of them
	left    chan struct{} // closed when that one has left its token
}

func (j *job) open() bool { return j.err == nil && j.next < j.count }

func (w *workers) offer(j *job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs = append(w.jobs, j)
}

// work does units of a job until none is left to begin.
func (w *workers) work(j *job) {
	for unit, more := w.begin(j); more; unit, more = w.begin(j) {
		w.end(j, unit, j.do(unit))
	}
}

func (w *workers) begin(j *job) (unit int, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !j.open() {
		return 0, false
	}
	j.next++
	w.call()
	return j.next - 1, true
}

func (w *workers) end(j *job, unit int, err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if j.err == nil || unit < j.failed {
		j.failed, j.err = unit, err
	}
}

// pick is an open job that a helper, which has a token, begins to work on; nil when there is none.
func (w *workers) pick() *job {
	for _, j := range w.jobs {
		if j.open() {
			j.helpers++
			return j
		}
	}
	return nil
}

// call starts one helper, if a token is free and there is work for it.
func (w *workers) call() {
	if w.idle == 0 {
		return
	}
	if j := w.pick(); j != nil {
		w.idle--
		go w.help(j)
	}
}

// help works on one job after the other.
func (w *workers) help(j *job) {
	for j != nil {
		w.work(j)
		j = w.leave(j)
	}
}

// leave ends a helper's work on a job. It goes on to another one, unless its token is due to whoever waits for it, or there is no other.
func (w *workers) leave(j *job) *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.helpers--
	if j.helpers == 0 && j.waited {
		close(j.left)
		return nil
	}
	other := w.pick()
	if other == nil {
		w.idle++
	}
	return other
}

// wait withdraws a job of which no unit is left to begin, and returns when no helper is at work on it any more.
func (w *workers) wait(j *job) {
	w.mu.Lock()
	w.jobs = slices.DeleteFunc(w.jobs, func(other *job) bool { return other == j })
	if j.helpers == 0 {
		w.mu.Unlock()
		return
	}
	j.waited = true
	w.idle++
	w.call()
	w.mu.Unlock()
	<-j.left
}
