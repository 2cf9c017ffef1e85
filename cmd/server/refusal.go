package main

import (
	"errors"
	"fmt"
	"strings"

	"confined/client"
	"confined/client/api"
)

// errorFacts is what takes the place of the facts when there is no result: why,
// and the cure.
func errorFacts(err error) string {
	var unknown *client.UnknownError
	if errors.As(err, &unknown) {
		return fmt.Sprintf("UNKNOWN: %s; run %s may have run, and may be running: GET /v1/runs lists it while it is alive. Do not send it again blindly",
			oneLine(unknown.Err.Error()), unknown.RunID)
	}
	return "no run: " + refusalText(err)
}

// refusalText is why the daemon did not do what it was asked, for people.
func refusalText(err error) string {
	var problem *client.ProblemError
	if errors.As(err, &problem) {
		return problemText(problem)
	}
	return oneLine(err.Error())
}

// problemText is a problem of the daemon. Of several faults each has a line of its own.
func problemText(p *client.ProblemError) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", p.Problem.Code, oneLine(p.Problem.Detail))
	if p.RetryAfter > 0 && passes(p.Problem.Code) {
		fmt.Fprintf(&b, " (worth another try after %s)", p.RetryAfter)
	}
	if len(p.Problem.Errors) > 1 {
		for _, fault := range p.Problem.Errors {
			fmt.Fprintf(&b, "\n  %s: %s", oneLine(fault.Pointer), oneLine(fault.Detail))
		}
	}
	return b.String()
}

// passes says whether waiting alone can cure what code tells of. A host or a
// runtime stays as it is until somebody does something.
func passes(code api.ProblemCode) bool {
	switch code {
	case api.ProblemCodeQueueFull, api.ProblemCodeDraining, api.ProblemCodeUploadMemoryFull:
		return true
	}
	return false
}
