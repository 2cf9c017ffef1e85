package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"confined/internal/confine"
)

const (
	closeGrace  = time.Second     // from exit until pipes that are still open are given up
	killConfirm = 5 * time.Second // from a stop until a process that is still there is given up
)

// collected is what the host saw of one process, once, when collection settled.
type collected struct {
	facts  ProcessFacts
	lost   error // a read error other than end-of-file on descriptors 1 to 3, or one of watching for the process's end
	opened bool  // the go byte was sent
}

// gone says whether the process was reaped and its pipes closed, which is what
// an observed result needs.
func (c collected) gone() bool { return c.facts.Exit != nil && c.facts.PipesClosed }

// unseen says whether the program can have run although no admission record
// was read: the gate was open, and not all that followed was seen.
func (c collected) unseen() bool { return c.opened && (!c.gone() || c.lost != nil) }

// collector gathers one process's facts. One goroutine owns it; readers and the
// waiter only send.
type collector struct {
	process *confine.Process
	bounds  Bounds
	clock   *stopwatch
	hooks   collectHooks

	control controlText
	output  output
	state   *os.ProcessState
	open    int // of the pipes on descriptors 1 to 3
	lost    error
	opened  bool // the go byte was sent
	stopped StopReason
	killed  bool

	texts   chan []byte  // from the control pipe
	prints  chan printed // from stdout and stderr
	ends    chan pipeEnd
	exits   chan exit
	done    chan struct{} // closed when nothing is taken from these any more
	grace   *time.Timer
	confirm *time.Timer
}

// collectHooks are called on the collector's goroutine, which waits for them.
type collectHooks struct {
	admitted func()                                   // once, when the admission record arrives
	printed  func(stream Stream, kept Output, at int) // what kept has from at on has just been kept
}

