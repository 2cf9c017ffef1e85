package exec

import (
	"io"
	"os"
	"sync"
)

// output keeps what a program printed, stdout and stderr together up to one
// bound, in order of arrival and cut exactly at the bound. All that arrives is
// counted, so that a reader never has to guess whether something was cut.
type output struct {
	bound int64
	over  chan struct{} // closed when more arrived than the bound

	mu    sync.Mutex
	total int64
	kept  [2][]byte
}

func newOutput(bound int64) *output {
	return &output{over: make(chan struct{}), bound: bound}
}

func (o *output) add(stream int, chunk []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.total
	o.total += int64(len(chunk))
	keep := min(int64(len(chunk)), max(0, o.bound-before))
	o.kept[stream] = append(o.kept[stream], chunk[:keep]...)
	if before <= o.bound && o.total > o.bound {
		close(o.over)
	}
}

// drain reads f to its end into one stream. It returns nil at end-of-file and
// otherwise what ended it.
func (o *output) drain(f *os.File, stream int) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		o.add(stream, buf[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (o *output) result() (stdout, stderr []byte, total int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept[0], o.kept[1], o.total
}
