package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

// Executor carries out runs; *exec.Executor is one.
type Executor interface {
	Run(ctx context.Context, req exec.Request, trace *exec.Trace) (exec.Result, []exec.StageTime)
	DescribeRuntime(ctx context.Context) (exec.Description, error)
	ProofOf(pins.Runtime) (pins.Proof, error)
	MaxDescriptors() int64
}

// Pool is the root and its slots; *ns.Pool is one.
type Pool interface {
	List() (ns.Listing, error)
	Others() (int, error)
	MaxRetained() int
	Show(ctx context.Context, name string) (ns.SlotContents, error)
	Release(ctx context.Context, name, tag string) (ns.Disposition, error)
}

// Options are what an API works with. Nothing in it changes afterwards.
type Options struct {
	Version     string // of the daemon, for people
	Executor    Executor
	Pool        Pool
	Profile     pins.Profile           // what this binary enforces
	HostProblem func() *exec.HostError // cheap; nil result when nothing is known to be missing

	Workers      int   // runs alive at once, at least 1
	Queue        int   // runs that wait, at least 0
	UploadMemory int64 // bytes of bodies and outputs held at once

	Owner   *int         // the only uid that is served; nil leaves that to the transport
	Metrics http.Handler // serves GET /metrics
	Trace   *Trace       // may be nil
	Log     *slog.Logger
}

func (o Options) check() error {
	switch {
	case o.Executor == nil || o.Pool == nil || o.HostProblem == nil || o.Metrics == nil || o.Log == nil:
		return errors.New("httpapi: executor, pool, host problem, metrics and log are required")
	case o.Workers < 1:
		return errors.New("httpapi: at least one worker is required")
	case o.Queue < 0:
		return errors.New("httpapi: the queue cannot be shorter than 0")
	case o.UploadMemory < 1<<20:
		return errors.New("httpapi: the upload memory must be at least 1 MiB")
	}
	return nil
}

// Trace observes what happens around runs, beside exec.Trace, which observes
// the runs. Any field may be nil. Hooks run on the goroutine of the request or,
// where that is streamed, of its run.
type Trace struct {
	Refused     func(code string)     // a problem is about to be answered
	QueueWait   func(d time.Duration) // a run waited that long before it started
	Abandoned   func()                // a run was cancelled while it waited; nothing was started
	UploadBytes func(n int64)         // a body of n bytes was read whole
}

// filled is t with every hook callable.
func (t *Trace) filled() *Trace {
	out := Trace{Refused: func(string) {}, QueueWait: func(time.Duration) {}, Abandoned: func() {}, UploadBytes: func(int64) {}}
	if t == nil {
		return &out
	}
	if t.Refused != nil {
		out.Refused = t.Refused
	}
	if t.QueueWait != nil {
		out.QueueWait = t.QueueWait
	}
	if t.Abandoned != nil {
		out.Abandoned = t.Abandoned
	}
	if t.UploadBytes != nil {
		out.UploadBytes = t.UploadBytes
	}
	return &out
}
