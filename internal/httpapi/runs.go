package httpapi

import "context"

// ListRuns is what waits and what is alive.
func (a operations) ListRuns(context.Context, ListRunsRequestObject) (ListRunsResponseObject, error) {
	return ListRuns200JSONResponse{Runs: []LiveRun{}}, nil
}

// CancelRun asks a run to stop.
func (a operations) CancelRun(_ context.Context, request CancelRunRequestObject) (CancelRunResponseObject, error) {
	return nil, refuse(ProblemCodeRunUnknown, "no run %s waits or is alive here", request.RunID)
}
