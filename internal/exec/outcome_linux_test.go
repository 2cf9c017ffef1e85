package exec

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"confined/internal/ns"
)

// outcome is what a row wants, in the words of the contract. An empty message
// or exit is not compared, nor are zero bytes of output; every other field is.
type outcome struct {
	status    Status
	reason    Reason
	message   string // part of it, of the namespace's, or of what the process wrote to stderr
	admission Admission
	stop      StopReason
	problems  string // codes in order, separated by spaces
	namespace string // none, removed, or the reason of the quarantine
	slot      string // the root afterwards: empty, kept
	exit      string // a code, or a signal's name
	output    int64  // bytes that arrived
	marks     marks  // where it is wanted; not compared
}

var observedClean = outcome{status: StatusObserved, admission: AdmissionAdmitted, namespace: "removed", slot: "empty"}

// refused is a run that left the root as it was.
func refused(reason Reason, message string) outcome {
	return outcome{status: StatusNotStarted, reason: reason, message: message, namespace: "none", slot: "empty"}
}

// undone is a run that started nothing and took its namespace away again.
func undone(reason Reason, message string) outcome {
	return refused(reason, message).in("removed", "empty")
}

// observed is a run whose program was admitted, with problems.
func observed(problems string) outcome {
	o := observedClean
	o.problems = problems
	return o
}

// barred is a run whose program was not admitted.
func barred(a Admission) outcome { return observed("admission-" + string(a)).admitted(a) }

// unresolved is a run of an admitted program that was not seen to its end.
func unresolved(problems string) outcome {
	o := observed(problems).in("unresolved", "kept")
	o.status = StatusUnresolved
	return o
}

// in is o with what became of the namespace, and the root afterwards.
func (o outcome) in(namespace, slot string) outcome {
	o.namespace, o.slot = namespace, slot
	return o
}

func (o outcome) admitted(a Admission) outcome      { o.admission = a; return o }
func (o outcome) stopped(reason StopReason) outcome { o.stop = reason; return o }
func (o outcome) ending(exit string) outcome        { o.exit = exit; return o }
func (o outcome) printing(bytes int64) outcome      { o.output = bytes; return o }
func (o outcome) saying(message string) outcome     { o.message = message; return o }

// startPoller has the Go runtime open the two descriptors of its own that it
// keeps, so that counting descriptors tells.
func startPoller(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	_ = w.Close()
}

func (o outcome) check(t *testing.T, result Result, w *world) {
	t.Helper()
	want, got := o, outcome{marks: o.marks, status: result.Status(), slot: w.rootNow()}
	message := ""
	switch r := result.(type) {
	case NotStarted:
		got.reason, message, got.namespace = r.Reason, r.Message, "none"
		if r.Namespace != nil {
			got.namespace = disposition(t, *r.Namespace)
		}
	case Observed:
		got.takeProcess(r.Process, r.Problems)
		message, got.namespace = r.Namespace.Message+string(r.Process.Stderr.Bytes()), disposition(t, r.Namespace)
		agree(t, r.Process, r.Problems, r.Identities.Bounds)
		if r.Attributable != (len(r.Problems) == 0) {
			t.Errorf("attributable %v with problems %v", r.Attributable, r.Problems)
		}
	case Unresolved:
		got.takeProcess(r.Process, r.Problems)
		message, got.namespace = r.Namespace.Message, disposition(t, r.Namespace)
		agree(t, r.Process, r.Problems, r.Identities.Bounds)
	}
	if !strings.Contains(message, want.message) {
		t.Errorf("message %q does not say %q", message, want.message)
	}
	want.message = ""
	if want.exit == "" {
		got.exit = ""
	}
	if want.output == 0 {
		got.output = 0
	}
	if got != want {
		t.Errorf("\n got %+v\nwant %+v\nfull %.2000s", got, want, fmt.Sprintf("%+v", result))
	}
}

// rootNow is empty or kept; a root that cannot be looked into is kept.
func (w *world) rootNow() string {
	if entries, err := os.ReadDir(w.root); err != nil || len(entries) > 0 {
		return "kept"
	}
	return "empty"
}

