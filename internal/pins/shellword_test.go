package pins

import (
	"os/exec"
	"strings"
	"testing"
)

// TestShellWord has sh read each word back.
func TestShellWord(t *testing.T) {
	for _, word := range []string{
		"", "plain", "/a/b-c_d.e@f+g=h:i,j%k", "two words", "it's", `a"b\c`, "$HOME `id` $(id)", "~", "#x", "*?[a]", "a;b&c|d>e<f", "line\nbreak", "tab\t", "ü", "-n", "!x", "{a,b}",
	} {
		out, err := exec.Command("sh", "-c", "printf %s "+ShellWord(word)).CombinedOutput()
		if err != nil || string(out) != word {
			t.Errorf("%q is written %s, which sh reads as %q (%v)", word, ShellWord(word), out, err)
		}
	}
}

// TestCureUnproven: the command names each path as one word, and an official Node is offered where it would do.
func TestCureUnproven(t *testing.T) {
	for _, only := range []bool{false, true} {
		cure := CureUnproven("/opt/my node", "/s;t", only)
		if !strings.Contains(cure, "`confined prove --node '/opt/my node' --state '/s;t'`") || strings.Contains(cure, CureOfficial()) == only {
			t.Errorf("receipts only: %v: %s", only, cure)
		}
	}
}
