package exec

import (
	"io"
	"os"
)

// printed is output that was read. The reader leaves bytes alone until it is
// rid of what it reads next.
type printed struct {
	stream Stream
	bytes  []byte
}

// pipeEnd says that nothing more comes from one descriptor of the process.
type pipeEnd struct {
	descriptor int
	err        error // nil at end-of-file
}

// start puts one reader on each pipe and one waiter on the process. A waiter
// whose process is never reaped outlives the run on purpose: it is what reaps
// the process when that becomes possible.
func (c *collector) start() {
	go func() { c.ends <- pipeEnd{1, c.readOutput(c.process.Stdout, Stdout)} }()
	go func() { c.ends <- pipeEnd{2, c.readOutput(c.process.Stderr, Stderr)} }()
	go func() { c.ends <- pipeEnd{3, c.readControl()} }()
	go func() {
		state, err := c.process.Wait()
		if err == nil {
			c.exits <- state
		}
	}()
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

// readOutput passes on what comes from f, in turns of two buffers: when the
// second is taken, the first was copied.
func (c *collector) readOutput(f *os.File, s Stream) error {
	var buffers [2][64 << 10]byte
	for turn := 0; ; turn = 1 - turn {
		n, err := f.Read(buffers[turn][:])
		if n > 0 {
			select {
			case c.prints <- printed{s, buffers[turn][:n]}:
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
