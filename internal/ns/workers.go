package ns

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// mostWorkers bounds the goroutines that one walk keeps busy: more of them wait for one another in the file system.
const mostWorkers = 4

// A slot with less than this in it is walked by one goroutine alone: to wake another takes as long as to go on.
const (
	manyEntries = 64
	manyBytes   = 1 << 20
)

// workers are what a walk over a slot is shared among: the goroutine that began it, and helpers that it starts and waits for. There is a token
// for each that may run. Whoever runs holds one, the first by being there, and whoever waits for helpers has given his back: at most
// cap(workers) run at a time, and since one that waits has nothing open but directories above his helpers, they have together at most
// cap(workers) descriptors open a level, and as many for the files in hand. nil is the first goroutine alone.
type workers chan struct{}

// workersFor are those that it takes to walk a tree.
func workersFor(n *node) workers {
	if entries, bytes := n.weight(); entries < manyEntries && bytes < manyBytes {
		return nil
	}
	return newWorkers(min(runtime.GOMAXPROCS(0), mostWorkers))
}

func newWorkers(most int) workers {
	w := make(workers, most)
	for range most - 1 {
		w <- struct{}{}
	}
	return w
}

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
func (w workers) each(count int, do func(unit int) error) error {
	j := &job{count: count, do: do}
	w.work(j)
	if j.helped.Load() {
		w <- struct{}{}
		j.helpers.Wait()
		<-w
	}
	return j.err
}

// work does units until none is left to begin. As long as there is more to do, it calls for every helper that is free.
func (w workers) work(j *job) {
	for unit, more := j.begin(); more; unit, more = j.begin() {
		if w != nil && unit+1 < j.count {
			w.call(j)
		}
		j.end(unit, j.do(unit))
	}
}

func (w workers) call(j *job) {
	select {
	case <-w:
		j.helped.Store(true)
		j.helpers.Go(func() {
			w.work(j)
			w <- struct{}{}
		})
	default:
	}
}

// job is one call of each.
type job struct {
	count   int
	do      func(unit int) error
	helpers sync.WaitGroup
	helped  atomic.Bool

	mu     sync.Mutex
	next   int // the first unit that was not begun
	failed int // the first unit that failed, where err is not nil
	err    error
}

func (j *job) begin() (unit int, more bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil || j.next == j.count {
		return 0, false
	}
	j.next++
	return j.next - 1, true
}

func (j *job) end(unit int, err error) {
	if err == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil || unit < j.failed {
		j.failed, j.err = unit, err
	}
}
