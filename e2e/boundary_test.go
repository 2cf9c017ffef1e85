//go:build linux

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// probe is one act that a program tries. Whether it took place is judged from
// outside, by did; what the program was told is compared as well, but decides
// nothing alone. Every act is done twice: confined, where an act with a code
// must not take place, and by the same Node.js unconfined, as the same user on
// the same layout, where it must. An act without a code is allowed: it shows
// that its neighbours are denied, and not merely broken.
type probe struct {
	name string
	act  string // body of an async JavaScript function of w, the scene as world.json tells it
	code string // of the error inside; "" where the act is allowed there
	did  func(s *scene, said string) bool
	// owner is for acts on things of the daemon itself: unconfined they are
	// done by the daemon's user, which under root is not the run's.
	owner bool
}

// probes is the whole table.
func probes() []probe {
	var all []probe
	for _, table := range [][]probe{inheritedProbes(), mutationProbes(), readProbes(), networkProbes(), processProbes(), allowedProbes()} {
		all = append(all, table...)
	}
	return all
}

// TestBoundary does every act of the table in one confined run, beside another
// run that is alive, and in one plain Node.js for each user.
func TestBoundary(t *testing.T) {
	table, addon := probes(), nativeAddon(t)
	d := sloppyDaemon(t, withFlags("--workers=2"))
	other, secret := d.script(t, waiting("holding")), random()
	other.input = files{"held.txt": secret}
	held := d.live(t, other, "holding")

	confined := newScene(t, d.root+"/slot-1", runUser(1), addon)
	confined.aim(d, secret)
	r := d.run(t, confined.program(t, table), "runner.mjs")
	r.input = confined.input(t)
	run := d.live(t, r, "ready")
	confined.act(t, run.pid)
	confined.read(run.release(t).Process.Stdout.plain(t))
	held.release(t)
	for _, p := range table {
		t.Run("confined/"+p.name, func(t *testing.T) { confined.judge(t, p, p.code == "") })
	}
	if got := d.status(t); !got.Ready || got.Slots.Now != 0 {
		t.Errorf("after the runs the daemon is not as before: %+v", got)
	}

	for _, owner := range []bool{false, true} {
		u := runUser(1)
		if owner {
			u = us()
		}
		control(t, u, only(table, owner), addon)
	}
}

// control does the acts unconfined: each must take place.
func control(t *testing.T, u user, table []probe, addon string) {
	t.Helper()
	s := newScene(t, "", u, addon)
	s.aimAtStandIns()
	s.furnish(t, s.program(t, table), s.input(t))
	run := s.plain(t, "runner.mjs")
	s.act(t, run.pid)
	s.read(run.release(t))
	for _, p := range table {
		t.Run("unconfined/"+p.name, func(t *testing.T) { s.judge(t, p, true) })
	}
}

func only(table []probe, owner bool) []probe {
	var some []probe
	for _, p := range table {
		if p.owner == owner {
			some = append(some, p)
		}
	}
	return some
}

// line is what the program says of one act.
type line struct{ Name, Said, Code, Text string }

// act lets the program of pid do its acts, and looks before and after.
func (s *scene) act(t *testing.T, pid int) {
	t.Helper()
	s.pid = pid
	awaitTitle(t, pid, "ready")
	s.before = s.look()
	tell(t, pid)
	awaitTitle(t, pid, "done")
	s.after = s.look()
}

// judge compares one act with what was to come of it.
func (s *scene) judge(t *testing.T, p probe, want bool) {
	l := s.lines[p.name]
	did := p.did(s, l.Said)
	if want && !did { // a signal or a process takes a moment
		did = within(5*time.Second, func() bool { return p.did(s, l.Said) })
	}
	if did != want {
		t.Errorf("it took place: %v, want %v; the program says %+v", did, want, l)
	}
	if code := l.Code; want && code != "" || !want && code != p.code {
		t.Errorf("the program was told %q (%s, %q), want %q", code, l.Text, l.Said, p.code)
	}
}

// read takes in the program's output, line by line; what is not an act's line
// is noise.
func (s *scene) read(output string) {
	s.lines = map[string]line{}
	for text := range strings.Lines(output) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil {
			s.lines[l.Name] = l
		} else {
			s.noise += text
		}
	}
}
