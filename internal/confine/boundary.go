package confine

import (
	"context"
	"strings"

	"confined/internal/pins"
)

// Boundary is one kernel's way to confine a run. Its methods may be called from any goroutine.
type Boundary interface {
	// Profile is the identity of what a run may do: the commented template, the environment's names, and the other fixed parts. Every edit of
	// any of them moves the digest.
	Profile() pins.Profile

	// HostProblem says what this host lacks for the boundary, as far as can be known without starting a process; nil when nothing is known to
	// be missing. It is cheap enough to be asked before every run.
	HostProblem() *HostError

	// Launchers are the files that start Node, as parts of the runtime's identity. The caller closes those that are open.
	Launchers() ([]pins.Launcher, error)

	// Instantiate writes the profile of one run, for [Launch]. It fails if two things claim one path, and with an [*UnfitError] if a path is
	// not printable ASCII or a thing lies where the boundary does not hold.
	Instantiate(Job) (Instance, error)

	// Explain says what of the host, or of the boundary itself, stands behind a process that was launched from an instance and ended in
	// that way; nil when it may as well be Node's own doing. It may start processes to find out; when ctx ends it says what it knows by then.
	Explain(context.Context, Instance, Ending) *HostError

	// RefusalCure says what would let the daemon make the boundary on a host that seemed able and refused a step of it. The refusal itself
	// names the step.
	RefusalCure() string
}

// Ending is how a process ended, as far as it may tell what kept it from becoming Node.
type Ending struct {
	Code   int    // of its exit; -1 when a signal ended it, or the host
	Signal string // such as SIGABRT; empty when it exited, or when it was the host's
	Stderr string // what it said
	// TimedOutSilent: its limits were reported, and then it printed nothing until the host ended it because its time was over.
	TimedOutSilent bool
}

// Here is the boundary of the operating system that this program was built for.
func Here() Boundary { return boundaryHere() }

// linuxBoundary is a user and mount namespace with a private root, Landlock, a system call filter and limits, see the package's documentation.
type linuxBoundary struct{}

func (linuxBoundary) Profile() pins.Profile               { return fixedProfile() }
func (linuxBoundary) HostProblem() *HostError             { return hostProblem() }
func (linuxBoundary) Launchers() ([]pins.Launcher, error) { return ownBinary() }
func (linuxBoundary) Instantiate(j Job) (Instance, error) { return instantiate(j) }
func (linuxBoundary) RefusalCure() string                 { return refusalCure() }

// Explain knows the launch stage's own refusals, which name the step.
func (linuxBoundary) Explain(_ context.Context, _ Instance, e Ending) *HostError {
	if e.Code != RefusalCode {
		return nil
	}
	return &HostError{"the boundary cannot be had: " + strings.TrimSpace(e.Stderr), refusalCure()}
}
