package confine

import (
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
	facts := hostFacts{hardData: 1 << 62, hardStack: 1 << 62, hardThreads: 1 << 62}
	if problem := facts.judgeLimits(); problem == nil ||
		problem.Cure != "raise it where the daemon is started (ulimit -Hi, LimitSIGPENDING= of a systemd unit)" {
		t.Errorf("%v", problem)
	}
}
