package confine

import "path"

// UnfitError says why a job can have no profile, and what would cure it: where its files lie, or how much it needs to say. Another job may
// have one on this host.
type UnfitError struct{ Problem, Cure string }

func (e *UnfitError) Error() string { return e.Problem + "; cure: " + e.Cure }

// place is what people chose to say where the run's own files lie.
func (j Job) place() string {
	if j.Version {
		return "--state"
	}
	return "the root"
}

// closure are the paths that the runtime is made of, files first.
func (j Job) closure() []string {
	var paths []string
	for _, f := range j.Runtime.Files {
		paths = append(paths, f.Path)
	}
	for _, a := range j.Runtime.Aliases {
		paths = append(paths, a.Path)
	}
	return paths
}

// checkNames refuses what no profile can spell.
func (j Job) checkNames() error {
	if err := checkPrintable(path.Dir(j.Home)); err != nil {
		return &UnfitError{err.Error(), "have " + j.place() + " under a path of printable ASCII"}
	}
	for _, p := range j.closure() {
		if err := checkPrintable(p); err != nil {
			return &UnfitError{err.Error(), "have Node and its libraries under paths of printable ASCII, or name another Node with --node"}
		}
	}
	return nil
}
