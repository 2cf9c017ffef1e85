package confine

import (
	"fmt"
	"strings"
	"testing"
)

// TestCureNamesWhatStandsThere: and nothing that does not.
func TestCureNamesWhatStandsThere(t *testing.T) {
	const seccomp, apparmor = "--security-opt seccomp=unconfined", "--security-opt apparmor=unconfined"
	for name, row := range map[string]struct {
		facts      hostFacts
		has, lacks []string
	}{
		"nothing known": {hostFacts{apparmorLabel: "unconfined"}, []string{"container, chroot or security module"}, []string{seccomp, apparmor}},
		"complaining":   {hostFacts{apparmorLabel: "mine (complain)"}, []string{"container, chroot"}, []string{apparmor}},
		"a filter":      {hostFacts{filtered: true}, []string{seccomp, "RestrictNamespaces="}, []string{apparmor}},
		"a profile":     {hostFacts{apparmorLabel: "docker-default (enforce)"}, []string{apparmor, "the AppArmor profile docker-default "}, []string{seccomp}},
		"both":          {hostFacts{filtered: true, apparmorLabel: "docker-default (enforce)"}, []string{seccomp + " " + apparmor}, nil},
	} {
		cure := row.facts.cureRefusal()
		for _, word := range row.has {
			if !strings.Contains(cure, word) {
				t.Errorf("%s: no %q in %s", name, word, cure)
			}
		}
		for _, word := range row.lacks {
			if strings.Contains(cure, word) {
				t.Errorf("%s: %q in %s", name, word, cure)
			}
		}
	}
}

// TestHardLimitSettings: each system's own words, and every limit that a run needs has some.
func TestHardLimitSettings(t *testing.T) {
	for goos, want := range map[string]string{
		"linux":  "ulimit -Ht -Hn, LimitCPU= LimitNOFILE= of a systemd unit",
		"darwin": "ulimit -Ht -Hn, HardResourceLimits of a launchd job",
	} {
		if got := HardLimitSettings(goos, "tn"); got != want {
			t.Errorf("%s: %s, want %s", goos, got, want)
		}
	}
	for letter, row := range map[string]struct {
		lower func(*hostFacts)
		unit  string
	}{
		"d": {func(f *hostFacts) { f.hardData = 0 }, "DATA"},
		"s": {func(f *hostFacts) { f.hardStack = 0 }, "STACK"},
		"u": {func(f *hostFacts) { f.hardThreads = 0 }, "NPROC"},
		"i": {func(f *hostFacts) { f.hardSignals = 0 }, "SIGPENDING"},
	} {
		facts := hostFacts{hardData: 1 << 62, hardStack: 1 << 62, hardThreads: 1 << 62, hardSignals: 1 << 62}
		row.lower(&facts)
		want := fmt.Sprintf("raise it where the daemon is started (ulimit -H%s, Limit%s= of a systemd unit)", letter, row.unit)
		if problem := facts.judgeLimits(); problem == nil || problem.Cure != want {
			t.Errorf("%s: %v, want the cure %q", letter, problem, want)
		}
	}
}
