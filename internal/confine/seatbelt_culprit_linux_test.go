package confine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"confined/internal/confine/sbpl"
)

// refusable is a profile of four operations and three filters; process-fork and one pair come twice.
const refusable = `(version 1)
(deny default)
(deny process-fork)
(allow file-read-data file-read-metadata (literal "/") (subpath "/usr/lib"))
(allow file-read-data (literal "/"))
(allow sysctl-read (sysctl-name "hw.ncpu"))
(deny process-fork)
`

// TestCulprit: the part that is refused alone is named with the words of sandbox-exec, whichever it is.
func TestCulprit(t *testing.T) {
	for name, want := range map[string]string{
		"process-fork":       "(allow process-fork) is refused alone: sandbox-exec: unbound variable: process-fork at <input string>, line 7",
		"file-read-metadata": "(allow file-read-metadata) is refused alone: sandbox-exec: unbound variable: file-read-metadata",
		"subpath":            `(allow file-read-data (subpath "/usr/lib")) is refused alone: sandbox-exec: unbound variable: subpath`,
		"sysctl-name":        `(allow sysctl-read (sysctl-name "hw.ncpu")) is refused alone: `,
		"(version 1)":        "even (version 1)(allow default) is refused: sandbox-exec: ",
		"deny default":       "none of its 9 parts is refused alone",
	} {
		t.Run(name, func(t *testing.T) {
			s := standin(t, "REFUSING", fmt.Sprintf("-DNAME=%q", name))
			problem := s.Explain(t.Context(), Instance{text: refusable}, Ending{Code: 65, Stderr: "sandbox-exec: unbound variable: x at <input string>, line 3\n"})
			if problem == nil || !strings.Contains(problem.Problem, "this macOS refuses the profile: sandbox-exec: unbound variable: x") ||
				!strings.Contains(problem.Problem, want) {
				t.Errorf("%v", problem)
			}
		})
	}
}

// TestCulpritOfRealProfile: the search through a whole profile stays far below its bound.
func TestCulpritOfRealProfile(t *testing.T) {
	s := standin(t, "REFUSING", "-DNAME=\"process-fork\"") // its last rule
	text := s.of(t, hello(t)).text
	got := s.culprit(t.Context(), text, culpritPatience)
	if !strings.HasPrefix(got, "(allow process-fork) is refused alone: ") {
		t.Error(got)
	}
	profile, err := sbpl.Parse(text)
	must(t, err)
	if n := len(eachAlone(profile)); n > 250 {
		t.Errorf("%d tries: with 10 ms for each, the bound is near", n)
	}
}

func TestCulpritIsBounded(t *testing.T) {
	s := standin(t, "STAYING")
	if got := s.culprit(t.Context(), refusable, 50*time.Millisecond); got != "of its 9 parts, 0 were tried alone and not refused; there was no time for the others" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := s.culprit(ctx, refusable, culpritPatience); !strings.Contains(got, "0 were tried alone and not refused; there was no time for the others") {
		t.Error(got)
	}
	s.Tools.SandboxExec = "/absent"
	if got := s.culprit(t.Context(), refusable, time.Second); !strings.HasPrefix(got, "its parts cannot be tried alone: launch: ") {
		t.Error(got)
	}
	if got := s.culprit(t.Context(), "(version 1)", time.Second); !strings.HasPrefix(got, "bug: ") {
		t.Error(got)
	}
}

// TestAttempt: how a program ended, as Explain wants it.
func TestAttempt(t *testing.T) {
	for script, want := range map[string]Ending{
		"exit 7":                   {Code: 7},
		"echo said >&2; exit 65":   {Code: 65, Stderr: "said\n"},
		"kill -ABRT $$":            {Code: -1, Signal: "SIGABRT"},
		"kill -40 $$":              {Code: -1, Signal: "SIG40"}, // a real-time signal
		"read x || exit 4":         {Code: 4},                   // its standard input is at the end
		"echo x; echo y >&3; exit": {},
	} {
		t.Run(script, func(t *testing.T) {
			if got, err := attempt(t.Context(), []string{"/bin/dash", "-c", script}); err != nil || got != want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestExplainVariants asks what stands behind the endings of real processes.
func TestExplainVariants(t *testing.T) {
	j := hello(t)
	j.Version, j.Args = true, nil
	for variant, want := range map[string]string{
		"PLAIN": "", "USAGE": "does not know its arguments", "NESTED": "in a sandbox already", "UNEXECUTABLE": "could not execute Node",
		"KILLED": "ended by SIGKILL", "ABORTED": "ended by SIGABRT", "TRAPPED": "ended by SIGTRAP",
	} {
		t.Run(variant, func(t *testing.T) {
			s := standin(t, variant)
			i := s.of(t, j)
			o := start(t, i).open(0).finish(t)
			code, signal := EndOf(o.state)
			problem := s.Explain(t.Context(), i, Ending{Code: code, Signal: signal, Stderr: o.stderr})
			if (problem == nil) != (want == "") || problem != nil && !strings.Contains(problem.Problem, want) {
				t.Errorf("%v", problem)
			}
		})
	}
}
