package exec

// event is a moment of a run at which a row acts.
type event struct {
	name string
	hook func(w *world, act func())
}

var (
	whenMaterialised = event{"materialised", func(w *world, act func()) { w.trace.Materialised = func(MaterialisedInfo) { act() } }}
	// The launch stage has what it needs once it has reported: whether it saw the
	// change would else be chance.
	whenLaunched = event{"launched", func(w *world, act func()) {
		w.trace.Launched = func(i LaunchedInfo) {
			w.measured(i.PID)
			if w.byPath() {
				w.atGate(i.PID)
			}
			act()
		}
	}}
	whenAdmitted  = event{"admitted", func(w *world, act func()) { w.trace.Admitted = func(AdmittedInfo) { act() } }}
	whenCollected = event{"collected", func(w *world, act func()) { w.trace.Collected = func(CollectedInfo) { act() } }}

	// lateEvents come after the namespace was verified.
	lateEvents = []event{whenLaunched, whenAdmitted, whenCollected}
)
