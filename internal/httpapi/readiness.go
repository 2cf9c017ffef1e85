package httpapi

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

// GetStatus is what this daemon is and how it fares. It answers on any host.
func (a operations) GetStatus(ctx context.Context, _ GetStatusRequestObject) (GetStatusResponseObject, error) {
	running, waiting := a.queue.gauges()
	listing, root := a.opts.Pool.List()
	reasons := a.notReady(ctx, listing, root)
	return GetStatus200JSONResponse{
		Version: a.opts.Version, Instance: a.instance, StartedAt: *timeOf(a.started),
		Ready: len(reasons) == 0, NotReady: reasons,
		Workers: Gauge{Limit: a.opts.Workers, Now: running},
		Queue:   Gauge{Limit: a.opts.Queue, Now: waiting},
		Slots:   Gauge{Limit: a.opts.Pool.MaxRetained(), Now: listing.Counted},
		Profile: a.opts.Profile.Name,
	}, nil
}

// Readyz says whether a run sent now could start.
func (a operations) Readyz(ctx context.Context, _ ReadyzRequestObject) (ReadyzResponseObject, error) {
	listing, root := a.opts.Pool.List()
	reasons := a.notReady(ctx, listing, root)
	if len(reasons) == 0 {
		return Readyz200TextResponse("ok\n"), nil
	}
	p := refuse(ProblemCodeNotReady, "%s: %s", reasons[0].Code, reasons[0].Detail)
	if reasons[0].Code != NotReadyCodeDraining {
		p.retry = untilCured
	}
	for i, reason := range reasons {
		p.faults = append(p.faults, Fault{Code: FaultCodeNotReady, Pointer: "/notReady/" + strconv.Itoa(i), Detail: string(reason.Code) + ": " + reason.Detail})
	}
	return nil, p
}

// NotReadyCodes are all reasons why no run could start.
func NotReadyCodes() []string {
	var codes []string
	for _, code := range []NotReadyCode{
		NotReadyCodeDraining, NotReadyCodeUnsupportedHost, NotReadyCodeRuntimeUnavailable,
		NotReadyCodeRuntimeUnproven, NotReadyCodeRootUnsound, NotReadyCodeNoFreeSlot,
	} {
		codes = append(codes, string(code))
	}
	return codes
}

// NotReady is every reason why a run that came now could not start.
func (a *API) NotReady(ctx context.Context) []NotReady {
	listing, root := a.opts.Pool.List()
	return a.notReady(ctx, listing, root)
}

// notReady is never nil. root is why there is no listing. A full queue is no
// reason, and neither is a slot that one of our own runs will give back.
func (a *API) notReady(ctx context.Context, listing ns.Listing, root error) []NotReady {
	reasons := []NotReady{}
	add := func(code NotReadyCode, detail string) {
		reasons = append(reasons, NotReady{Code: code, Detail: printable(detail, maxDetailBytes)})
	}
	if a.queue.stopping() {
		add(NotReadyCodeDraining, "the daemon is shutting down; send runs to its successor")
	}
	if code, err := a.runtimeProblem(ctx); err != nil {
		add(code, err.Error())
	}
	if root != nil {
		add(NotReadyCodeRootUnsound, root.Error())
	} else if others := othersIn(listing); others >= listing.MaxRetained {
		said, cure := listing.Contents()
		add(NotReadyCodeNoFreeSlot, "the root "+listing.Root+" holds "+strconv.Itoa(others)+" entries that no run of this daemon will remove, and at most "+
			strconv.Itoa(listing.MaxRetained)+" are allowed (--max-retained): "+said+"; "+cure)
	}
	return reasons
}

func othersIn(l ns.Listing) int {
	others := l.Counted
	for _, s := range l.Slots {
		if s.State == ns.Running {
			others--
		}
	}
	return others
}

// runtimeProblem is why no runtime could be started here, if so.
func (a *API) runtimeProblem(ctx context.Context) (NotReadyCode, error) {
	if problem := a.opts.HostProblem(); problem != nil {
		return NotReadyCodeUnsupportedHost, problem
	}
	err := a.runtime.check(ctx)
	var host *exec.HostError
	var unproven *exec.UnprovenError
	switch {
	case err == nil || ctx.Err() != nil: // of a client that is gone nothing is concluded
		return "", nil
	case errors.As(err, &host):
		return NotReadyCodeUnsupportedHost, err
	case errors.As(err, &unproven):
		return NotReadyCodeRuntimeUnproven, err
	}
	return NotReadyCodeRuntimeUnavailable, err
}

// describeAgain is how long a failure to identify the runtime is believed.
const describeAgain = 10 * time.Second

// runtimeWatch knows whether the runtime can be identified and is proven,
// without describing it for every probe, which hashes what is not sealed: an
// outcome holds while every file of the runtime looks the same and something
// still proves it, a failure for describeAgain. It is for readiness alone: a run
// always looks for itself.
type runtimeWatch struct {
	describe func(context.Context) (exec.Description, error)
	proofOf  func(pins.Runtime) (pins.Proof, error)
	turn     chan struct{} // holds one value while somebody hashes

	mu   sync.Mutex        // never held while anybody looks at a file
	last *exec.Description // never written again once it is here
	err  error
	at   time.Time // of err
}

func newRuntimeWatch(describe func(context.Context) (exec.Description, error), proofOf func(pins.Runtime) (pins.Proof, error)) *runtimeWatch {
	return &runtimeWatch{describe: describe, proofOf: proofOf, turn: make(chan struct{}, 1)}
}

// recompute identifies the runtime now. Callers take turns, so that a burst of
// them does not hash the same files side by side.
func (w *runtimeWatch) recompute(ctx context.Context) (exec.Description, error) {
	if err := w.take(ctx); err != nil {
		return exec.Description{}, err
	}
	defer w.pass()
	return w.refresh(ctx)
}

func (w *runtimeWatch) take(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *runtimeWatch) pass() { <-w.turn }

func (w *runtimeWatch) refresh(ctx context.Context) (exec.Description, error) {
	d, err := w.describe(ctx)
	if ctx.Err() != nil {
		return exec.Description{}, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.err, w.at = &d, err, time.Now()
	return d, err
}

// check is the outcome of the latest look that still holds, or of a new one.
// Whoever hashes meanwhile does not make it wait for what is known.
func (w *runtimeWatch) check(ctx context.Context) error {
	if known, err := w.known(); known {
		return err
	}
	if err := w.take(ctx); err != nil {
		return err
	}
	defer w.pass()
	if known, err := w.known(); known {
		return err
	}
	_, err := w.refresh(ctx)
	return err
}

// known is the outcome of the latest look, and whether it still holds.
func (w *runtimeWatch) known() (bool, error) {
	w.mu.Lock()
	last, err, at := w.last, w.err, w.at
	w.mu.Unlock()
	if err != nil {
		return time.Since(at) < describeAgain, err
	}
	return last != nil && last.Runtime.LooksUnchanged() && w.proves(last.Runtime), nil
}

// proves says whether something proves rt now: a receipt may have been removed.
func (w *runtimeWatch) proves(rt pins.Runtime) bool {
	_, err := w.proofOf(rt)
	return err == nil
}
