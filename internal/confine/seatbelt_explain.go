package confine

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// The exit codes of sandbox-exec, as other projects report them from Macs. A program may use them too, so that each is believed only
// together with what sandbox-exec says.
const (
	sandboxUsage   = 64
	sandboxProfile = 65
	sandboxSystem  = 71
)

// How env ends when it cannot execute what it was told to (POSIX).
const (
	envCannotExecute = 126
	envCannotFind    = 127
)

// unifiedLog shows what Seatbelt denied. It says so nowhere else.
const unifiedLog = `log show --last 5m --predicate 'eventMessage CONTAINS "deny("'`

// RefusalCure implements [Boundary].
func (s Seatbelt) RefusalCure() string {
	return "start the daemon from Terminal or as a launchd agent, outside of any sandbox; what macOS denied, this shows: " + unifiedLog
}

// Explain implements [Boundary]. Precondition: the process was not admitted, or it was a version run; a program can end in each of these
// ways, and say the same.
//
// For a profile that was refused it looks for the culprit, which starts up to some hundred processes and takes at most culpritPatience. No
// process of its own is needed for anything else.
func (s Seatbelt) Explain(ctx context.Context, i Instance, e Ending) *HostError {
	said := oneLine(e.Stderr)
	switch {
	case e.TimedOutSilent:
		return explainSilence()
	case e.Signal != "":
		return explainSignal(i, e.Signal, said)
	case e.Code == RefusalCode:
		return s.explainStage(said)
	case slices.Contains([]int{envCannotExecute, envCannotFind}, e.Code) && strings.HasPrefix(e.Stderr, "env:"):
		return &HostError{"the boundary cannot be had: " + said, s.RefusalCure()}
	case strings.HasPrefix(e.Stderr, "sandbox-exec:"), e.Code == sandboxUsage && strings.Contains(strings.ToLower(e.Stderr), "usage: sandbox-exec"):
		return s.explainSandbox(ctx, i, e.Code, said)
	}
	return nil
}

// explainSilence is for a launch that hung after the shell. What is known to do that is from another project's report (openai/codex#25118).
func explainSilence() *HostError {
	return &HostError{"Node said nothing until its time was over; CoreFoundation, which it loads, was seen to hang before a program begins where " +
		"the variable __CF_USER_TEXT_ENCODING is not set, and a run has five variables, without that one",
		"try again when the host is less busy; if it stays so, report it with a sample, see docs/prove-on-mac.md"}
}

func (s Seatbelt) explainSandbox(ctx context.Context, i Instance, code int, said string) *HostError {
	switch {
	case code == sandboxUsage:
		return &HostError{s.Tools.SandboxExec + " does not know its arguments: " + said, "use a macOS whose sandbox-exec takes -p"}
	case code == sandboxProfile:
		return &HostError{"this macOS refuses the profile: " + said + "; " + s.culprit(ctx, i.text, culpritPatience),
			"use a version of macOS and of confined that `confined prove` passed on, and report the words above"}
	case code == sandboxSystem && strings.Contains(said, "sandbox_apply"):
		return &HostError{"the daemon runs in a sandbox already, and macOS allows no second one: " + said,
			"start the daemon outside of the sandbox that is around it (Homebrew's, SwiftPM's, a coding agent's): from Terminal or as a launchd agent"}
	case code == sandboxSystem && strings.Contains(said, "execvp"):
		return &HostError{"sandbox-exec could not execute Node: " + said,
			"see that Node is still at its path and executable; if it is, what macOS denied, this shows: " + unifiedLog}
	}
	return nil
}

// explainStage is for the shell's and the preload's own refusals, which name the step.
func (s Seatbelt) explainStage(said string) *HostError {
	step, ours := refusedStep(said)
	if !ours {
		return nil
	}
	cure := s.RefusalCure()
	if slices.Contains([]string{"cpu", "descriptors"}, step) {
		cure = "raise the hard limit where the daemon is started (" + HardLimitSettings("darwin", "tn") + ")"
	}
	return &HostError{"the boundary cannot be had: " + said, cure}
}

// explainSignal says what is known to end a process by a signal before it is Node. The signal alone proves none of it, and the words say
// so.
func explainSignal(i Instance, signal, said string) *HostError {
	if said != "" {
		said = ": " + said
	}
	switch signal {
	case "SIGABRT":
		return &HostError{"Node was ended by SIGABRT before it began" + said +
			"; that is how the loader ends when the profile denies it a read, or a library is gone",
			"what macOS denied, this shows: " + unifiedLog}
	case "SIGTRAP":
		return &HostError{"Node was ended by SIGTRAP" + said +
			"; that is how V8 ends when it may not make code, as in a Node that was signed again without its entitlements",
			fmt.Sprintf("use the Node of nodejs.org; `codesign -d --entitlements - %s` must show com.apple.security.cs.allow-jit", i.node)}
	case "SIGKILL":
		return &HostError{"Node was ended by SIGKILL, not by the daemon" + said +
			"; that is how macOS ends a binary whose code signature is invalid",
			fmt.Sprintf("see what `codesign --verify --verbose %s` says, and install Node again", i.node)}
	}
	return nil
}
