package confine

import (
	"fmt"
	"math"

	"confined/internal/pins"
)

// seatbeltName heads the identity of the profile. Its number changes with the meaning of the whole, not with the rules.
const seatbeltName = "confined-macos/1"

// Tools are the programs that start Node on macOS, by their absolute paths.
type Tools struct{ Dash, Env, SandboxExec string }

// Paths are the tools in the order in which they become each other.
func (t Tools) Paths() []string { return []string{t.Dash, t.Env, t.SandboxExec} }

// AppleTools are those that macOS brings.
func AppleTools() Tools { return Tools{"/bin/dash", "/usr/bin/env", "/usr/bin/sandbox-exec"} }

// Seatbelt is the boundary of macOS: a shell sets the limits, env the environment, and sandbox-exec applies a profile to itself and becomes
// Node. Its tools are a part of the profile's digest.
//
//	host                                       dash, env, sandbox-exec, Node: one process
//	Launch: four pipes, no environment ──────→ four limits
//	eight lines ←───────────── descriptor 3 ── the limits as the kernel has them
//	                                           five variables, the profile, Node
//	                                           preload: the canary is denied
//	GoByte ─── descriptor 0 ─────────────────→ waits; end of file refuses
//	record ←────────────────── descriptor 3 ── admitted, then closed
//	                                           the program loads
//
// What it is made of is tested on Linux, with the real dash and a stand-in for sandbox-exec. That macOS enforces the profile, no test here
// can show: `confined prove` does, on a Mac.
//
// The limit of processor time outlasts the execs of the launch: by its source, XNU sets the timer again on the task of each
// (fork_create_child).
//
// How it differs from the boundary of Linux is listed in SECURITY.md, under "What differs from Linux".
type Seatbelt struct{ Tools Tools }

// Profile implements [Boundary].
func (s Seatbelt) Profile() pins.Profile {
	return pins.NewProfile(seatbeltName, seatbeltTemplate, environmentNames(), s.parts())
}

// Launchers are the three tools, which are executed by their paths.
func (s Seatbelt) Launchers() ([]pins.Launcher, error) {
	var launchers []pins.Launcher
	for _, tool := range s.Tools.Paths() {
		launchers = append(launchers, pins.Launcher{Path: tool})
	}
	return launchers, nil
}

// Owner is the daemon's own user: macOS has no other to give to a run.
func (Seatbelt) Owner(int) (uid, gid int) { return ourselves() }

// MaxDescriptors is no bound: what needs one on Linux, epoll, is not there.
func (Seatbelt) MaxDescriptors(int) int64 { return math.MaxInt64 }

// Instantiate implements [Boundary]. It looks at nothing but j. A sealed copy of Node is an error, and so are arguments that together with
// the profile are more than an exec passes.
func (s Seatbelt) Instantiate(j Job) (Instance, error) {
	text, err := seatbeltText(j)
	if err != nil {
		return Instance{}, fmt.Errorf("instantiate: %w", err)
	}
	argv, err := s.argv(j, text)
	if err != nil {
		return Instance{}, fmt.Errorf("instantiate: %w", err)
	}
	node, dir := j.Runtime.Node, j.Input.Path // all that a launch needs of j beside its arguments
	return Instance{text: text, node: node, start: func() (*Process, error) { return spawn(argv, dir) }}, nil
}
