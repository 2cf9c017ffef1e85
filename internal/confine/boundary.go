package confine

import (
	"context"

	"confined/internal/pins"
)

// Boundary is one kernel's way to confine a run. Its methods may be called from any goroutine.
type Boundary interface {
	// Profile is the identity of what a run may do: the commented template, the environment's names, and the other fixed parts. Every edit
	// of any of them moves the digest.
	Profile() pins.Profile

	// HostProblem says what this host lacks for the boundary, as far as can be known without starting a process; nil when nothing is known
	// to be missing. It is cheap enough to be asked before every run.
	HostProblem() *HostError

	// Launchers are the files that start Node, as parts of the runtime's identity. The caller closes those that are open.
	Launchers() ([]pins.Launcher, error)

	// Owner is whom the files of a slot must belong to, and who its process is to the host.
	Owner(slot int) (uid, gid int)

	// MaxDescriptors is the largest limit of descriptors that a run may be given here, when as many runs as there are slots may be alive.
	MaxDescriptors(slots int) int64

	// Instantiate writes the profile of one run, for [Launch]. It fails if two things claim one path, and with an [*UnfitError] if a path is
	// not printable ASCII, a thing lies where the boundary does not hold, or the arguments are more than an exec passes.
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
