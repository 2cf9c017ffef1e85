package httpapi

import (
	"sync"
	"time"
)

// watchdog calls bite when it stays armed for longer than it was told to. It
// never bites once disarm has returned: a connection that is not being read
// must not be touched, since the server watches it for the client going away.
type watchdog struct {
	bite  func()
	mu    sync.Mutex
	armed bool
	over  bool // no more patience
	timer *time.Timer
}

func newWatchdog(bite func()) *watchdog { return &watchdog{bite: bite} }

func (d *watchdog) arm(patience time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = true
	switch {
	case d.over:
		d.bite()
	case d.timer == nil:
		d.timer = time.AfterFunc(patience, d.expire)
	default:
		d.timer.Reset(patience)
	}
}

func (d *watchdog) disarm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = false
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *watchdog) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed {
		d.bite()
	}
}

// hurry makes it bite now, and whenever it is armed again.
func (d *watchdog) hurry() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	if d.armed {
		d.bite()
	}
}

func (d *watchdog) hurried() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}
