//go:build !linux

package confine

import (
	"os"
	"runtime"

	"confined/internal/pins"
)

// unsupported is the answer of the Linux boundary on every other system. There is no weaker run.
func unsupported() *HostError {
	return &HostError{"there is no boundary for " + runtime.GOOS, "run the daemon on Linux 6.12 or later, or on a Mac with Apple silicon"}
}

func hostProblem() *HostError { return unsupported() }

func refusalCure() string { return unsupported().Cure }

// ownBinary works everywhere, so that a daemon can be there to say what the host lacks.
func ownBinary() ([]pins.Launcher, error) {
	path, err := os.Executable()
	return []pins.Launcher{{Path: path}}, err
}

func epollWatches() uint64 { return 0 }

func launch(Instance) (*Process, error) { return nil, unsupported() }
