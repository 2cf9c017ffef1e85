package pins

import (
	"hash"
	"io"
)

// Content is held in pieces between these two sizes, in bytes: small enough that a request of a few files costs little,
// large enough that 64 MiB are a thousand allocations.
const (
	leastPiece = 4 << 10
	mostPiece  = 64 << 10
)

// Content is what one file of a snapshot holds, in pieces, in order. A piece may lie in memory that other files share:
// nothing may be written to it.
type Content [][]byte

// Size is the number of bytes.
func (c Content) Size() int64 {
	n := int64(0)
	for _, piece := range c {
		n += int64(len(piece))
	}
	return n
}

// WriteTo implements [io.WriterTo].
func (c Content) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	for _, piece := range c {
		n, err := w.Write(piece)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// shelf holds the contents of many files one after the other, so that they take the memory of their bytes, plus at most
// one piece: nothing is read into a buffer that doubles, and no file is rounded up to a size of the allocator. What
// was put on it is never written to again.
type shelf struct {
	free []byte // the rest of the piece in use
	held int64  // bytes in all pieces
}

// put reads r to its end, or until that gave more than room bytes, and hashes it on the way. It returns what was read.
func (s *shelf) put(r io.Reader, room int64, h hash.Hash) (Content, int64, error) {
	var content Content
	size := int64(0)
	for size <= room {
		if len(s.free) == 0 {
			s.free = make([]byte, min(max(s.held, leastPiece), mostPiece))
			s.held += int64(len(s.free))
		}
		n, err := fill(s.free[:min(int64(len(s.free)), room+1-size)], r)
		if n > 0 {
			h.Write(s.free[:n])
			content = append(content, s.free[:n:n])
		}
		s.free = s.free[n:]
		size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, size, err
		}
	}
	return content, size, nil
}

// fill reads until p is full. Its error is r's own: io.ReadFull could not tell a reader that ended from one that says
// io.ErrUnexpectedEOF, which is a file cut short.
func fill(p []byte, r io.Reader) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	return n, err
}
