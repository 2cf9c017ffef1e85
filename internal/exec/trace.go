package exec

import "time"

// Trace observes runs, as net/http/httptrace does requests. Any field may be
// nil. Hooks run on the run's own goroutine with no lock held, the run waits
// for them, and they return nothing: a hook can change an outcome only by
// changing the world, which is what the run's own checks are there to notice.
type Trace struct {
	Counted      func(CountedInfo)      // the root's entries were counted, also when that refuses the run
	Materialised func(MaterialisedInfo) // every file is written; nothing is verified again yet
	Launched     func(LaunchedInfo)     // a process exists; nothing was read from its control pipe yet
	Admitted     func(AdmittedInfo)     // the preload's admission record arrived
	Output       func(OutputInfo)       // output was kept: in order of arrival, nothing beyond the bound, nothing after Collected
	Collected    func(CollectedInfo)    // the process settled; runtime and namespace not checked again yet
	Settled      func(SettledInfo)      // the result is frozen; last, once for every run
}

// CountedInfo is the capacity a run found.
type CountedInfo struct {
	RunID    string
	Root     string
	Retained int // every entry of the root, foreign and leftover ones too
}

// MaterialisedInfo names the namespace, <root>/slot-<n>.
type MaterialisedInfo struct{ RunID, Namespace string }

// LaunchedInfo holds the process and the profile text it was started under.
type LaunchedInfo struct {
	RunID, Namespace string
	PID              int
	Profile          string
}

// AdmittedInfo names the process that may now be running the program.
type AdmittedInfo struct {
	RunID, Namespace string
	PID              int
}

// OutputInfo is output that has just been kept: what Kept has from At on. Kept
// is all that is kept of this stream by now and, once the run is settled, what
// the result has. A hook may hold on to it.
//
// It need not be the program's: before admission, what the launch stage prints
// goes the same way.
type OutputInfo struct {
	RunID  string
	Stream Stream
	Kept   Output
	At     int
}

// CollectedInfo names the namespace that is about to be checked again.
type CollectedInfo struct{ RunID, Namespace string }

// SettledInfo is a run's result and where its time went. Stages that a run did
// not reach are absent.
type SettledInfo struct {
	RunID  string
	Result Result
	Stages []StageTime
}

// Stage is one stretch of a run's line.
type Stage string

const (
	StagePins        Stage = "pins"        // runtime and profile recomputed
	StageMaterialise Stage = "materialise" // root, count, claim, write
	StageVerify      Stage = "verify"      // everything read back
	StageLaunch      Stage = "launch"      // spawn, until the limits are measured
	StageAdmit       Stage = "admit"       // until the admission record
	StageProgram     Stage = "program"     // until exit
	StageCollect     Stage = "collect"     // until the pipes closed
	StageRecheck     Stage = "recheck"     // runtime and namespace once more
	StageSettle      Stage = "settle"      // remove or quarantine
)

// Stages are all of them, in order.
func Stages() []Stage {
	return []Stage{StagePins, StageMaterialise, StageVerify, StageLaunch, StageAdmit, StageProgram, StageCollect, StageRecheck, StageSettle}
}

// StageTime is how long one stage of a run took.
type StageTime struct {
	Stage    Stage
	Duration time.Duration
}

// Join returns a Trace that calls every hook of each of ts in order.
func Join(ts ...*Trace) *Trace {
	return &Trace{
		Counted:      each(ts, func(t *Trace) func(CountedInfo) { return t.Counted }),
		Materialised: each(ts, func(t *Trace) func(MaterialisedInfo) { return t.Materialised }),
		Launched:     each(ts, func(t *Trace) func(LaunchedInfo) { return t.Launched }),
		Admitted:     each(ts, func(t *Trace) func(AdmittedInfo) { return t.Admitted }),
		Output:       each(ts, func(t *Trace) func(OutputInfo) { return t.Output }),
		Collected:    each(ts, func(t *Trace) func(CollectedInfo) { return t.Collected }),
		Settled:      each(ts, func(t *Trace) func(SettledInfo) { return t.Settled }),
	}
}

func each[I any](ts []*Trace, hook func(*Trace) func(I)) func(I) {
	var hooks []func(I)
	for _, t := range ts {
		if t != nil && hook(t) != nil {
			hooks = append(hooks, hook(t))
		}
	}
	return func(info I) {
		for _, h := range hooks {
			h(info)
		}
	}
}
