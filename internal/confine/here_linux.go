package confine

import (
	"context"
	"math"
	"os"

	"confined/internal/pins"
)

func boundaryHere() Boundary { return linuxBoundary{} }

// linuxBoundary is a user and mount namespace with a private root, Landlock, a system call filter and limits, see the package's
// documentation.
type linuxBoundary struct{}

func (linuxBoundary) Profile() pins.Profile               { return fixedProfile() }
func (linuxBoundary) HostProblem() *HostError             { return hostProblem() }
func (linuxBoundary) Launchers() ([]pins.Launcher, error) { return ownBinary() }
func (linuxBoundary) Owner(slot int) (uid, gid int)       { return outerID(slot) }
func (linuxBoundary) RefusalCure() string                 { return refusalCure() }

// Instantiate implements [Boundary].
func (linuxBoundary) Instantiate(j Job) (Instance, error) {
	l, err := instantiate(j)
	if err != nil {
		return Instance{}, err
	}
	return Instance{text: l.text, node: j.Runtime.Node, start: l.launch}, nil
}

// MaxDescriptors keeps the epoll watches of all slots together within half of what their user may have. They are counted per real user, and
// a program can make (n/2)² of them with n descriptors: one that shares its user with the daemon could use up what the daemon's own poller
// needs (seen with two runs of 4,096). A root daemon's runs have users of their own and no bound here.
func (linuxBoundary) MaxDescriptors(slots int) int64 {
	if os.Geteuid() == 0 {
		return math.MaxInt64
	}
	return descriptorBound(epollWatches(), slots)
}

// Explain knows the launch stage's own refusals, which name the step.
func (linuxBoundary) Explain(_ context.Context, _ Instance, e Ending) *HostError {
	said := oneLine(e.Stderr)
	if _, ours := refusedStep(said); e.Code != RefusalCode || !ours {
		return nil
	}
	return &HostError{"the boundary cannot be had: " + said, refusalCure()}
}
