package client

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"
	"time"

	"confined/client/api"
)

// StartedNothing reports whether err proves that the request it came from
// started no process and never will. It is the whole retry rule: after any
// other error of [Client.Run] or [Client.Stream] the program may have run, or
// may still be running, and sending the job again can run it twice.
//
// Whether a repetition can succeed is another question: after a [ProblemError]
// with RetryAfter, once that has passed; after a [NoDaemonError], once there is
// a daemon; after any other, once its cause is cured.
func StartedNothing(err error) bool {
	var unknown *UnknownError
	if errors.As(err, &unknown) {
		return false
	}
	var notSent *NotSentError
	var noDaemon *NoDaemonError
	if errors.As(err, &notSent) || errors.As(err, &noDaemon) {
		return true
	}
	var problem *ProblemError
	return errors.As(err, &problem) && refusal(problem.Problem.Status)
}

// refusal reports whether a problem of this HTTP status means that no process
// existed.
func refusal(status int) bool {
	return status >= 400 && status < 500 || status == http.StatusServiceUnavailable
}

// UnknownError says that the job was sent and that whether a process existed,
// or still does, is unknown: the connection was cut or the context ended, the
// daemon failed (HTTP 500), or what came back is not a whole and sound answer
// to what was asked.
type UnknownError struct {
	RunID string // of the job; GET /v1/runs lists it while it is alive
	Err   error  // why; the context's error where that ended the call
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("what became of run %s is unknown: %v", e.RunID, e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }

// ProblemError is a problem that the daemon answered with (RFC 9457).
type ProblemError struct {
	Problem    api.Problem
	RetryAfter time.Duration // with 429 and 503: when it may be worth asking again; else 0
}

func (e *ProblemError) Error() string {
	return fmt.Sprintf("%s (%d %s): %s", e.Problem.Title, e.Problem.Status, e.Problem.Code, e.Problem.Detail)
}

// NoDaemonError says that nobody could be reached on the socket.
type NoDaemonError struct {
	Socket string
	Err    error
}

func (e *NoDaemonError) Error() string {
	why := "start the daemon with `confined serve`, or name its socket in CONFINED_SOCKET"
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return fmt.Sprintf("nothing is at %s: %s", e.Socket, why)
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return fmt.Sprintf("no daemon listens on %s any more: %s", e.Socket, why)
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("%s may not be opened: a daemon serves its owner only, so start one of your own", e.Socket)
	case errors.Is(e.Err, syscall.EINVAL):
		return fmt.Sprintf("the path of the socket has %d bytes, and Linux takes 107, macOS 103: %s", len(e.Socket), e.Socket)
	}
	return fmt.Sprintf("no daemon answers on %s: %v", e.Socket, e.Err)
}

func (e *NoDaemonError) Unwrap() error { return e.Err }

// NotSentError says that the job was not handed over whole, which the daemon
// demands before it does anything: it was not sent, or only begun.
type NotSentError struct{ Err error }

func (e *NotSentError) Error() string { return "the job was not sent: " + e.Err.Error() }

func (e *NotSentError) Unwrap() error { return e.Err }
