package confine

import (
	"confined/internal/pins"
)

// Tools are the programs that start Node on macOS, by their absolute paths.
type Tools struct{ Dash, Env, SandboxExec string }

// AppleTools are those that macOS brings.
func AppleTools() Tools { return Tools{"/bin/dash", "/usr/bin/env", "/usr/bin/sandbox-exec"} }

// Seatbelt is the boundary of macOS: a shell sets the limits, env the environment, and sandbox-exec applies a profile to itself and becomes
// Node. Its tools are a part of the profile's digest.
type Seatbelt struct{ Tools Tools }

func (s Seatbelt) Profile() pins.Profile { panic("to be written") }

func (s Seatbelt) HostProblem() *HostError { panic("to be written") }

// Launchers are the three tools, which are executed by their paths.
func (s Seatbelt) Launchers() ([]pins.Launcher, error) {
	return []pins.Launcher{{Path: s.Tools.Dash}, {Path: s.Tools.Env}, {Path: s.Tools.SandboxExec}}, nil
}

func (s Seatbelt) Instantiate(j Job) (Instance, error) { panic("to be written") }

func (s Seatbelt) Explain(i Instance, e Ending) *HostError { panic("to be written") }

func (s Seatbelt) RefusalCure() string { panic("to be written") }

func spawn(i Instance) (*Process, error) { panic("to be written") }
