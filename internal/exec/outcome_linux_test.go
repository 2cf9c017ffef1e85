package exec

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"confined/internal/ns"
)

// TestFaults runs every row and then asks whether the rows together produced
// every value the contract knows.
func TestFaults(t *testing.T) {
	startPoller(t)
	seen := map[string]bool{}
	ran := 0
	for _, row := range faults {
		t.Run(row.name, func(t *testing.T) {
			ran++
			w := newWorld(t)
			before := len(openDescriptors(t))
			row.act(w)
			e := w.executor()
			if w.spec.Runtime == goodSpec(t, map[string]string{"main.mjs": ""}).Runtime {
				w.pin(e)
			}
			result := w.run(e)
			row.want.check(t, result, w)
			note(seen, result)
			if after := len(openDescriptors(t)); after > before+1 { // the launcher's
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
	if t.Failed() || ran < len(faults) { // some rows were selected by -run
		return
	}
	for _, value := range everyValue() {
		if !seen[value] {
			t.Errorf("no row produces %s", value)
		}
	}
}

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
	want, got := o, outcome{status: result.Status(), slot: "empty"}
	message := ""
	switch r := result.(type) {
	case NotStarted:
		got.reason, message, got.namespace = r.Reason, r.Message, "none"
		if r.Namespace != nil {
			got.namespace = disposition(t, *r.Namespace)
		}
	case Observed:
		got.takeProcess(r.Process, r.Problems)
		message, got.namespace = string(r.Process.Stderr), disposition(t, r.Namespace)
		agree(t, r.Process, r.Problems, r.Identities.Bounds)
		if r.Attributable != (len(r.Problems) == 0) {
			t.Errorf("attributable %v with problems %v", r.Attributable, r.Problems)
		}
	case Unresolved:
		got.takeProcess(r.Process, r.Problems)
		got.namespace = disposition(t, r.Namespace)
		agree(t, r.Process, r.Problems, r.Identities.Bounds)
	}
	if entries, err := os.ReadDir(w.root); err != nil || len(entries) > 0 {
		got.slot = "kept"
	}
	if !strings.Contains(message, want.message) {
		t.Errorf("message %q does not say %q", message, want.message)
	}
	want.message = ""
	if want.exit == "" {
		got.exit = ""
	}
	if got != want {
		t.Errorf("\n got %+v\nwant %+v\nfull %+v", got, want, result)
	}
}

// agree holds the facts of any process against each other and against the problems.
func agree(t *testing.T, p ProcessFacts, problems []Problem, b Bounds) {
	t.Helper()
	has := func(code ProblemCode) bool {
		return slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == code })
	}
	kept := int64(len(p.Stdout) + len(p.Stderr))
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
	o.admission, o.stop = p.Admission, p.Stopped
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
