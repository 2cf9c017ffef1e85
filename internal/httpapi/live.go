package httpapi

import (
	"path/filepath"
	"slices"

	"github.com/oapi-codegen/nullable"

	"confined/internal/exec"
)

// summary is what the queue knows of a run's request.
type summary struct {
	id        string
	content   string // of a request without an id of its own: the digest of all that it asks for
	program   string // digest
	entry     string
	timeoutMs int64
}

// summaryOf is taken from a request so that nobody has to hold its files.
// anonymous says that the daemon made its id.
func summaryOf(req exec.Request, anonymous bool) summary {
	s := summary{id: req.RunID(), program: string(req.Program()), entry: req.Entry(), timeoutMs: req.Bounds().TimeoutMs}
	if anonymous {
		s.content = string(req.Content())
	}
	return s
}

// progress is how far a run has come.
type progress struct {
	stage Stage
	slot  string // name, once there is one
}

// reached notes a stage. The run waits for it, and it for nobody.
func (t *ticket) reached(s Stage, namespace string) {
	slot := t.progress.Load().slot
	if namespace != "" {
		slot = filepath.Base(namespace)
	}
	t.progress.Store(&progress{stage: s, slot: slot})
}

// live is every run that waits or is alive, in the order in which they entered.
func (q *queue) live() []LiveRun {
	q.mu.Lock()
	defer q.mu.Unlock()
	runs := []LiveRun{}
	for _, t := range slices.Concat(q.running, q.waiting) {
		runs = append(runs, t.view())
	}
	return runs
}

// view is the ticket as the contract shows it. Preconditions: the queue is locked.
func (t *ticket) view() LiveRun {
	now := t.progress.Load()
	run := LiveRun{
		RunID: t.id, Stage: now.stage, ReceivedAt: *timeOf(t.entered), StartedAt: nullable.NewNullNullable[Time](),
		Slot: nullable.NewNullNullable[string](), TimeoutMs: t.timeoutMs, Program: t.program, Entry: t.entry,
	}
	if !t.started.IsZero() {
		run.StartedAt = nullable.NewNullableWithValue(*timeOf(t.started))
	}
	if now.slot != "" {
		run.Slot = nullable.NewNullableWithValue(now.slot)
	}
	return run
}

// stop cancels a run that waits or is alive, or says that there is none.
func (q *queue) stop(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range slices.Concat(q.running, q.waiting) {
		if t.id == id {
			t.cancel()
			return true
		}
	}
	return false
}

// stages tells the hooks of a run as the contract's stages, with the namespace
// once there is one.
func stages(reached func(s Stage, namespace string)) *exec.Trace {
	return &exec.Trace{
		Counted:      func(exec.CountedInfo) { reached(StageCounted, "") },
		Materialised: func(i exec.MaterialisedInfo) { reached(StageMaterialised, i.Namespace) },
		Launched:     func(i exec.LaunchedInfo) { reached(StageLaunched, i.Namespace) },
		Admitted:     func(i exec.AdmittedInfo) { reached(StageAdmitted, i.Namespace) },
		Collected:    func(i exec.CollectedInfo) { reached(StageCollected, i.Namespace) },
		Settled:      func(exec.SettledInfo) { reached(StageSettled, "") },
	}
}
