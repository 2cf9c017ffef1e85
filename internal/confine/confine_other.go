//go:build !linux

package confine

import (
	"os"
	"runtime"
)

// unsupported is the answer to everything on a system that has no boundary here. There is no weaker run.
func unsupported() *HostError {
	return &HostError{"there is no boundary for " + runtime.GOOS + " yet", "run the daemon on Linux 6.12 or later"}
}

func hostProblem() *HostError { return unsupported() }

func refusalCure() string { return unsupported().Cure }

// openLauncher works everywhere, so that a daemon can be there to say what the host lacks.
func openLauncher() (*os.File, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

func epollWatches() uint64 { return 0 }

func launch(Instance) (*Process, error) { return nil, unsupported() }
