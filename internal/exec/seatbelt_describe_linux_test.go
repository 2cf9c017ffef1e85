package exec

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

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
