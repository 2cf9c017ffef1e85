package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// maxDrain bounds what is read of a refused body, so that clients that
	// write everything before they read see the answer and no broken pipe.
	maxDrain = 512 << 20
	// uploadIdle is how long a client may send nothing in the middle of a body,
	// uploadWhole how long its body may take: what it sent keeps others out.
	uploadIdle  = time.Minute
	uploadWhole = 15 * time.Minute
)

// The ways in which a body cannot be read on, beside those of the connection.
var (
	errBodyTooLarge = errors.New("the body is too large")
	errNoMemory     = errors.New("the bound on upload memory is reached")
	errTooSlow      = fmt.Errorf("nothing came for %s, or the body is not whole after %s", uploadIdle, uploadWhole)
)

// body is a request's body, bounded and accounted for. Its first failure stays
// its failure: parsers above it wrap or lose errors, so it is asked for its own.
type body struct {
	src     io.ReadCloser
	mem     *memory
	idle    *watchdog
	most    int64     // that a body of its form may have
	limit   int64     // the same, or the whole upload memory
	length  int64     // that the client announced, -1 when it did not
	size    int64     // read so far
	held    int64     // of mem
	expects bool      // the client waits for "100 Continue" before it sends
	end     string    // what Read adds behind the body
	until   time.Time // when it must be whole; from the first Read on
	failure error
}

func newBody(w http.ResponseWriter, r *http.Request, mem *memory) *body {
	return &body{
		src: r.Body, mem: mem, limit: mem.limit, length: r.ContentLength, expects: r.Header.Get("Expect") != "",
		idle: newWatchdog(func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) }),
	}
}

// bound sets the most that the body may have. One that says to be larger is
// refused for that, and not because memory is full now: waiting would not help.
func (b *body) bound(most int64) {
	b.most, b.limit = most, min(most, b.mem.limit)
	if b.length > b.limit {
		b.failure = errBodyTooLarge
	}
}

// Read implements io.Reader. Every byte of the client's that it returns is
// reserved first.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.failure == io.EOF && b.end != "":
		n := copy(p, b.end)
		b.end = b.end[n:]
		return n, nil
	case b.failure != nil:
		return 0, b.failure
	}
	n, err := b.next(p)
	switch {
	case b.size > b.limit:
		n, err = 0, errBodyTooLarge
	case !b.mem.take(int64(n)):
		n, err = 0, errNoMemory
	default:
		b.held += int64(n)
	}
	b.failure = err
	if err == io.EOF && n > 0 {
		err = nil // what is added, or the end, comes with the next Read
	}
	if n == 0 && err == io.EOF && b.end != "" {
		return b.Read(p)
	}
	return n, err
}

// next reads from the connection, and gives up when too little comes, or when
// the daemon is about to end.
func (b *body) next(p []byte) (int, error) {
	if b.until.IsZero() {
		b.until = time.Now().Add(uploadWhole)
	}
	b.idle.arm(min(uploadIdle, time.Until(b.until)))
	n, err := b.src.Read(p)
	b.idle.disarm()
	b.size += int64(n)
	switch {
	case !errors.Is(err, os.ErrDeadlineExceeded):
	case b.idle.hurried():
		err = drainingRefusal()
	default:
		err = errTooSlow
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error { return b.src.Close() }

// failed is what ended reading, other than the end of the body.
func (b *body) failed() error {
	if b.failure == io.EOF {
		return nil
	}
	return b.failure
}

// drain reads what a refused client still wants to send, unless it waits to be
// asked for it. Nothing is kept.
func (b *body) drain() {
	if b.size == 0 && b.expects {
		return
	}
	waste := make([]byte, 32<<10)
	for b.size < maxDrain {
		if _, err := b.next(waste); err != nil {
			return
		}
	}
}

// hold reserves n more bytes on the account of this request.
func (b *body) hold(n int64) {
	b.mem.force(n)
	b.held += n
}

// release gives back everything that was reserved. It may be called at any
// time, and more than once: whoever does has let go of what was read.
func (b *body) release() {
	b.mem.give(b.held)
	b.held = 0
}

// refusal says what kept the body from being read to its end; err is what the
// parser above it makes of that.
func (b *body) refusal(err error) *refusal {
	failure := b.failed()
	var ready *refusal
	switch {
	case errors.As(failure, &ready):
		return ready
	case errors.Is(failure, errBodyTooLarge) && b.limit < b.most:
		return refuse(ProblemCodeTooLarge, "the body exceeds %d bytes, which is all the upload memory this daemon was given", b.limit)
	case errors.Is(failure, errBodyTooLarge):
		return refuse(ProblemCodeTooLarge, "the body exceeds %d bytes; a program and an input may have 64 MiB each", b.limit)
	case errors.Is(failure, errNoMemory):
		return refuse(ProblemCodeUploadMemoryFull, "the bodies of other requests take up the upload memory of %d bytes", b.mem.limit)
	case failure != nil:
		err = failure
	}
	return refuse(ProblemCodeMalformedRequest, "the body cannot be read to its end: %s", printable(fmt.Sprint(err), maxDetailBytes))
}
