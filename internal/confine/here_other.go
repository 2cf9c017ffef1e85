//go:build !linux && !darwin

package confine

import (
	"context"
	"math"
	"os"
	"runtime"

	"confined/internal/pins"
)

func boundaryHere() Boundary { return noBoundary{} }

// noBoundary is where there is none: it says so, and makes no instance. There is no weaker run.
type noBoundary struct{}

func unsupported() *HostError {
	return &HostError{"there is no boundary for " + runtime.GOOS, "run the daemon on Linux 6.12 or later, or on a Mac with Apple silicon"}
}

func (noBoundary) Profile() pins.Profile                                { return pins.NewProfile("confined-none/1", "", nil, nil) }
func (noBoundary) HostProblem() *HostError                              { return unsupported() }
func (noBoundary) Owner(int) (uid, gid int)                             { return ourselves() }
func (noBoundary) MaxDescriptors(int) int64                             { return math.MaxInt64 }
func (noBoundary) Instantiate(Job) (Instance, error)                    { return Instance{}, unsupported() }
func (noBoundary) Explain(context.Context, Instance, Ending) *HostError { return unsupported() }
func (noBoundary) RefusalCure() string                                  { return unsupported().Cure }

// Launchers is this program's own file, so that a daemon can be there to say what the host lacks.
func (noBoundary) Launchers() ([]pins.Launcher, error) {
	path, err := os.Executable()
	return []pins.Launcher{{Path: path}}, err
}
