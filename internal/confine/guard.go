package confine

import (
	"errors"
	"os"
	"sync"
)

// guard keeps a signal from a process that was reaped, whose id may be another's by then. It is for systems without pidfds: there
// [os.Process] cannot keep a Kill and a Wait at one time apart ([os.Process.Wait] reaps before it notes that it did).
//
// It does so by splitting a wait in two. The exit is seen without reaping; from that moment there is no kill; then the process is reaped.
// A kill that comes before that moment meets a process that nobody has reaped, so that the id is still its own.
type guard struct {
	watch exitWatch

	mu    sync.Mutex
	ended bool
}

// kill calls send unless the end was seen.
func (g *guard) kill(send func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return os.ErrProcessDone
	}
	return send()
}

// await returns when no kill can come any more: only then may the process be reaped. That is when it has ended. If its end cannot be
// watched for, which the error says, a last kill is sent: nobody has reaped the process, so that the id is still its own, and whoever waits
// for it next must not wait for ever.
func (g *guard) await(kill func() error) error {
	err := g.watch.wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		err = errors.Join(in("watch", err), kill())
	}
	g.ended = true
	return err
}
