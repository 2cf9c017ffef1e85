package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mustBeReady fails unless status, readiness and metrics agree that these are
// the reasons why no run can start. Each has words of its cure.
func (d *daemon) mustBeReady(t *testing.T, reasons map[string][]string) {
	t.Helper()
	s, ready := d.status(t), d.get(t, "/readyz")
	if s.Ready != (len(reasons) == 0) || (ready.status == 200) != s.Ready || len(s.NotReady) != len(reasons) {
		t.Errorf("ready %v, /readyz %d, reasons %+v, want %v", s.Ready, ready.status, s.NotReady, reasons)
	}
	for _, found := range s.NotReady {
		words, expected := reasons[found.Code]
		if !expected {
			t.Errorf("unexpected reason %+v", found)
		}
		for _, word := range words {
			if !strings.Contains(found.Detail, word) {
				t.Errorf("%s does not say %q: %s", found.Code, word, found.Detail)
			}
		}
	}
	for _, code := range []string{"draining", "unsupported-host", "runtime-unavailable", "runtime-unproven", "root-unsound", "no-free-slot"} {
		_, holds := reasons[code]
		if free := d.metric(t, `confined_ready{reason="`+code+`"}`) == 1; free == holds {
			t.Errorf("confined_ready of %s is 1: %v", code, free)
		}
	}
	if len(reasons) == 0 {
		return
	}
	p := ready.problem(t)
	if p.Status != 503 || p.Code != "not-ready" || len(p.Errors) != len(s.NotReady) {
		t.Errorf("/readyz: %+v", p)
	}
	for i, f := range p.Errors {
		if f.Code != "not-ready" || f.Pointer != "/notReady/"+string(rune('0'+i)) || !strings.Contains(f.Detail, s.NotReady[i].Code) {
			t.Errorf("/readyz, error %d: %+v", i, f)
		}
	}
}

// mustNotStart fails unless a run of r is not started, for this reason, with
// these words, and leaves nothing.
func (d *daemon) mustNotStart(t *testing.T, r runRequest, reason string, words ...string) {
	t.Helper()
	got, _, _ := d.postRun(t, r)
	if got.Status != "not-started" || got.Reason != reason || got.Namespace != nil {
		t.Errorf("%s %s %+v, want not-started %s without a namespace", got.Status, got.Reason, got.Namespace, reason)
	}
	for _, word := range words {
		if !strings.Contains(got.Message, word) {
			t.Errorf("%s does not say %q: %s", reason, word, got.Message)
		}
	}
}

// TestUnsoundRoot: a root that others may open is refused by each run, said by
// readiness, and fit again once it is private again.
func TestUnsoundRoot(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := goodRun(t, d)
	d.mustBeReady(t, nil)
	if err := os.Chmod(d.root, 0o755); err != nil {
		t.Fatal(err)
	}
	d.mustBeReady(t, map[string][]string{"root-unsound": {d.root, "chmod 700"}})
	d.mustNotStart(t, r, "setup-failed", d.root, "chmod 700")
	if p := d.get(t, "/v1/slots").problem(t); p.Status != 503 || p.Code != "not-ready" || !strings.Contains(p.Detail, "root-unsound") {
		t.Errorf("/v1/slots: %+v", p)
	}
	if err := os.Chmod(d.root, 0o700); err != nil {
		t.Fatal(err)
	}
	d.mustBeReady(t, nil)
	away := d.root + "-away"
	if err := os.Rename(d.root, away); err != nil {
		t.Fatal(err)
	}
	d.mustBeReady(t, map[string][]string{"root-unsound": {d.root}})
	d.mustNotStart(t, r, "setup-failed", d.root)
	if err := os.Symlink(away, d.root); err != nil {
		t.Fatal(err)
	}
	d.mustBeReady(t, map[string][]string{"root-unsound": {d.root}})
	d.mustNotStart(t, r, "setup-failed", d.root)
	if err := os.Remove(d.root); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, d.root); err != nil {
		t.Fatal(err)
	}
	d.mustBeReady(t, nil)
	mustRun(t, d)
}

// TestNodeMovedAway: without its Node a daemon stays up and says what is
// missing; a run that pinned it is not started; with it back all is as before.
func TestNodeMovedAway(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	link := p.dir + "/node"
	if err := os.Symlink(shared.node, link); err != nil {
		t.Fatal(err)
	}
	d := startDaemonIn(t, p, withNode(link))
	r := goodRun(t, d)
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	if err := os.Rename(link, link+"-away"); err != nil {
		t.Fatal(err)
	}
	d.mustBeReady(t, map[string][]string{"runtime-unavailable": {link}})
	d.mustNotStart(t, r, "runtime-mismatch", link)
	if p := d.get(t, "/v1/runtime").problem(t); p.Status != 503 || p.Code != "runtime-unavailable" || !strings.Contains(p.Detail, link) {
		t.Errorf("/v1/runtime: %+v", p)
	}
	if err := os.Rename(link+"-away", link); err != nil {
		t.Fatal(err)
	}
	if digest := decode[struct{ Digest string }](t, d.get(t, "/v1/runtime").body).Digest; digest != d.runtime {
		t.Errorf("with Node back, the runtime is %s, was %s", digest, d.runtime)
	}
	d.mustBeReady(t, nil)
	got, _, _ = d.postRun(t, r)
	d.mustBeRight(t, r, got)
}

// TestOtherPins: a run starts only with the profile and the runtime it pinned.
func TestOtherPins(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	none := "sha256:" + strings.Repeat("0", 64)
	r := goodRun(t, d)
	r.profile = none
	d.mustNotStart(t, r, "profile-mismatch", none, d.profile)
	r.runtime = none // the profile is compared first
	d.mustNotStart(t, r, "profile-mismatch", none, d.profile)
	r.profile = d.profile
	d.mustNotStart(t, r, "runtime-mismatch", none, d.runtime)
	mustRun(t, d)
}

// TestFullRoot: entries that are none of ours count, are never touched, and are
// named; with room again, runs start.
func TestFullRoot(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--max-retained=2"))
	foreign, leftover := filepath.Join(d.root, "notes.txt"), filepath.Join(d.root, "slot-0")
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, d) // one of two is taken
	if err := os.Mkdir(leftover, 0o700); err != nil {
		t.Fatal(err)
	}
	s := d.slots(t)
	states := map[string]string{}
	for _, one := range s.Slots {
		states[one.Name] = one.State
	}
	if s.Root != d.root || s.MaxRetained != 2 || s.Counted != 2 || s.Free != 0 || states["notes.txt"] != "foreign" || states["slot-0"] != "leftover" {
		t.Errorf("/v1/slots: %+v", s)
	}
	d.mustBeReady(t, map[string][]string{"no-free-slot": {d.root}})
	d.mustNotStart(t, goodRun(t, d), "retained-limit", "never reclaimed automatically")
	if content, err := os.ReadFile(foreign); err != nil || string(content) != "mine" {
		t.Errorf("%s was touched: %q, %v", foreign, content, err)
	}
	for _, path := range []string{foreign, leftover} {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
	d.mustBeReady(t, nil)
	mustRun(t, d)
}
