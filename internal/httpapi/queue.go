package httpapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// errCancelled is why the turn of a ticket does not come whose context is done.
var errCancelled = errors.New("the run was cancelled while it waited")

// queue decides when runs start: first in, first out, at most workers at once,
// and only while the root has room for one more, so that the daemon's own load
// never fills the root. It is bounded, and it remembers run ids.
//
// A ticket goes enter → await → leave, and close once its client was answered.
type queue struct {
	workers int
	bound   int // of the tickets that wait
	room    func(live int) bool

	mu         sync.Mutex
	waiting    []*ticket
	running    []*ticket
	open       int // entered and not closed
	draining   bool
	drainUntil time.Time
	quiet      bool          // draining, and nothing is open: for good
	idle       chan struct{} // closed when that becomes true
	ids        atMostOnce    // of runs
	lost       atMostOnce    // contents of requests without an id whose outcome is unknown
	times      runTimes
}

// ticket is one run's place.
type ticket struct {
	queue *queue
	summary
	turn     chan error // one value: nil, or why it will not come
	ahead    int        // how many waited before it when it entered
	entered  time.Time  // its request had been read
	started  time.Time  // its turn came
	progress atomic.Pointer[progress]
	cancel   context.CancelFunc
	ended    bool // left the queue
}

// newQueue makes a queue. room says whether one more run may start beside live
// others; it is asked under the queue's lock and must not call back.
func newQueue(workers, bound int, room func(live int) bool) *queue {
	return &queue{workers: workers, bound: bound, room: room, idle: make(chan struct{})}
}

// full is the refusal of a run that would not get a place now, or nil. Asking
// before a body is read spares the upload; enter decides.
func (q *queue) full() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusal()
}

func (q *queue) refusal() error {
	switch {
	case q.draining:
		return drainingRefusal()
	case len(q.waiting) >= q.bound && !(len(q.waiting) == 0 && q.startable()):
		return refuse(ProblemCodeQueueFull, "%d runs wait already and %d are alive; nothing was started", len(q.waiting), len(q.running))
	}
	return nil
}

func drainingRefusal() error {
	return refuse(ProblemCodeDraining, "the daemon is shutting down and starts no more runs; nothing was started")
}

// enter takes the last place, and the id. ctx ends the run at any stage; the
// context returned does so too, and when the run or the queue is cancelled.
func (q *queue) enter(ctx context.Context, s summary) (*ticket, context.Context, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.refusal(); err != nil {
		return nil, nil, err
	}
	if q.lost.has(s.content) {
		return nil, nil, refuse(ProblemCodeRunIDUsed, "the same request, also without an id, was answered 500: a process may have been started for it. "+
			"So that repeating it starts no second one, nothing was started now; to run it again, give it an id that is new")
	}
	if !q.ids.claim(s.id) {
		return nil, nil, refuse(ProblemCodeRunIDUsed, "run id %q is queued, alive or among the last %d that ran; nothing was started for this request; give another id for a second run", s.id, remembered)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &ticket{queue: q, summary: s, turn: make(chan error, 1), ahead: len(q.waiting), entered: time.Now(), cancel: cancel}
	t.progress.Store(&progress{stage: StageQueued})
	q.open++
	q.waiting = append(q.waiting, t)
	q.dispatch()
	return t, ctx, nil
}

func (q *queue) startable() bool { return len(q.running) < q.workers && q.room(len(q.running)) }

// dispatch starts whoever may start. It runs whenever somebody enters or leaves:
// a run waits for room only while another is alive, so there is always a next time.
func (q *queue) dispatch() {
	for len(q.waiting) > 0 && q.startable() {
		t := q.waiting[0]
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.running = append(q.running, t)
		t.started = time.Now()
		t.turn <- nil
	}
}

// await waits for the ticket's turn and returns how long that took. On error
// the ticket has left: nothing was started and its id is free.
func (t *ticket) await(ctx context.Context) (time.Duration, error) {
	var err error
	select {
	case err = <-t.turn:
	case <-ctx.Done():
		err = errCancelled
	}
	if err == nil && ctx.Err() != nil {
		err = errCancelled
	}
	if err != nil {
		t.leave(false)
	}
	return time.Since(t.entered), err
}

// leave ends the ticket's stay: a waiting one is removed, a running one makes
// room for the next. started says whether a process existed or may have.
func (t *ticket) leave(started bool) {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.ended {
		return
	}
	t.ended = true
	if i := slices.Index(q.running, t); i >= 0 {
		q.running = slices.Delete(q.running, i, i+1)
	} else if i := slices.Index(q.waiting, t); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	if started {
		q.ids.finish(t.id)
		q.times.add(time.Since(t.started))
	} else {
		q.ids.release(t.id)
	}
	q.dispatch()
}

// lose says that what became of the run is unknown, before anybody is told so. A
// request with an id is refused by that when it comes again; one without is
// known by its content.
func (t *ticket) lose() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.content != "" && q.lost.claim(t.content) {
		q.lost.finish(t.content)
	}
}

// close says that the run's client was answered, or cannot be.
func (t *ticket) close() {
	t.cancel()
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	q.settle()
}

func (q *queue) settle() {
	if q.draining && q.open == 0 && !q.quiet {
		q.quiet = true
		close(q.idle)
	}
}

// drain refuses whoever comes from now on and whoever waits. until is when the
// runs that are alive will be cancelled.
func (q *queue) drain(until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.draining {
		return
	}
	q.draining, q.drainUntil = true, until
	for _, t := range q.waiting {
		t.turn <- drainingRefusal()
	}
	q.waiting = nil
	q.settle()
}

// cancel ends every run that is alive.
func (q *queue) cancel() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.running {
		t.cancel()
	}
}

// gauges are the tickets that run and that wait.
func (q *queue) gauges() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.running), len(q.waiting)
}

// stopping says whether the queue drains.
func (q *queue) stopping() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.draining
}