// agree holds the facts of any process against each other and against the problems.
func agree(t *testing.T, p ProcessFacts, problems []Problem, b Bounds) {
	t.Helper()
	has := func(code ProblemCode) bool {
		return slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == code })
	}
	kept := int64(p.Stdout.Len() + p.Stderr.Len())
	for claim, holds := range map[string]bool{
		"a process has an exit or is not reaped":          (p.Exit == nil) == has(ProblemNotReaped),
		"pipes are closed or a problem":                   p.PipesClosed != has(ProblemPipesOpen),
		"an exit is a code or a signal with a name":       p.Exit == nil || (p.Exit.Code == nil) != (p.Exit.Signal == nil) && (p.Exit.Signal == nil || *p.Exit.Signal != ""),
		"usage comes with the reaping":                    (p.Usage == nil) == (p.Exit == nil),
		"a stop is a kill":                                p.KillSent == (p.Stopped != ""),
		"output is kept up to the bound":                  kept == min(p.OutputBytes, b.MaxOutputBytes),
		"an output limit needs output":                    p.Stopped != StopOutputLimit || p.OutputBytes > b.MaxOutputBytes,
		"a timeout takes its time":                        p.Stopped != StopTimeout || p.Duration.Milliseconds() >= b.TimeoutMs,
		"limits that are not the request's are a problem": p.Limits == nil || (*p.Limits != b.asked()) == has(ProblemLimitsMismatch),
		"the admitted had their limits":                   p.Admission != AdmissionAdmitted || p.Limits != nil && *p.Limits == b.asked(),
	} {
		if !holds {
			t.Errorf("%s: %+v %v", claim, p, problems)
		}
	}
}

func (o *outcome) takeProcess(p ProcessFacts, problems []Problem) {
	o.admission, o.stop, o.output = p.Admission, p.Stopped, p.OutputBytes
	if p.Exit != nil && p.Exit.Code != nil {
		o.exit = fmt.Sprint(*p.Exit.Code)
	} else if p.Exit != nil {
		o.exit = *p.Exit.Signal
	}
	var codes []string
	for _, problem := range problems {
		codes = append(codes, string(problem.Code))
	}
	o.problems = strings.Join(codes, " ")
}

func disposition(t *testing.T, d ns.Disposition) string {
	t.Helper()
	if d.State == ns.StateRemoved {
		if !d.Durable {
			t.Error("removed, but not durably")
		}
		return d.State
	}
	return string(d.Reason)
}

// note records every value of the contract that a result holds.
func note(seen map[string]bool, result Result) {
	seen["status "+string(result.Status())] = true
	var p *ProcessFacts
	var problems []Problem
	var d *ns.Disposition
	switch r := result.(type) {
	case NotStarted:
		seen["reason "+string(r.Reason)] = true
		d = r.Namespace
	case Observed:
		p, problems, d = &r.Process, r.Problems, &r.Namespace
	case Unresolved:
		p, problems, d = &r.Process, r.Problems, &r.Namespace
	}
	if p != nil {
		seen["admission "+string(p.Admission)] = true
		seen["stop "+string(p.Stopped)] = true
	}
	for _, problem := range problems {
		seen["problem "+string(problem.Code)] = true
	}
	if d == nil {
		seen["namespace none"] = true
		return
	}
	seen["namespace "+d.State] = true
	seen["quarantine "+string(d.Reason)] = true
}

func everyValue() []string {
	values := []string{"namespace none", "namespace " + ns.StateRemoved, "namespace " + ns.StateQuarantined}
	for _, s := range []Status{StatusNotStarted, StatusObserved, StatusUnresolved} {
		values = append(values, "status "+string(s))
	}
	for _, r := range Reasons() {
		values = append(values, "reason "+string(r))
	}
	for _, a := range Admissions() {
		values = append(values, "admission "+string(a))
	}
	for _, s := range StopReasons() {
		values = append(values, "stop "+string(s))
	}
	for _, c := range ProblemCodes() {
		values = append(values, "problem "+string(c))
	}
	for _, q := range ns.QuarantineReasons() {
		values = append(values, "quarantine "+string(q))
	}
	return values
}