// collect opens the gate when the process's limits are the ones asked for,
// waits until the process exited and its pipes closed, and settles exactly
// once: then, or closeGrace after exit, or killConfirm after a stop, whichever
// is first. SIGKILL is sent only through the process's handle and only while it
// is unreaped.
func collect(ctx context.Context, p *confine.Process, b Bounds, clock *stopwatch, hooks collectHooks) collected {
	c := &collector{
		process: p, bounds: b, clock: clock, hooks: hooks,
		output: output{bound: b.MaxOutputBytes}, open: 3,
		texts: make(chan []byte), prints: make(chan printed), ends: make(chan pipeEnd, 3),
		exits: make(chan exit, 1), done: make(chan struct{}),
		grace: stoppedTimer(), confirm: stoppedTimer(),
	}
	defer close(c.done) // also when a hook panics: the readers then read on to the end, for nobody
	c.start()
	c.settle(ctx)
	return c.finish()
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// settle is the one place where what happens is given its order.
func (c *collector) settle(ctx context.Context) {
	timeout := time.NewTimer(time.Duration(c.bounds.TimeoutMs)*time.Millisecond - c.clock.sinceSpawn())
	defer timeout.Stop()
	cancelled := ctx.Done()
	for c.state == nil || c.open > 0 {
		select {
		case text := <-c.texts:
			c.onControl(ctx, text)
		case p := <-c.prints:
			if c.onPrinted(p) {
				c.stop(StopOutputLimit)
			}
		case end := <-c.ends:
			c.onEnd(end)
		case e := <-c.exits:
			c.onExit(e)
		case <-cancelled:
			c.stop(StopCancelled)
			cancelled = nil
		case <-timeout.C:
			c.stop(StopTimeout)
		case <-c.grace.C:
			return
		case <-c.confirm.C:
			return
		}
	}
}

// onControl reads on in the control text, and decides about the gate at the
// moment the eighth limit line arrives.
func (c *collector) onControl(ctx context.Context, text []byte) {
	measured, admission := c.control.limits(), c.control.admission
	c.control.feed(text)
	if measured == nil && c.control.limits() != nil {
		c.clock.mark(StageLaunch)
		c.decideGate(ctx)
	}
	if !c.opened && c.control.admission == AdmissionAdmitted {
		c.control.admission = AdmissionMalformed // the preload admits after the go byte: this record is somebody else's
	}
	if admission == "" && c.control.admission == AdmissionAdmitted {
		c.clock.mark(StageAdmit)
		c.hooks.admitted()
	}
	if c.control.admission == AdmissionMalformed {
		c.stop(StopControlMalformed)
	}
}

// decideGate sends the go byte only if the measured limits are exactly those
// asked for and the run is not cancelled at this moment.
func (c *collector) decideGate(ctx context.Context) {
	switch {
	case *c.control.limits() != c.bounds.asked():
		c.stop(StopLimitsMismatch)
	case ctx.Err() != nil:
		c.stop(StopCancelled)
	case c.stopped == "" && c.control.admission == "":
		c.openGate()
	}
}

// openGate sends the go byte and then end-of-file. A process that died already
// cannot take the byte; its exit says so. The pipe has room unless somebody
// else filled it, and for him nobody waits long.
func (c *collector) openGate() {
	_ = c.process.Gate.SetWriteDeadline(time.Now().Add(closeGrace))
	_, err := c.process.Gate.Write([]byte{confine.GoByte})
	c.opened = err == nil
	_ = c.process.Gate.Close()
}

// onPrinted keeps output up to the bound, and says whether this exceeded it.
func (c *collector) onPrinted(p printed) (over bool) {
	n, over := c.output.add(p)
	if n > 0 {
		kept := c.output.kept[p.stream]
		c.hooks.printed(p.stream, kept, kept.Len()-n)
	}
	return over
}

func (c *collector) onEnd(end pipeEnd) {
	c.open--
	if end.err != nil && c.lost == nil {
		c.lost = fmt.Errorf("descriptor %d: %w", end.descriptor, end.err)
	}
	if end.descriptor == 3 {
		c.control.end()
	}
}

// onExit keeps the first error, as onEnd does. A run whose end could not be
// watched for was killed for that, and its exit says nothing of the program. One
// that cannot be reaped is killed too, as far as that goes, and not waited for.
func (c *collector) onExit(e exit) {
	if e.unseen != nil && c.lost == nil {
		c.lost = e.unseen
	}
	if c.state = e.state; c.state == nil {
		_ = c.process.Kill()
		c.confirm.Reset(killConfirm)
		return
	}
	c.clock.mark(StageProgram)
	c.grace.Reset(closeGrace)
}

// stop asks the process to end. The first reason wins, and none is recorded
// after exit: also not when the process is reaped and its state on the way here.
func (c *collector) stop(reason StopReason) {
	if c.state != nil || c.stopped != "" {
		return
	}
	err := c.process.Kill()
	c.confirm.Reset(killConfirm)
	if !errors.Is(err, os.ErrProcessDone) {
		c.stopped, c.killed = reason, err == nil
	}
}

// finish lets go of the pipes and states the facts.
func (c *collector) finish() collected {
	pipesClosed, duration := c.open == 0, c.clock.sinceSpawn()
	c.release()
	c.control.end()
	c.clock.mark(StageCollect)
	return collected{lost: c.lost, opened: c.opened, facts: ProcessFacts{
		PID:         c.process.PID,
		Admission:   c.control.admission,
		Limits:      c.control.limits(),
		Exit:        exitOf(c.state),
		PipesClosed: pipesClosed,
		Stopped:     c.stopped,
		KillSent:    c.killed,
		Stdout:      c.output.kept[Stdout],
		Stderr:      c.output.kept[Stderr],
		OutputBytes: c.output.total,
		Duration:    duration,
		Usage:       usageOf(c.state),
	}}
}

// release closes our ends and waits for the readers, so that nothing is
// counted after the facts are stated. Control text is of no use any more.
func (c *collector) release() {
	for _, f := range []*os.File{c.process.Gate, c.process.Control, c.process.Stdout, c.process.Stderr} {
		_ = f.Close() // also wakes a reader that waits on a pipe held open elsewhere
	}
	for c.open > 0 {
		select {
		case <-c.texts:
		case p := <-c.prints:
			c.onPrinted(p)
		case <-c.ends:
			c.open--
		}
	}
}
