package client

import "confined/client/api"

// Result is the frozen answer of one run, checked. Exactly one of NotStarted,
// Observed and Unresolved is set.
type Result struct {
	RunID      string
	NotStarted *api.NotStarted // no process exists and none existed
	Observed   *api.Observed   // the process was reaped and its pipes closed
	Unresolved *api.Unresolved // unknown: the process was not confirmed gone
	Raw        []byte          // the JSON, verbatim
}

// Status is "not-started", "observed" or "unresolved".
func (r *Result) Status() string { panic("soon") }

// Attributable reports whether the output may be credited to the pins.
func (r *Result) Attributable() bool { return r.Observed != nil && r.Observed.Attributable }

// Process is what the host saw of the process; nil of a run that was not started.
func (r *Result) Process() *api.ProcessFacts { panic("soon") }

// Problems are why the output cannot be credited to the pins; none of a run that was not started.
func (r *Result) Problems() []api.RunProblem { panic("soon") }

// Stdout is what was kept of the program's standard output, decoded anew at each call.
func (r *Result) Stdout() []byte { panic("soon") }

// Stderr is what was kept of the program's standard error, decoded anew at each call.
func (r *Result) Stderr() []byte { panic("soon") }

// ExitCode is the program's own exit code; ok says that there is one: the run is
// observed and attributable, and the program ended by exiting.
func (r *Result) ExitCode() (code int, ok bool) { panic("soon") }
