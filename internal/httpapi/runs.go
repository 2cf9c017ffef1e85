package httpapi

import (
	"context"
	"errors"

	"confined/internal/exec"
)

// carry is one run from its place in the queue to its frozen result. Until it
// returns, the call's body and ticket are its own. watch may be nil.
func (a operations) carry(ctx context.Context, c *call, req exec.Request, watch *exec.Trace) (frozen, error) {
	t := c.ticket
	defer t.leave(true) // for a bug that ends it half-way: a process may exist
	wait, err := t.await(ctx)
	switch {
	case errors.Is(err, errCancelled):
		a.trace.Abandoned()
		return frozen{result: cancelledInQueue(req), queued: wait}, nil
	case err != nil:
		return frozen{}, err
	}
	a.trace.QueueWait(wait)
	// However long the run takes, others can upload.
	onDisk := &exec.Trace{Materialised: func(exec.MaterialisedInfo) { c.letGo(req) }}
	result, stageTimes := a.opts.Executor.Run(ctx, req, exec.Join(onDisk, stages(t.reached), watch))
	t.leave(result.Status() != exec.StatusNotStarted)
	answer := frozen{result: result, queued: wait, stages: stageTimes}
	c.letGo(req) // also where nothing came on disk
	c.body.hold(answer.outputBytes()) // until the client has taken it
	return answer, nil
}

// cancelledInQueue is the result of a run that was cancelled before its turn:
// somebody asked for that, or its client stopped sending, or went away.
func cancelledInQueue(req exec.Request) exec.Result {
	return exec.NotStarted{RunID: req.RunID(), Reason: exec.ReasonAborted, Message: "the run was cancelled while it waited in the queue; nothing was touched"}
}

// ListRuns is what waits and what is alive.
func (a operations) ListRuns(context.Context, ListRunsRequestObject) (ListRunsResponseObject, error) {
	return ListRuns200JSONResponse{Runs: a.queue.live()}, nil
}

// CancelRun asks a run to stop.
func (a operations) CancelRun(_ context.Context, request CancelRunRequestObject) (CancelRunResponseObject, error) {
	if !a.queue.stop(request.RunID) {
		return nil, refuse(ProblemCodeRunUnknown, "no run %.100q waits or is alive here; what became of one that ended is in its own result", request.RunID)
	}
	return CancelRun202Response{}, nil
}
