package metrics

import (
	"confined/internal/exec"
	"confined/internal/ns"
)

// Trace counts results as they settle. It holds no lock over a run and does
// nothing else.
func (s *Set) Trace() *exec.Trace { return &exec.Trace{Settled: s.settled} }

func (s *Set) settled(info exec.SettledInfo) {
	for _, st := range info.Stages {
		s.stages.WithLabelValues(string(st.Stage)).Observe(st.Duration.Seconds())
	}
	status := string(info.Result.Status())
	switch r := info.Result.(type) {
	case exec.NotStarted:
		s.runs.WithLabelValues(status, string(r.Reason)).Inc()
		if r.Namespace != nil {
			s.disposed(*r.Namespace)
		}
	case exec.Observed:
		s.runs.WithLabelValues(status, "").Inc()
		s.process(r.Process, r.Problems)
		s.disposed(r.Namespace)
	case exec.Unresolved:
		s.runs.WithLabelValues(status, "").Inc()
		s.process(r.Process, r.Problems)
		s.disposed(r.Namespace)
	}
}

func (s *Set) process(facts exec.ProcessFacts, problems []exec.Problem) {
	s.admissions.WithLabelValues(string(facts.Admission)).Inc()
	s.outputs.Observe(float64(facts.OutputBytes))
	if facts.Stopped != "" {
		s.stops.WithLabelValues(string(facts.Stopped)).Inc()
	}
	for _, p := range problems {
		s.problems.WithLabelValues(string(p.Code)).Inc()
	}
}

func (s *Set) disposed(d ns.Disposition) {
	if d.Reason != "" {
		s.quarantines.WithLabelValues(string(d.Reason)).Inc()
	}
}
