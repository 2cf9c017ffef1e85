package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
)

// API answers the HTTP contract. It is an http.Handler, safe for concurrent use.
type API struct {
	opts     Options
	trace    *Trace
	log      *slog.Logger
	router   chi.Router
	queue    *queue
	memory   *memory
	runtime  *runtimeWatch
	instance string
	started  time.Time

	hurry   context.Context // done once nobody waits for bodies any more
	hurryUp context.CancelFunc
}

// New makes an API. It touches nothing outside itself.
func New(o Options) (*API, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	a := &API{
		opts: o, trace: o.Trace.filled(), log: o.Log,
		memory: &memory{limit: o.UploadMemory}, runtime: newRuntimeWatch(o.Executor.DescribeRuntime, o.Executor.ProofOf),
		instance: uuid.NewString(), started: time.Now(),
	}
	a.hurry, a.hurryUp = context.WithCancel(context.Background())
	a.queue = newQueue(o.Workers, o.Queue, a.room)
	a.router = a.routes()
	return a, nil
}

// Instance is what Confined-Instance says.
func (a *API) Instance() string { return a.instance }

// Load is how many runs are alive and how many wait.
func (a *API) Load() (running, waiting int) { return a.queue.gauges() }

// room says whether one more run may start beside live others: the first may
// always, so that a root that is full of something else is reported by the run
// itself, and so is a root that cannot be looked at.
func (a *API) room(live int) bool {
	if live == 0 {
		return true
	}
	others, err := a.opts.Pool.Others()
	return err != nil || live+others < a.opts.Pool.MaxRetained()
}

// routes puts the generated routes behind what the generator leaves open.
func (a *API) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(a.noteRoute, headAsGet)
	r.NotFound(a.notFound)
	r.MethodNotAllowed(a.methodNotAllowed)
	r.Method(http.MethodGet, "/metrics", a.opts.Metrics)
	strict := NewStrictHandlerWithOptions(operations{a}, []StrictMiddlewareFunc{neverEmpty}, StrictHTTPServerOptions{
		RequestErrorHandlerFunc: a.problem, ResponseErrorHandlerFunc: a.problem,
	})
	HandlerWithOptions(routed{strict, a}, ChiServerOptions{BaseRouter: r, ErrorHandlerFunc: a.problem})
	return r
}

// neverEmpty turns a handler's forgotten answer, which would be an empty 200,
// into an error.
func neverEmpty(next StrictHandlerFunc, operation string) StrictHandlerFunc {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		response, err := next(ctx, w, r, request)
		if err == nil && response == nil {
			err = fmt.Errorf("operation %s gave no answer", operation)
		}
		return response, err
	}
}

// headAsGet routes HEAD as GET, whose body the server leaves out. The package of
// the router's own middlewares has this too, together with a profiler that the
// daemon would carry.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// noteRoute keeps the pattern that matched for the log.
func (a *API) noteRoute(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { callOf(r.Context()).route = chi.RouteContext(r.Context()).RoutePattern() }()
		next.ServeHTTP(w, r)
	})
}

func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	a.problem(w, r, refuse(ProblemCodeNotFound, "there is nothing at %.200s; there is %s", r.URL.EscapedPath(), listing(a.router)))
}

func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if a.router.Match(chi.NewRouteContext(), method, r.URL.Path) {
			allowed = append(allowed, method)
		}
		if method == http.MethodGet && len(allowed) > 0 {
			allowed = append(allowed, http.MethodHead)
		}
	}
	if len(allowed) == 0 { // the router judges a method it has never heard of before it looks at the path
		a.notFound(w, r)
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	a.problem(w, r, refuse(ProblemCodeMethodNotAllowed, "%s is not a method of this path; it has %s%s", r.Method, strings.Join(allowed, ", "), adviseMethod(r.Method, r.URL.Path, allowed)))
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{id: requestID(r), start: time.Now(), body: newBody(w, r, a.memory), answer: &answer{ResponseWriter: w}}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	r.Body = c.body
	h := w.Header()
	h.Set("X-Request-Id", c.id)
	h.Set("Confined-Instance", a.instance)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	defer context.AfterFunc(a.hurry, c.body.idle.hurry)()
	defer a.finish(r, c)
	defer a.rescue(r, c)
	if peer, ok := peerOf(r.Context()); a.opts.Owner != nil && (!ok || peer.UID != *a.opts.Owner) {
		a.problem(c.answer, r, refuse(ProblemCodeForbidden, "this daemon serves uid %d only%s", *a.opts.Owner, adviseStranger(peer, ok)))
		return
	}
	a.router.ServeHTTP(c.answer, r)
}

// rescue answers a panic. Whether a process existed is then unknown: a 500 says
// so, and so does a connection that breaks in the middle of an answer.
func (a *API) rescue(r *http.Request, c *call) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := a.panicked(r.Context(), c, v)
	if c.answer.status != 0 {
		panic(http.ErrAbortHandler)
	}
	a.problem(c.answer, r, err)
}

// panicked notes a panic, from where it is recovered, and is the error of it.
func (a *API) panicked(ctx context.Context, c *call, v any) error {
	c.lose()
	a.log.ErrorContext(ctx, "panic", "requestId", c.id, "runId", c.runID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	return fmt.Errorf("panic: %v", v)
}

// finish gives back what the request held and writes its line of the log.
func (a *API) finish(r *http.Request, c *call) {
	if c.ticket != nil {
		c.ticket.leave(true)
		c.ticket.close()
	}
	c.body.release()
	level := slog.LevelInfo
	if c.route == "/healthz" || c.route == "/readyz" || c.route == "/metrics" {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", c.route), slog.Int("status", c.answer.status),
		slog.Int64("bytes", c.answer.bytes), slog.Float64("durationMs", float64(time.Since(c.start).Microseconds())/1000), slog.String("requestId", c.id),
	}
	if c.runID != "" {
		attrs = append(attrs, slog.String("runId", c.runID))
	}
	if c.code != "" {
		attrs = append(attrs, slog.String("code", string(c.code)))
	}
	if peer, ok := peerOf(r.Context()); ok {
		attrs = append(attrs, slog.Int("peerPid", peer.PID), slog.Int("peerUid", peer.UID))
	}
	a.log.LogAttrs(r.Context(), level, "request", attrs...)
}

// answerGrace is how long Drain waits, after it has cancelled what was alive,
// for runs to settle and clients to take their answers. A run settles within
// seconds of being cancelled.
const answerGrace = 20 * time.Second

// lateBodies is how long bodies may still take to come whole after a drain. Then
// what has not come is not waited for, and answered 503 draining too. Whoever
// serves must give answers longer than this before it cuts connections.
const lateBodies = 2 * time.Second

// Drain ends the taking of runs: from now on a new run and every run that waits
// is answered 503 draining. It returns nil once every run is settled and every
// client answered. Runs that are alive when ctx is done are cancelled. An error
// says that some client did not take its answer within the grace. Uploads go on
// for at most lateBodies more.
func (a *API) Drain(ctx context.Context) error {
	defer time.AfterFunc(lateBodies, a.hurryUp)
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(time.Minute)
	}
	a.queue.drain(until)
	select {
	case <-a.queue.idle:
		return nil
	case <-ctx.Done():
		a.queue.cancel()
	}
	select {
	case <-a.queue.idle:
		return nil
	case <-time.After(answerGrace):
		return fmt.Errorf("drain: some runs were not answered within %s of being cancelled", answerGrace)
	}
}
