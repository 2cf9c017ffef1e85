package exec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"confined/internal/ns"
	"confined/internal/pins"
)

// TestFactsOfOneRun: what an undisturbed run says, in full.
func TestFactsOfOneRun(t *testing.T) {
	w := newWorld(t)
	w.main("process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 7\n")
	var events, printed []string
	w.trace = Trace{
		Counted:      func(i CountedInfo) { events = append(events, fmt.Sprint("counted ", i.Retained)) },
		Materialised: func(i MaterialisedInfo) { events = append(events, "materialised "+i.Namespace) },
		Launched:     func(i LaunchedInfo) { events = append(events, "launched "+i.Namespace) },
		Admitted:     func(i AdmittedInfo) { events = append(events, "admitted "+i.Namespace) },
		Output: func(i OutputInfo) {
			printed = append(printed, fmt.Sprintf("%d %s", i.Stream, i.Kept.Slice(i.At, i.Kept.Len()).Bytes()))
		},
		Collected: func(i CollectedInfo) { events = append(events, "collected "+i.Namespace) },
		Settled:   func(i SettledInfo) { events = append(events, fmt.Sprint("settled ", len(i.Stages))) },
	}
	e := w.executor()
	w.pin(e)
	r, ok := w.run(e).(Observed)
	if !ok || !r.Attributable {
		t.Fatalf("got %+v", r)
	}
	p := r.Process
	if string(p.Stdout.Bytes()) != "out" || string(p.Stderr.Bytes()) != "err" || p.OutputBytes != 6 {
		t.Errorf("output %q %q %d", p.Stdout.Bytes(), p.Stderr.Bytes(), p.OutputBytes)
	}
	if p.Exit == nil || p.Exit.Code == nil || *p.Exit.Code != 7 || p.Exit.Signal != nil {
		t.Errorf("exit %+v", p.Exit)
	}
	if p.Limits == nil || *p.Limits != w.spec.Bounds.asked() {
		t.Errorf("limits %v", p.Limits)
	}
	if p.KillSent || p.Usage == nil || p.Usage.User <= 0 || p.Duration <= 0 || p.PID <= 0 {
		t.Errorf("facts %+v", p)
	}
	if r.Identities.Program.Digest != w.spec.ProgramDigest || r.Identities.Input != w.spec.InputDigest ||
		r.Identities.Runtime != w.spec.Runtime || r.Identities.Profile.Digest != w.spec.Profile || r.Identities.Bounds != w.spec.Bounds {
		t.Errorf("identities %+v", r.Identities)
	}
	if _, err := pins.ParseDigest(string(r.Identities.Profile.Instantiated)); err != nil {
		t.Error(err)
	}
	slot := w.slot()
	want := []string{"counted 0", "materialised " + slot, "launched " + slot, "admitted " + slot, "collected " + slot, fmt.Sprint("settled ", len(Stages()))}
	if !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
	slices.Sort(printed) // from two pipes, which have no order between them
	if want := []string{"0 out", "1 err"}; !slices.Equal(printed, want) {
		t.Errorf("printed %q, want %q", printed, want)
	}
}

// TestOutputHookSeesTheResult: what the hook was shown is what the result has,
// cut at the bound, in order of arrival and before the run is collected; the
// run's own trace sees it as the executor's does.
func TestOutputHookSeesTheResult(t *testing.T) {
	w := newWorld(t)
	w.main(`import fs from 'node:fs';
		for (let i = 0; ; i++) fs.writeSync(1 + i % 2, (i % 2 ? 'error ' : 'line ') + i + ' ' + 'x'.repeat(i % 500) + '\n');`)
	w.spec.MaxOutputBytes = 300_001
	var seen [2]struct {
		shown     [2][]byte
		collected bool
	}
	watch := func(i int) Trace {
		s := &seen[i]
		return Trace{
			Output: func(o OutputInfo) {
				if s.collected || o.At != len(s.shown[o.Stream]) || o.Kept.Len() == o.At || o.RunID != w.spec.RunID {
					t.Errorf("collected %v, %d bytes shown, then %d from %d on", s.collected, len(s.shown[o.Stream]), o.Kept.Len(), o.At)
				}
				s.shown[o.Stream] = append(s.shown[o.Stream], o.Kept.Slice(o.At, o.Kept.Len()).Bytes()...)
			},
			Collected: func(CollectedInfo) { s.collected = true },
		}
	}
	own := watch(1)
	w.trace, w.own = watch(0), &own
	e := w.executor()
	w.pin(e)
	r, ok := w.run(e).(Observed)
	if !ok || r.Process.Stopped != StopOutputLimit || r.Process.Stdout.Len()+r.Process.Stderr.Len() != 300_001 {
		t.Fatalf("got %.500q", fmt.Sprint(r))
	}
	for _, s := range seen {
		if !bytes.Equal(s.shown[Stdout], r.Process.Stdout.Bytes()) || !bytes.Equal(s.shown[Stderr], r.Process.Stderr.Bytes()) || !s.collected {
			t.Errorf("shown %d and %d bytes, collected %v", len(s.shown[Stdout]), len(s.shown[Stderr]), s.collected)
		}
	}
}

// TestPanicLeavesNothingUnguarded: a bug after the spawn ends the process and
// keeps the slot, and the panic goes on.
func TestPanicLeavesNothingUnguarded(t *testing.T) {
	for name, bug := range map[string]Trace{
		"at the launch":    {Launched: func(LaunchedInfo) { panic("a bug") }},
		"at the admission": {Admitted: func(AdmittedInfo) { panic("a bug") }},
		"at its output":    {Output: func(OutputInfo) { panic("a bug") }},
	} {
		t.Run(name, func(t *testing.T) { mustGuard(t, bug) })
	}
}

func mustGuard(t *testing.T, bug Trace) {
	w := newWorld(t)
	w.main("process.stderr.write('x'.repeat(1 << 20)); " + waitForever)
	pid := 0
	w.trace.Launched = func(i LaunchedInfo) { pid = i.PID }
	w.own = &bug
	e := w.executor()
	w.pin(e)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		w.run(e)
	}()
	w.gone(pid)
	list, err := e.pool.List()
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Slots[0]; got.State != ns.Quarantined || got.Reason != ns.Unresolved {
		t.Errorf("slot-0 is %+v", got)
	}
}

// TestCureNamesTheSymlink: a symlink that leads to Node is part of what a
// receipt is about, so that the cure proves what the daemon was given.
func TestCureNamesTheSymlink(t *testing.T) {
	w := newWorld(t)
	w.useStandIn()
	w.aliasNode()
	w.proven = pins.NewProofs(pins.ProofOptions{}).Of
	_, err := w.executor().DescribeRuntime(t.Context())
	if want := "`confined prove --node " + w.node + " --state " + w.state + "`"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
