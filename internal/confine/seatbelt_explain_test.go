package confine

import (
	"strings"
	"testing"
)

// TestExplainSeatbelt: each ending that is known, and beside it the ones that look alike and say nothing.
func TestExplainSeatbelt(t *testing.T) {
	s := Seatbelt{AppleTools()}
	i := Instance{node: "/opt/node"}
	for name, row := range map[string]struct {
		ending        Ending
		problem, cure string // empty: nothing to explain
	}{
		"success":             {Ending{Code: 0}, "", ""},
		"an error of Node's":  {Ending{Code: 1, Stderr: "Error: x"}, "", ""},
		"usage":               {Ending{Code: 64, Stderr: "Usage: sandbox-exec [options] command [args]\n"}, "does not know its arguments", "takes -p"},
		"usage, named":        {Ending{Code: 64, Stderr: "sandbox-exec: illegal option -- p\n"}, "does not know its arguments", "takes -p"},
		"64 alone":            {Ending{Code: 64, Stderr: "what"}, "", ""},
		"65 alone":            {Ending{Code: 65}, "", ""},
		"65 of another":       {Ending{Code: 65, Stderr: "a program\nsandbox-exec: unbound variable: x"}, "", ""},
		"nested":              {Ending{Code: 71, Stderr: "sandbox-exec: sandbox_apply: Operation not permitted\n"}, "in a sandbox already", "Homebrew"},
		"execvp":              {Ending{Code: 71, Stderr: "sandbox-exec: execvp() of '/opt/node' failed: No such file or directory\n"}, "could not execute Node", "still at its path"},
		"71 of another kind":  {Ending{Code: 71, Stderr: "sandbox-exec: what\n"}, "", ""},
		"71 alone":            {Ending{Code: 71}, "", ""},
		"abort":               {Ending{Code: -1, Signal: "SIGABRT"}, "SIGABRT before it began; that is how the loader", "log show"},
		"abort, with words":   {Ending{Code: -1, Signal: "SIGABRT", Stderr: "dyld: x\ny\n"}, "began: dyld: x; y; that", "log show"},
		"trap":                {Ending{Code: -1, Signal: "SIGTRAP"}, "may not make code", "--entitlements - /opt/node` must show com.apple.security.cs.allow-jit"},
		"kill":                {Ending{Code: -1, Signal: "SIGKILL"}, "code signature is invalid", "codesign --verify --verbose /opt/node"},
		"silent":              {Ending{Code: -1, TimedOutSilent: true}, "CoreFoundation", "with a sample"},
		"stopped by the host": {Ending{Code: -1, Stderr: "x"}, "", ""},
		"another signal":      {Ending{Code: -1, Signal: "SIGTERM"}, "", ""},
		"cpu":                 {Ending{Code: 125, Stderr: "confined-stage: 1: ulimit: error\nconfined: cpu: refused by the host\n"}, "ulimit: error; confined: cpu: refused", "raise the hard limit"},
		"first line":          {Ending{Code: 125, Stderr: "confined: descriptors: refused by the host\n"}, "cannot be had: confined: descriptors", "raise the hard limit"},
		"exec":                {Ending{Code: 125, Stderr: "x\nconfined: exec: refused by the host\n"}, "confined: exec", "from Terminal"},
		"preload":             {Ending{Code: 125, Stderr: "confined: preload: reading the canary met nothing instead of EPERM\n"}, "canary met nothing", "from Terminal"},
		"125 alone":           {Ending{Code: 125, Stderr: "not confined: x"}, "", ""},
		"env finds nothing":   {Ending{Code: 127, Stderr: "env: /usr/bin/sandbox-exec: No such file or directory\n"}, "cannot be had: env:", "from Terminal"},
		"127 alone":           {Ending{Code: 127}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Explain(t.Context(), i, row.ending)
			if (got == nil) != (row.problem == "") {
				t.Fatalf("%v", got)
			}
			if got != nil && (!strings.Contains(got.Problem, row.problem) || !strings.Contains(got.Cure, row.cure)) {
				t.Errorf("%v", got)
			}
		})
	}
}
