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
