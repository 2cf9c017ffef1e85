package httpapi

import (
	"context"
	"net/http"

	"confined"
)

// routed are the generated routes, with what must happen before a body is read.
type routed struct {
	ServerInterface
	api *API
}

// CreateRun refuses, before the body is read, what its head already decides.
func (o routed) CreateRun(w http.ResponseWriter, r *http.Request) {
	stream, err := wantsStream(r)
	if err == nil {
		err = checkForm(r)
	}
	if err == nil {
		err = o.api.queue.full()
	}
	if err != nil {
		o.api.problem(w, r, err)
		return
	}
	callOf(r.Context()).stream = stream
	o.ServerInterface.CreateRun(w, r)
}

// DescribeSnapshot does the same for snapshots.
func (o routed) DescribeSnapshot(w http.ResponseWriter, r *http.Request) {
	if err := checkForm(r); err != nil {
		o.api.problem(w, r, err)
		return
	}
	o.ServerInterface.DescribeSnapshot(w, r)
}

// operations are the strict handlers: each makes one answer or one error.
type operations struct{ *API }

// CreateRun is one run, from its body to its answer.
func (a operations) CreateRun(ctx context.Context, _ CreateRunRequestObject) (CreateRunResponseObject, error) {
	c := callOf(ctx)
	req, err := c.readRun(a.opts.Executor.MaxDescriptors())
	if err != nil {
		return nil, err
	}
	a.trace.UploadBytes(c.body.size)
	ticket, ctx, err := a.queue.enter(ctx, summaryOf(req, c.anonymous))
	if err != nil {
		return nil, err
	}
	c.ticket = ticket
	if c.stream {
		return a.begin(ctx, c, req), nil
	}
	return a.carry(ctx, c, req, nil)
}

// DescribeSnapshot digests files.
func (a operations) DescribeSnapshot(ctx context.Context, _ DescribeSnapshotRequestObject) (DescribeSnapshotResponseObject, error) {
	c := callOf(ctx)
	s, err := c.readSnapshot()
	if err != nil {
		return nil, err
	}
	a.trace.UploadBytes(c.body.size)
	return DescribeSnapshot200JSONResponse(snapshotOf(s)), nil
}

// GetRuntime recomputes the identity of the runtime.
func (a operations) GetRuntime(ctx context.Context, _ GetRuntimeRequestObject) (GetRuntimeResponseObject, error) {
	d, err := a.runtime.recompute(ctx)
	if err != nil {
		return nil, runtimeRefusal(err)
	}
	return GetRuntime200JSONResponse(runtimeOf(d)), nil
}

// GetProfile is the identity of what this binary enforces.
func (a operations) GetProfile(context.Context, GetProfileRequestObject) (GetProfileResponseObject, error) {
	return GetProfile200JSONResponse{
		Name: a.opts.Profile.Name, Digest: string(a.opts.Profile.Digest), Template: a.opts.Profile.Template,
		Environment: append([]string{}, a.opts.Profile.Environment...),
	}, nil
}

// ListSlots is what is in the root now.
func (a operations) ListSlots(context.Context, ListSlotsRequestObject) (ListSlotsResponseObject, error) {
	l, err := a.opts.Pool.List()
	if err != nil {
		return nil, rootRefusal(err)
	}
	return ListSlots200JSONResponse(slotsOf(l)), nil
}

// Healthz says that the process answers.
func (a operations) Healthz(context.Context, HealthzRequestObject) (HealthzResponseObject, error) {
	return Healthz200TextResponse("ok\n"), nil
}

// Contract is openapi.yaml.
func (a operations) Contract(context.Context, ContractRequestObject) (ContractResponseObject, error) {
	return Contract200TextResponse(confined.Contract()), nil
}
