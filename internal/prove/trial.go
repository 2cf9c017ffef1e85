package prove

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
)

// trial is a live process that does acts, confined or not: what it says, and how it is told to go on.
type trial struct {
	ready, done chan struct{} // closed when it says so
	started     chan struct{} // closed when process is set
	over        chan struct{} // closed when it has ended; ending is set by then
	process     *os.Process
	ending      string // why that was not as it should be, or empty
	output      []byte // all of stdout, set when it is over
	signal      string // that ended it, where that is known

	mu       sync.Mutex
	searched int // bytes of stdout in which both words were looked for
}

func newTrial() *trial {
	return &trial{ready: make(chan struct{}), done: make(chan struct{}), started: make(chan struct{}), over: make(chan struct{})}
}

// printed takes notice of all that the process has written to stdout by now.
func (p *trial) printed(kept []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := max(0, p.searched-len("\nready\n"))
	p.searched = len(kept)
	for word, said := range map[string]chan struct{}{"ready": p.ready, "done": p.done} {
		line := []byte(word + "\n")
		if from == 0 && bytes.HasPrefix(kept, line) || bytes.Contains(kept[from:], append([]byte("\n"), line...)) {
			closeOnce(said)
		}
	}
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// errOver says that a process ended too early.
var errOver = errors.New("it ended too early")

// await returns once said is closed. Errors: errOver, or ctx's own.
func (p *trial) await(ctx context.Context, said chan struct{}) error {
	select {
	case <-said:
		return nil
	case <-p.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-said: // both at once
		return nil
	default:
		return errOver
	}
}

// goOn lets the process go on. On Linux the handle, not the number, is what the signal goes to. macOS has no such handle: of a process that ended by
// itself, and was reaped, the number is signalled, and could in principle be another's by then.
func (p *trial) goOn() {
	<-p.started
	_ = p.process.Signal(syscall.SIGUSR2) // one that has ended is told so by await
}

// perform lets the process do its acts, and looks before and after.
func (s *fixture) perform(ctx context.Context, p *trial) error {
	err := p.await(ctx, p.ready)
	if err == nil {
		<-p.started
		s.pid = p.process.Pid
		s.before, s.heard = s.look(), s.daemon.signals.Load()
		s.lookAtProcess(p)
		p.goOn()
		err = p.await(ctx, p.done)
	}
	if err == nil {
		s.after = s.look()
		p.goOn()
		err = p.await(ctx, p.over)
	}
	if err != nil && !errors.Is(err, errOver) {
		return err
	}
	s.read(p.output)
	s.trouble = p.ending
	if err != nil && s.trouble == "" {
		s.trouble = "it ended before it had done its acts"
	}
	return nil
}
