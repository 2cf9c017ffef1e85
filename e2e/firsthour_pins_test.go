package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestStalePins: a pin that is not, or no longer, right is answered with what is
// known of the difference and with how to read the pins again.
func TestStalePins(t *testing.T) {
	t.Parallel()
	const again = "read both pins again: `confined pins` (--diff LOCKFILE says what changed), or GET /v1/runtime and GET /v1/profile"
	p := newPlaces(t)
	link := p.dir + "/node"
	if err := os.Symlink(shared.node, link); err != nil {
		t.Fatal(err)
	}
	d := startDaemonIn(t, p, withNode(link))
	good, other := goodRun(t, d), "sha256:"+strings.Repeat("0", 64)
	closure := decode[struct{ ClosureDigest string }](t, d.get(t, "/v1/runtime").body).ClosureDigest
	for _, row := range []struct {
		runtime, profile, reason string
		says                     []string
	}{
		{good.profile, good.runtime, "profile-mismatch", []string{"what it pins is the digest of the runtime"}},
		{good.profile, good.profile, "runtime-mismatch", []string{"what it pins is the digest of the profile"}},
		{closure, good.profile, "runtime-mismatch", []string{"what it pins is closureDigest, which leaves out the kernel: pin digest"}},
		{good.runtime, other, "profile-mismatch", []string{"a profile changes with confined itself and with nothing else", again}},
		{other, good.profile, "runtime-mismatch", []string{"this daemon never had the one it pins: the kernel, Node, a library or confined itself was another", again}},
	} {
		r := good
		r.runtime, r.profile = row.runtime, row.profile
		d.mustNotStart(t, r, row.reason, row.says...)
	}

	// An update under a daemon that goes on: Node is found by another way.
	further := p.dir + "/current"
	if err := os.Symlink(shared.node, further); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("current", link); err != nil {
		t.Fatal(err)
	}
	d.mustNotStart(t, good, "runtime-mismatch", "since that was pinned, the symlinks that lead to Node and its libraries changed", again)
	good.runtime = decode[struct{ Digest string }](t, d.get(t, "/v1/runtime").body).Digest
	if got, _, _ := d.postRun(t, good); got.Status != "observed" || got.Identities.Runtime != good.runtime { // the cure
		t.Errorf("%s %s: %s", got.Status, got.Reason, got.Message)
	}
}

// TestTooMuch: a snapshot beyond its bounds is told where the most of it is, and
// runs without that.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	many := goodRun(t, d)
	for i := range 9_812 {
		many.program[fmt.Sprintf("node_modules/m%d/index.js", i%700)+strings.Repeat("x", i/700)] = ""
	}
	for i := range 180 {
		many.program[fmt.Sprintf("src/f%d.js", i)] = ""
	}
	for i := range 8 {
		many.program[fmt.Sprintf("f%d.js", i)] = ""
	}
	large := goodRun(t, d)
	large.input["data/big.bin"], large.input["data/more.bin"] = strings.Repeat("b", 40<<20), strings.Repeat("m", 25<<20)
	for _, row := range []struct {
		r     runRequest
		code  string
		says  []string
		leave string // by prefix, of both trees
	}{
		{many, "too-many-files", []string{"10001 files", "the bound of 10000", "most of them: node_modules (9812 files), src (180 files), in no folder (9 files)"}, "node_modules/"},
		{large, "snapshot-too-large", []string{"4 files", "the bound of 67108864 bytes", "the largest: data/big.bin (40.0 MiB), data/more.bin (25.0 MiB)", "by folder data (65.0 MiB)"}, "data/more.bin"},
	} {
		p := d.post(t, row.r).problem(t)
		if p.Status != 422 || len(p.Errors) == 0 || p.Errors[0].Code != row.code {
			t.Errorf("%d %+v", p.Status, p.Errors)
			continue
		}
		for _, words := range row.says {
			if !strings.Contains(p.Errors[0].Detail, words) {
				t.Errorf("it is not told: %s\nbut: %s", words, p.Errors[0].Detail)
			}
		}
		for _, tree := range []files{row.r.program, row.r.input} {
			for path := range tree {
				if strings.HasPrefix(path, row.leave) {
					delete(tree, path)
				}
			}
		}
		got, _, _ := d.postRun(t, row.r) // the cure
		d.mustBeRight(t, row.r, got)
	}
}
