package main

import (
	"fmt"
	"strings"

	"confined/client"
	"confined/client/api"
)

// resultFacts is the line that ends `confined run`: what the daemon observed,
// and what the reader may make of it.
func resultFacts(r *client.Result) string {
	var said []string
	switch {
	case r.NotStarted != nil:
		said = notStartedFacts(r.NotStarted)
	case r.Observed != nil:
		said = observedFacts(r.Observed)
	case r.Unresolved != nil:
		said = unresolvedFacts(r.Unresolved)
	}
	return oneLine(strings.Join(append(said, "run "+r.RunID), ", "))
}

func notStartedFacts(r *api.NotStarted) []string {
	said := []string{"no run: " + string(r.Reason) + ": " + r.Message}
	if r.Reason == api.NotStartedReasonRetainedLimit {
		said = append(said, "`confined slots` lists what is kept")
	}
	if r.Namespace != nil {
		said = append(said, keptFacts(*r.Namespace)...)
	}
	return said
}

func observedFacts(r *api.Observed) []string {
	said := []string{"observed", "attributable"}
	if !r.Attributable {
		said[1] = "NOT attributable (" + problemFacts(r.Problems) + "): do not credit the output to the pins"
	}
	said = append(said, processFactsText(r.Process, r.Identities.Bounds)...)
	return append(said, keptFacts(r.Namespace)...)
}

func unresolvedFacts(r *api.Unresolved) []string {
	said := []string{"UNRESOLVED (" + problemFacts(r.Problems) + "): it may still be running, as pid " +
		fmt.Sprint(r.Process.Pid) + "; do not send it again before that is settled"}
	said = append(said, processFactsText(r.Process, r.Identities.Bounds)...)
	return append(said, quarantineFacts(r.Namespace.Path, r.Namespace.Reason, r.Namespace.Message))
}

// processFactsText is how the process ended, how long it took and what it said.
func processFactsText(p api.ProcessFacts, b api.Bounds) []string {
	var said []string
	if p.Stopped != nil {
		said = append(said, "stopped by the daemon: "+string(*p.Stopped))
	}
	if p.Exit != nil && p.Exit.Code != nil {
		said = append(said, fmt.Sprintf("exit %d", *p.Exit.Code))
	}
	if p.Exit != nil && p.Exit.Signal != nil {
		said = append(said, signalFacts(*p.Exit.Signal, p, b))
	}
	output := fmt.Sprintf("%d bytes of output", p.OutputBytes)
	if p.OutputBytes > b.MaxOutputBytes {
		output += fmt.Sprintf(", cut to %d", b.MaxOutputBytes)
	}
	return append(said, fmt.Sprintf("%.0f ms", p.DurationMs), output)
}

// signalFacts says by whom a signal came, as far as the daemon knows. The CPU
// time beside its bound lets the reader see that the kernel enforced it, which
// counts in ticks and so can be early by what the usage says. Linux enforces by
// SIGKILL, macOS by one SIGXCPU.
func signalFacts(name string, p api.ProcessFacts, b api.Bounds) string {
	if p.KillSent || p.Usage == nil {
		return name
	}
	spent := p.Usage.UserMs + p.Usage.SystemMs
	if (name == "SIGKILL" || name == "SIGXCPU") && spent >= 0.8*1000*float64(b.CPUSeconds) {
		return fmt.Sprintf("%s, not from the daemon, at %.0f ms of the %d s of CPU time allowed (the kernel counts it in ticks: this is what the CPU limit looks like)", name, spent, b.CPUSeconds)
	}
	return fmt.Sprintf("%s, not from the daemon, after %.0f ms of CPU time (%d s are allowed)", name, spent, b.CPUSeconds)
}

func problemFacts(problems []api.RunProblem) string {
	var said []string
	for _, p := range problems {
		said = append(said, string(p.Code)+": "+p.Message)
	}
	return strings.Join(said, "; ")
}

// keptFacts is there only when the run's directory was not removed.
func keptFacts(n api.Namespace) []string {
	q, err := n.AsQuarantined()
	if err != nil || q.State != api.QuarantinedStateQuarantined {
		return nil
	}
	return []string{quarantineFacts(q.Path, q.Reason, q.Message)}
}

func quarantineFacts(path string, reason api.QuarantineReason, message string) string {
	return fmt.Sprintf("kept: %s (%s: %s)", path, reason, message)
}
