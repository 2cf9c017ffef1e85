package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"confined/client"
	"confined/client/api"
)

func namespaceOf(t *testing.T, reason api.QuarantineReason) api.Namespace {
	t.Helper()
	var n api.Namespace
	err := n.FromRemoved(api.Removed{State: api.RemovedStateRemoved, Durable: true})
	if reason != "" {
		err = n.FromQuarantined(api.Quarantined{State: api.QuarantinedStateQuarantined, Path: "/r/slot-0", Reason: reason, Message: "what was found"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFacts(t *testing.T) {
	removed, kept := namespaceOf(t, ""), namespaceOf(t, api.QuarantineReasonNamespaceChanged)
	with := func(change func(*api.Observed)) outcome {
		return outcome{result: observed(0, func(o *api.Observed) {
			o.Namespace = removed
			change(o)
		})}
	}
	stopped, kill, abort, xcpu := api.StopReasonTimeout, "SIGKILL", "SIGABRT", "SIGXCPU"
	queueFull := &client.ProblemError{Problem: api.Problem{Status: 429, Code: api.ProblemCodeQueueFull, Detail: "all 256 places are taken"}, RetryAfter: 3 * time.Second}
	faults := &client.ProblemError{Problem: api.Problem{Status: 422, Code: api.ProblemCodeInvalidRequest, Detail: "2 faults; the first: /timeoutMs: 0 is too small",
		Errors: []api.Fault{{Pointer: "/timeoutMs", Detail: "0 is too small"}, {Pointer: "/program/entry", Detail: "no such file"}}}}
	for name, row := range map[string]struct {
		outcome outcome
		want    string
	}{
		"observed": {with(func(*api.Observed) {}), "observed, attributable, exit 0, 31 ms, 12 bytes of output, run r-1"},
		"cut": {with(func(o *api.Observed) { o.Process.OutputBytes = 2 << 20 }),
			"observed, attributable, exit 0, 31 ms, 2097152 bytes of output, cut to 1048576, run r-1"},
		"stopped": {with(func(o *api.Observed) {
			o.Process.Stopped, o.Process.KillSent, o.Process.Exit = &stopped, true, &api.Exit{Signal: &kill}
		}), "observed, attributable, stopped by the daemon: timeout, SIGKILL, 31 ms, 12 bytes of output, run r-1"},
		"killed by the kernel": {with(func(o *api.Observed) {
			o.Process.Exit, o.Process.Usage = &api.Exit{Signal: &kill}, &api.Usage{UserMs: 30_000, SystemMs: 12}
		}), "observed, attributable, SIGKILL, not from the daemon, at 30012 ms of the 30 s of CPU time allowed (the kernel counts it in ticks: this is what the CPU limit looks like), 31 ms, 12 bytes of output, run r-1"},
		"ended by the limit of macOS": {with(func(o *api.Observed) {
			o.Process.Exit, o.Process.Usage = &api.Exit{Signal: &xcpu}, &api.Usage{UserMs: 30_000, SystemMs: 12}
		}), "observed, attributable, SIGXCPU, not from the daemon, at 30012 ms of the 30 s of CPU time allowed (the kernel counts it in ticks: this is what the CPU limit looks like), 31 ms, 12 bytes of output, run r-1"},
		"its own SIGXCPU": {with(func(o *api.Observed) {
			o.Process.Exit, o.Process.Usage = &api.Exit{Signal: &xcpu}, &api.Usage{UserMs: 20}
		}), "observed, attributable, SIGXCPU, not from the daemon, after 20 ms of CPU time (30 s are allowed), 31 ms, 12 bytes of output, run r-1"},
		"killed early by the kernel": {with(func(o *api.Observed) {
			o.Process.Exit, o.Process.Usage = &api.Exit{Signal: &kill}, &api.Usage{UserMs: 25_000}
		}), "observed, attributable, SIGKILL, not from the daemon, at 25000 ms of the 30 s of CPU time allowed (the kernel counts it in ticks: this is what the CPU limit looks like), 31 ms, 12 bytes of output, run r-1"},
		"killed by somebody": {with(func(o *api.Observed) {
			o.Process.Exit, o.Process.Usage = &api.Exit{Signal: &kill}, &api.Usage{UserMs: 23_000}
		}), "observed, attributable, SIGKILL, not from the daemon, after 23000 ms of CPU time (30 s are allowed), 31 ms, 12 bytes of output, run r-1"},
		"another signal at the limit": {with(func(o *api.Observed) {
			o.Process.Exit, o.Process.Usage = &api.Exit{Signal: &abort}, &api.Usage{UserMs: 30_000}
		}), "observed, attributable, SIGABRT, not from the daemon, after 30000 ms of CPU time (30 s are allowed), 31 ms, 12 bytes of output, run r-1"},
		"not attributable, kept": {with(func(o *api.Observed) { notAttributable(o); o.Namespace = kept }),
			"observed, NOT attributable (namespace-changed: input/a has changed): do not credit the output to the pins, exit 0, 31 ms, 12 bytes of output, kept: /r/slot-0 (namespace-changed: what was found), run r-1"},
		"not started": {outcome{result: &client.Result{RunID: "r-1", NotStarted: &api.NotStarted{Reason: api.NotStartedReasonRuntimeMismatch, Message: "another Node"}}},
			"no run: runtime-mismatch: another Node, run r-1"},
		"not started, kept": {outcome{result: &client.Result{RunID: "r-1", NotStarted: &api.NotStarted{Reason: api.NotStartedReasonSnapshotMismatch, Message: "a", Namespace: &kept}}},
			"no run: snapshot-mismatch: a, kept: /r/slot-0 (namespace-changed: what was found), run r-1"},
		"unresolved": {outcome{result: &client.Result{RunID: "r-1", Unresolved: &api.Unresolved{
			Problems: api.RunProblems{{Code: api.RunProblemCodePipesOpen, Message: "stdout is open"}}, Process: api.ProcessFacts{Pid: 7},
			Namespace: api.Quarantined{Path: "/r/slot-0", Reason: api.QuarantineReasonUnresolved, Message: "m"}}}},
			"UNRESOLVED (pipes-open: stdout is open): it may still be running, as pid 7; do not send it again before that is settled, 0 ms, 0 bytes of output, kept: /r/slot-0 (unresolved: m), run r-1"},
		"a refusal": {outcome{err: queueFull}, "no run: queue-full: all 256 places are taken (worth another try after 3s)"},
		"a refusal that waiting does not cure": {outcome{err: &client.ProblemError{Problem: api.Problem{Status: 503, Code: api.ProblemCodeUnsupportedHost, Detail: "no Landlock"}, RetryAfter: time.Minute}},
			"no run: unsupported-host: no Landlock"},
		"faults": {outcome{err: faults}, "no run: invalid-request: 2 faults; the first: /timeoutMs: 0 is too small\n  /timeoutMs: 0 is too small\n  /program/entry: no such file"},
		"unknown": {outcome{err: &client.UnknownError{RunID: "r-1", Err: errors.New("the answer is cut")}},
			"UNKNOWN: the answer is cut; run r-1 may have run, and may be running: GET /v1/runs lists it while it is alive. Do not send it again blindly"},
	} {
		t.Run(name, func(t *testing.T) {
			if row.outcome.result != nil && row.outcome.result.Observed != nil {
				row.outcome.result.Observed.Identities.Bounds = client.DefaultBounds()
			}
			if got := row.outcome.facts(); got != row.want {
				t.Errorf("\n got %s\nwant %s", got, row.want)
			}
		})
	}
}

// TestFactsHoldNoControls: a message can quote what a program did.
func TestFactsHoldNoControls(t *testing.T) {
	r := observed(0, func(o *api.Observed) {
		o.Namespace = namespaceOf(t, "")
		o.Problems = api.RunProblems{{Code: "x", Message: "input/\x1b[2J\nconfined: observed, attributable"}}
		o.Attributable = false
	})
	if got := resultFacts(r); strings.ContainsAny(got, "\x1b\n") || !strings.Contains(got, "^[[2J confined") {
		t.Errorf("%q", got)
	}
}
