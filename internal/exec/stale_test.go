package exec

import (
	"fmt"
	"strings"
	"testing"

	"confined/internal/pins"
)

func runtimeOf(version string, files ...string) pins.Runtime {
	var c pins.Closure
	for _, f := range files {
		path, content, _ := strings.Cut(f, "=")
		to := &c.Files
		if rest, starts := strings.CutPrefix(path, "starts "); starts {
			path, to = rest, &c.Launchers
		}
		*to = append(*to, pins.RuntimeFile{Path: path, SHA256: [32]byte{content[0]}})
	}
	return pins.NewRuntime(c, version, []pins.HostFact{{Key: "kernel", Value: "1"}})
}

func TestDifference(t *testing.T) {
	before := runtimeOf("26.8.1", "/lib/c=1", "/lib/m=1", "/opt/node=1", "starts /bin/dash=1")
	for want, now := range map[string]pins.Runtime{
		"/lib/c changed":    runtimeOf("26.8.1", "/lib/c=2", "/lib/m=1", "/opt/node=1", "starts /bin/dash=1"),
		"/bin/dash changed": runtimeOf("26.8.1", "/lib/c=1", "/lib/m=1", "/opt/node=1", "starts /bin/dash=2"),
		"Node 26.8.1 became 26.9.0, /opt/node changed":       runtimeOf("26.9.0", "/lib/c=1", "/lib/m=1", "/opt/node=2", "starts /bin/dash=1"),
		"/new/node came, /opt/node went":                     runtimeOf("26.8.1", "/lib/c=1", "/lib/m=1", "/new/node=1", "starts /bin/dash=1"),
		"/a came, /b came, /c came and 3 more":               runtimeOf("26.8.1", "/a=1", "/b=1", "/c=1", "starts /bin/dash=1"),
		"the symlinks that lead to Node and its libraries c": before,
	} {
		if got := difference(before, now); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAcquaintancesAreFew: the latest are remembered, each once.
func TestAcquaintancesAreFew(t *testing.T) {
	var a acquaintances
	version := func(n int) pins.Runtime { return runtimeOf(fmt.Sprint(n), "/opt/node=1") }
	for n := range 2 * maxAcquaintances {
		a.note(version(n))
		a.note(version(n))
	}
	for n := range 2 * maxAcquaintances {
		if _, known := a.find(version(n).Digest); known != (n >= maxAcquaintances) {
			t.Errorf("of %d, number %d is known: %v", 2*maxAcquaintances, n, known)
		}
	}
}
