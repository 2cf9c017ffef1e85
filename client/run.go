package client

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
)

const (
	resultType  = "application/json"
	streamType  = "application/x-ndjson"
	problemType = "application/problem+json"
)

// Run sends a job once, waits for its result and checks it: the body is whole
// and what its Content-Digest says, the run is the one that was asked for, and
// its identities are those of the job. How a program fares is no error. Run
// never repeats anything; see [StartedNothing].
//
// When ctx ends, the connection is closed, which cancels the run. What came of
// it is then unknown; [Client.Cancel] lets Run return the result instead.
func (c *Client) Run(ctx context.Context, job Job) (*Result, error) {
	o, err := c.order(ctx, job)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx, o, resultType)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	result, err := o.answer(response)
	if err != nil {
		return nil, o.unknown(ctx, err)
	}
	return result, nil
}

// answer reads the result of o.
func (o order) answer(response *http.Response) (*Result, error) {
	raw, err := readBody(response)
	if err != nil {
		return nil, fmt.Errorf("the answer is cut: %w", err)
	}
	if err := checkDigest(response.Header.Get("Content-Digest"), raw); err != nil {
		return nil, err
	}
	return o.check(raw)
}

// send posts o and returns the answer once it is known to be of the type
// accept. The caller closes its body.
func (c *Client) send(ctx context.Context, o order, accept string) (*http.Response, error) {
	body := o.form()
	response, err := c.api.CreateRunWithBody(ctx, body.contentType, body, func(_ context.Context, r *http.Request) error {
		r.ContentLength = body.size
		r.Header.Set("Accept", accept)
		return nil
	})
	if err != nil {
		if body.seal() {
			return nil, o.unknown(ctx, bare(err))
		}
		return nil, notSent(ended(ctx, bare(err)))
	}
	if err := expect(response, accept); err != nil {
		response.Body.Close()
		return nil, o.refused(ctx, err)
	}
	return response, nil
}

// expect returns nil when the answer is a 200 of that type, and else the error
// that it is.
func expect(response *http.Response, mediaType string) error {
	if response.StatusCode != http.StatusOK {
		return problemOf(response)
	}
	if got, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); got != mediaType {
		return fmt.Errorf("the answer is %q and must be %s", response.Header.Get("Content-Type"), mediaType)
	}
	return nil
}

// refused is the error of a run that was answered with err and no result.
func (o order) refused(ctx context.Context, err error) error {
	var problem *ProblemError
	if errors.As(err, &problem) && refusal(problem.Problem.Status) {
		return problem
	}
	return o.unknown(ctx, err)
}

func (o order) unknown(ctx context.Context, err error) error {
	return &UnknownError{RunID: o.ID, Err: ended(ctx, err)}
}

// ended adds to err that the context had ended, where err does not say so.
func ended(ctx context.Context, err error) error {
	if over := ctx.Err(); over != nil && !errors.Is(err, over) {
		return fmt.Errorf("%w: %w", over, err)
	}
	return err
}

// notSent is the error of a job that was not handed over.
func notSent(err error) error {
	var noDaemon *NoDaemonError
	if errors.As(err, &noDaemon) {
		return noDaemon
	}
	return &NotSentError{err}
}
