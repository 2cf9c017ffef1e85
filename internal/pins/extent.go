package pins

import (
	"errors"
	"fmt"
	"io"
)

// extent is a run of bytes of known length that a form is read from: a file, or a part of one.
type extent struct {
	r    io.ReaderAt
	size int64
}

// within reports whether n bytes from offset lie in it.
func (e extent) within(offset, n uint64) bool {
	size := uint64(max(e.size, 0))
	return offset <= size && n <= size-offset
}

// read fills b, which the caller knows to lie within it.
func (e extent) read(b []byte, offset int64) error {
	if n, err := e.r.ReadAt(b, offset); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("cannot be read at byte %d: %w", offset, err)
	}
	return nil
}
