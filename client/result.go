package client

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"confined/client/api"
)

// Result is the frozen answer of one run, checked. Exactly one of NotStarted,
// Observed and Unresolved is set.
type Result struct {
	RunID string

	NotStarted *api.NotStarted // no process exists and none existed; Reason says why
	Observed   *api.Observed   // the process is gone, and this is what the host saw
	Unresolved *api.Unresolved // unknown: the process may still be there

	Raw []byte // the JSON of the result, verbatim
}

// Status is "not-started", "observed" or "unresolved".
func (r *Result) Status() string {
	switch {
	case r.Observed != nil:
		return string(api.ObservedStatusObserved)
	case r.Unresolved != nil:
		return string(api.UnresolvedStatusUnresolved)
	}
	return string(api.NotStartedStatusNotStarted)
}

// Attributable reports whether the output may be credited to the pinned program,
// input and runtime: the run is observed, and had no problems.
func (r *Result) Attributable() bool { return r.Observed != nil && r.Observed.Attributable }

// Problems are the reasons why the output may not be credited; none of a run
// that was not started.
func (r *Result) Problems() []api.RunProblem {
	switch {
	case r.Observed != nil:
		return r.Observed.Problems
	case r.Unresolved != nil:
		return r.Unresolved.Problems
	}
	return nil
}

// Process is what the host saw of the process; nil of a run that was not started.
func (r *Result) Process() *api.ProcessFacts {
	switch {
	case r.Observed != nil:
		return &r.Observed.Process
	case r.Unresolved != nil:
		return &r.Unresolved.Process
	}
	return nil
}

// ExitCode is the exit code of the program. It is one only of a run that is
// attributable and whose process ended by exiting; else ok is false.
func (r *Result) ExitCode() (code int, ok bool) {
	if !r.Attributable() {
		return 0, false
	}
	exit := r.Observed.Process.Exit
	if exit == nil || exit.Code == nil {
		return 0, false
	}
	return *exit.Code, true
}

// Stdout is what was kept of the standard output, decoded anew by each call.
func (r *Result) Stdout() []byte {
	if p := r.Process(); p != nil {
		return plain(p.Stdout)
	}
	return nil
}

// Stderr is what was kept of the standard error, decoded anew by each call.
func (r *Result) Stderr() []byte {
	if p := r.Process(); p != nil {
		return plain(p.Stderr)
	}
	return nil
}

// plain is the bytes themselves. Preconditions: they were found to be decodable.
func plain(b api.Bytes) []byte {
	r, err := octets(b)
	if err != nil {
		return nil
	}
	content, _ := io.ReadAll(r)
	return content
}

// octets reads the bytes that b stands for.
func octets(b api.Bytes) (io.Reader, error) {
	switch b.Encoding {
	case api.BytesEncodingUTF8:
		return strings.NewReader(b.Data), nil
	case api.BytesEncodingBase64:
		return base64.NewDecoder(base64.StdEncoding, strings.NewReader(b.Data)), nil
	}
	return nil, fmt.Errorf("output has the encoding %.50q, which is unknown here", b.Encoding)
}

// decodeResult reads a result without judging it. The result keeps raw.
func decodeResult(raw []byte) (*Result, error) {
	var head struct{ Status, RunID string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	r := &Result{RunID: head.RunID, Raw: raw}
	var variant any
	switch head.Status {
	case string(api.NotStartedStatusNotStarted):
		r.NotStarted = new(api.NotStarted)
		variant = r.NotStarted
	case string(api.ObservedStatusObserved):
		r.Observed = new(api.Observed)
		variant = r.Observed
	case string(api.UnresolvedStatusUnresolved):
		r.Unresolved = new(api.Unresolved)
		variant = r.Unresolved
	default:
		return nil, errors.New("the result has a status that is unknown here: " + fmt.Sprintf("%.50q", head.Status))
	}
	if err := json.Unmarshal(raw, variant); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	return r, nil
}
