package exec

import (
	"fmt"
	"slices"
	"testing"

	"confined/internal/ns"
	"confined/internal/pins"
)

// TestFactsOfOneRun: what an undisturbed run says, in full.
func TestFactsOfOneRun(t *testing.T) {
	w := newWorld(t)
	w.main("process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 7\n")
	var events []string
	w.trace = Trace{
		Counted:      func(i CountedInfo) { events = append(events, fmt.Sprint("counted ", i.Retained)) },
		Materialised: func(i MaterialisedInfo) { events = append(events, "materialised "+i.Namespace) },
		Launched:     func(i LaunchedInfo) { events = append(events, "launched "+i.Namespace) },
		Admitted:     func(i AdmittedInfo) { events = append(events, "admitted "+i.Namespace) },
		Collected:    func(i CollectedInfo) { events = append(events, "collected "+i.Namespace) },
		Settled:      func(i SettledInfo) { events = append(events, fmt.Sprint("settled ", len(i.Stages))) },
	}
	e := w.executor()
	w.pin(e)
	r, ok := w.run(e).(Observed)
	if !ok || !r.Attributable {
		t.Fatalf("got %+v", r)
	}
	p := r.Process
	if string(p.Stdout) != "out" || string(p.Stderr) != "err" || p.OutputBytes != 6 {
		t.Errorf("output %q %q %d", p.Stdout, p.Stderr, p.OutputBytes)
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
}

// TestPanicLeavesNothingUnguarded: a bug after the spawn ends the process and
// keeps the slot, and the panic goes on.
func TestPanicLeavesNothingUnguarded(t *testing.T) {
	w := newWorld(t)
	w.main(waitForever)
	pid := 0
	w.trace.Admitted = func(i AdmittedInfo) {
		pid = i.PID
		panic("a bug")
	}
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
