package confine

// Explain implements [Boundary].
func (s Seatbelt) Explain(i Instance, e Ending) *HostError { return nil }

// RefusalCure implements [Boundary].
func (s Seatbelt) RefusalCure() string { return "" }

// HostProblem implements [Boundary].
func (s Seatbelt) HostProblem() *HostError { return nil }
