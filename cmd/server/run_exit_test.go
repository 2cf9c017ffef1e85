package main

import (
	"errors"
	"fmt"
	"testing"

	"confined/client"
	"confined/client/api"
)

// observed is a result of a program that exited with code, in the state that
// change leaves it in.
func observed(code int, change func(*api.Observed)) *client.Result {
	o := &api.Observed{
		Status: api.ObservedStatusObserved, RunID: "r-1", Attributable: true, Problems: api.RunProblems{},
		Process:    api.ProcessFacts{Pid: 7, Exit: &api.Exit{Code: &code}, OutputBytes: 12, DurationMs: 31.4},
		Identities: api.Identities{Bounds: client.DefaultBounds()},
	}
	if change != nil {
		change(o)
	}
	return &client.Result{RunID: "r-1", Observed: o}
}

func signalled(name string) *client.Result {
	return observed(0, func(o *api.Observed) { o.Process.Exit = &api.Exit{Signal: &name} })
}

func notAttributable(o *api.Observed) {
	o.Attributable = false
	o.Problems = api.RunProblems{{Code: api.RunProblemCodeNamespaceChanged, Message: "input/a has changed"}}
}

func problem(status int, code api.ProblemCode) error {
	return &client.ProblemError{Problem: api.Problem{Status: status, Code: code, Detail: "why", Title: "what"}}
}

func TestRunExit(t *testing.T) {
	for name, row := range map[string]struct {
		result *client.Result
		err    error
		want   int
	}{
		"exit 0":                      {observed(0, nil), nil, 0},
		"exit 1":                      {observed(1, nil), nil, 1},
		"exit 255":                    {observed(255, nil), nil, 255},
		"the program's own 125":       {observed(125, nil), nil, 125},
		"SIGKILL":                     {signalled("SIGKILL"), nil, 137},
		"SIGXCPU":                     {signalled("SIGXCPU"), nil, 128 + 24},
		"a real-time signal":          {signalled("SIG40"), nil, 168},
		"a signal nobody knows":       {signalled("SIGWHAT"), nil, exitUnknown},
		"no exit at all":              {observed(0, func(o *api.Observed) { o.Process.Exit = nil }), nil, exitUnknown},
		"an empty exit":               {observed(0, func(o *api.Observed) { o.Process.Exit = &api.Exit{} }), nil, exitUnknown},
		"stopped":                     {observed(0, func(o *api.Observed) { o.Process.Stopped = new(api.StopReason) }), nil, 0},
		"not attributable, exit 0":    {observed(0, notAttributable), nil, exitNotCredited},
		"not attributable, exit 3":    {observed(3, notAttributable), nil, exitNotCredited},
		"not started":                 {&client.Result{NotStarted: &api.NotStarted{}}, nil, exitNoRun},
		"unresolved":                  {&client.Result{Unresolved: &api.Unresolved{}}, nil, exitUnknown},
		"a result of no kind":         {&client.Result{}, nil, exitUnknown},
		"400":                         {nil, problem(400, api.ProblemCodeMalformedRequest), exitNoRun},
		"403":                         {nil, problem(403, api.ProblemCodeForbidden), exitNoRun},
		"409":                         {nil, problem(409, api.ProblemCodeRunIDUsed), exitNoRun},
		"422":                         {nil, problem(422, api.ProblemCodeInvalidRequest), exitNoRun},
		"429":                         {nil, problem(429, api.ProblemCodeQueueFull), exitNoRun},
		"503":                         {nil, problem(503, api.ProblemCodeDraining), exitNoRun},
		"500":                         {nil, &client.UnknownError{RunID: "r-1", Err: problem(500, api.ProblemCodeInternal)}, exitUnknown},
		"a cut connection":            {nil, &client.UnknownError{RunID: "r-1", Err: errors.New("EOF")}, exitUnknown},
		"an answer that fits nothing": {nil, errors.New("what"), exitUnknown},
		"no daemon":                   {nil, &client.NoDaemonError{Socket: "/s", Err: errors.New("refused")}, exitNoRun},
		"not sent":                    {nil, fmt.Errorf("so: %w", &client.NotSentError{Err: errors.New("cut")}), exitNoRun},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runExit(row.result, row.err); got != row.want {
				t.Errorf("exit %d, want %d", got, row.want)
			}
		})
	}
}

// TestLostOutput: what could not be written is no output of the program, unless
// its reader went away of its own will.
func TestLostOutput(t *testing.T) {
	full := errors.New("no space left on device")
	for name, row := range map[string]struct {
		lost   error
		result *client.Result
		err    error
		want   int
	}{
		"nothing lost":                 {nil, observed(0, nil), nil, 0},
		"a full disk":                  {full, observed(0, nil), nil, exitNotCredited},
		"a full disk, and a crash":     {full, observed(3, nil), nil, exitNotCredited},
		"a full disk, and its own 125": {full, observed(exitNoRun, nil), nil, exitNotCredited},
		"a full disk, and its own 127": {full, observed(exitUnknown, nil), nil, exitNotCredited},
		"a full disk, and no run":      {full, nil, problem(429, api.ProblemCodeQueueFull), exitNoRun},
		"a full disk, and unknown":     {full, nil, &client.UnknownError{RunID: "r-1", Err: full}, exitUnknown},
		"a full disk, and unresolved":  {full, &client.Result{Unresolved: &api.Unresolved{}}, nil, exitUnknown},
		"head":                         {errBrokenPipe(), observed(0, nil), nil, 0},
		"head, and a crash":            {errBrokenPipe(), observed(3, nil), nil, 3},
	} {
		t.Run(name, func(t *testing.T) {
			o := output{stdout: &sink{lost: row.lost}, stderr: &sink{}}
			if got := (outcome{result: row.result, err: row.err}).exit(&o); got != row.want {
				t.Errorf("exit %d, want %d", got, row.want)
			}
		})
	}
}
