package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"github.com/google/uuid"
)

// call is one request on its way. Only the request's own goroutine touches it,
// except for what a streamed run has while it lasts: see operations.carry.
type call struct {
	id        string // X-Request-Id
	route     string // pattern, empty where none matched
	runID     string // once known
	anonymous bool   // the daemon made runID
	stream    bool   // the client is to be told of its run as it goes
	code      ProblemCode
	start     time.Time
	body      *body
	form      form // of a body that must have one
	answer    *answer
	ticket    *ticket // of a run that entered the queue
}

// lose says that what became of the request is unknown.
func (c *call) lose() {
	if c.ticket != nil {
		c.ticket.lose()
	}
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID is the caller's id where it has the form of one, else a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); requestIDForm.MatchString(id) {
		return id
	}
	return uuid.NewString()
}

// answer notes what was sent. It hides nothing of the writer below: an
// http.ResponseController finds that by Unwrap.
type answer struct {
	http.ResponseWriter
	status int // 0 until the head is written
	bytes  int64
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// answerIdle is how long a client may take nothing of its answer before the
// connection is cut: what it holds in memory is everybody's.
const answerIdle = 5 * time.Minute

// progress gives the client another answerIdle. A writer that knows no
// deadlines has none to be given.
func (a *answer) progress() {
	_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(answerIdle))
}

func (a *answer) WriteHeader(status int) {
	a.progress()
	if a.status == 0 && status >= 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// answerPiece is what a client must take of its answer to get another
// answerIdle.
const answerPiece = 64 << 10

func (a *answer) Write(p []byte) (written int, err error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	for err == nil && written < len(p) {
		a.progress()
		var n int
		n, err = a.ResponseWriter.Write(p[written:min(len(p), written+answerPiece)])
		written += n
	}
	a.bytes += int64(written)
	return written, err
}

// Peer is the process at the other end of a Unix socket, as the kernel says.
type Peer struct{ PID, UID int }

type peerKey struct{}

// WithPeer is for http.Server.ConnContext: it makes the peer of a connection
// known to every request on it.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

func peerOf(ctx context.Context) (Peer, bool) {
	p, ok := ctx.Value(peerKey{}).(Peer)
	return p, ok
}
