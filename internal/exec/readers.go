package exec

import (
	"io"
	"os"
)

// printed is output that was read: piece[start:end]. A reader fills one piece of
// memory after the other, and never again writes where it has read to.
type printed struct {
	stream     Stream
	piece      []byte
	start, end int
}

// A reader's first piece is small, since most programs print little, and each
// is twice as large as the one before, up to what a pipe holds.
const (
	firstPiece   = 4 << 10
	largestPiece = 64 << 10
)

// pipeEnd says that nothing more comes from one descriptor of the process.
type pipeEnd struct {
	descriptor int
	err        error // nil at end-of-file
}

// exit is how the process ended, and what kept its end from being seen as it
// came: then it was killed for that reason alone.
type exit struct {
	state  *os.ProcessState // nil: it was not reaped here, and never will be
	unseen error
}

// start puts one reader on each pipe and one waiter on the process. A waiter
// whose process is never reaped outlives the run on purpose: it is what reaps
// the process when that becomes possible.
func (c *collector) start() {
	go func() { c.ends <- pipeEnd{1, c.readOutput(c.process.Stdout, Stdout)} }()
	go func() { c.ends <- pipeEnd{2, c.readOutput(c.process.Stderr, Stderr)} }()
	go func() { c.ends <- pipeEnd{3, c.readControl()} }()
	go c.reap(c.process.Wait)
}

// reap tells how the process ended, or why nobody can know.
func (c *collector) reap(wait func() (*os.ProcessState, error)) {
	state, err := wait()
	c.exits <- exit{state, err}
}

func (c *collector) readControl() error {
	for {
		buf := make([]byte, 2*maxControlBytes)
		n, err := c.process.Control.Read(buf)
		if n > 0 {
			select {
			case c.texts <- buf[:n]:
			case <-c.done:
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readOutput passes on what comes from f.
func (c *collector) readOutput(f *os.File, s Stream) error {
	piece, at := make([]byte, firstPiece), 0
	for {
		if at == len(piece) {
			piece, at = make([]byte, min(2*len(piece), largestPiece)), 0
		}
		n, err := f.Read(piece[at:])
		if n > 0 {
			select {
			case c.prints <- printed{s, piece, at, at + n}:
			case <-c.done:
			}
			at += n
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
