package exec

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"confined/internal/confine"
	"confined/internal/pins"
)

// TestDescribeRuntimeUnderDash: the version run learns what Node says, or what
// keeps this host from starting it, in words and with a cure.
func TestDescribeRuntimeUnderDash(t *testing.T) {
	for name, row := range map[string]struct {
		act  func(*world)
		says []string // of a *HostError; none: there is no error
	}{
		"it works":                      {func(*world) {}, nil},
		"the profile is refused":        {behaves("REFUSING"), []string{"refuses the profile", "unbound variable", "(deny default)"}},
		"in a sandbox already":          {behaves("NESTED"), []string{"in a sandbox already", "sandbox_apply"}},
		"Node may not be executed":      {behaves("UNEXECUTABLE"), []string{"could not execute Node", "log show"}},
		"unknown arguments":             {behaves("USAGE"), []string{"does not know its arguments"}},
		"killed":                        {behaves("KILLED"), []string{"SIGKILL", "codesign --verify"}},
		"aborted":                       {behaves("ABORTED"), []string{"SIGABRT", "the loader"}},
		"trapped":                       {behaves("TRAPPED"), []string{"SIGTRAP", "allow-jit"}},
		"a limit that is not set":       {func(w *world) { w.forbid(unix.SYS_PRLIMIT64) }, []string{"confined: cpu: refused by the host", "ulimit -Ht"}},
		"another limit":                 {otherLimit, []string{"hard limits"}},
		"env is none":                   {func(w *world) { w.under(w.scripted("env", "echo 'env: no' >&2; exit 127")) }, []string{"env: no"}},
		"nothing is denied, no preload": {behaves("PLAIN"), nil}, // a version run has no preload: what it shows is that the launch works
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			underDash.prepare(w)
			w.useStandIn()
			row.act(w)
			e := w.executor()
			clear(e.versions.known)
			d, err := e.DescribeRuntime(t.Context())
			var host *HostError
			if row.says == nil {
				if err != nil || d.Runtime.NodeVersion != "1.0.0" || d.Integrity != IntegrityRehashed || len(d.Runtime.Launchers) != 3 {
					t.Errorf("%+v, %v", d, err)
				}
				return
			}
			if !errors.As(err, &host) || host.Cure == "" {
				t.Fatalf("%v", err)
			}
			for _, words := range row.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%v does not say %q", err, words)
				}
			}
		})
	}
}

// TestUnexplainedUnderDash: a file that is no Node is not the host's fault.
func TestUnexplainedUnderDash(t *testing.T) {
	w := newWorld(t)
	underDash.prepare(w)
	w.node = filepath.Join(w.state, "node")
	w.must(copyTool(realPath(t, "/bin/cat"), w.node))
	e := w.executor()
	clear(e.versions.known)
	_, err := e.DescribeRuntime(t.Context())
	var unavailable *pins.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "is no Node that runs here") {
		t.Errorf("%v", err)
	}
}

// explainer is a boundary whose explanations are counted, and may be held up.
type explainer struct {
	standInMac
	asked *int
	then  func()
}

func (b explainer) Explain(context.Context, confine.Instance, confine.Ending) *HostError {
	*b.asked++
	b.then()
	return &HostError{Problem: "explained", Cure: "none"}
}

// TestAnEndingIsExplainedOnce: what a search found out is not searched for by the
// next request, nor for ever believed.
func TestAnEndingIsExplainedOnce(t *testing.T) {
	w := newWorld(t)
	asked, then := 0, func() {}
	w.under(variant(t, "NESTED"))
	w.boundary = explainer{w.boundary.(standInMac), &asked, func() { then() }}
	w.useStandIn()
	e := w.executor()
	clear(e.versions.known)
	describe := func(ctx context.Context) error { _, err := e.DescribeRuntime(ctx); return err }

	ctx, cancel := context.WithCancel(t.Context())
	then = cancel
	if err := describe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was cancelled meanwhile: %v", err)
	}
	then = func() {}
	var host *HostError
	for range 3 {
		if err := describe(t.Context()); !errors.As(err, &host) || host.Problem != "explained" {
			t.Error(err)
		}
	}
	if asked != 2 {
		t.Errorf("explained %d times, want 2: once for whom it was cancelled, once for all others", asked)
	}
	e.versions.last.at = time.Now().Add(-explainAgain)
	if _ = describe(t.Context()); asked != 3 {
		t.Errorf("explained %d times, want it anew after %s", asked, explainAgain)
	}
}
