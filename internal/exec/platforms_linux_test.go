package exec

import (
	"testing"

	"confined/internal/confine"
	"confined/internal/pins"
)

// platform is a boundary that rows run on.
type platform struct {
	name    string
	prepare func(*world)
}

var (
	onLinux = platform{"linux", func(*world) {}}

	// underDash is the boundary of macOS as far as it can be had here: the real
	// shell, its script, env and preload, and a stand-in for sandbox-exec whose one
	// denial is the canary's. Under root the process is root, and so is the slot's
	// owner, which a Mac's daemon refuses.
	underDash = platform{"dash", func(w *world) { w.under(denying(w.t)) }}
)

// marks say where a row is wanted. One that is not the same everywhere has a
// reason.
type marks struct {
	only    string // the name of the one platform it is of
	dash    *outcome
	because string
}

// onlyOn is a row of one platform.
func (o outcome) onlyOn(on platform, because string) outcome {
	o.marks = marks{only: on.name, because: because}
	return o
}

// butUnderDash is a row that comes to something else there.
func (o outcome) butUnderDash(other outcome, because string) outcome {
	o.marks = marks{dash: &other, because: because}
	return o
}

// on is what a row wants on a platform.
func (o outcome) on(here platform) outcome {
	if here.name == underDash.name && o.marks.dash != nil {
		return *o.marks.dash
	}
	return o
}

func (on platform) takes(m marks) bool { return m.only == "" || m.only == on.name }

// rowsOf are the rows of a group that run on a platform.
func (on platform) rowsOf(g group) (rows []fault) {
	for _, r := range g.rows {
		if on.takes(g.marks) && on.takes(r.want.marks) {
			rows = append(rows, r)
		}
	}
	return rows
}

// standInMac is [confine.Seatbelt] with tools of this host's. That this is no Mac
// is not held against it; nothing else of it is changed.
type standInMac struct{ confine.Seatbelt }

func (standInMac) HostProblem() *HostError { return nil }

// under has the world's runs confined by s.
func (w *world) under(s standInMac) {
	w.boundary, w.spec.Profile = s, s.Profile().Digest
	w.unsealable = &pins.UnsealableError{Problem: "no copies on macOS", Cure: "none"}
}

// TestFaultsUnderDash runs the rows of the macOS boundary. A version run is the
// good launcher's: the others only have to launch.
func TestFaultsUnderDash(t *testing.T) {
	learnUnderDash(t)
	underDash.runTable(t)
}

// learnUnderDash has the versions of the stand-in and of Node known.
func learnUnderDash(t *testing.T) {
	for _, node := range []string{"stand-in", "Node"} {
		w := newWorld(t)
		underDash.prepare(w)
		if w.useStandIn(); node == "Node" {
			w.main("")
		}
		w.pin(w.executor())
	}
}

// TestEveryRowIsOnBothPlatformsOrSaysWhy counts the rows by where they run. Those
// that are not of the macOS boundary are few, and counted one by one.
func TestEveryRowIsOnBothPlatformsOrSaysWhy(t *testing.T) {
	counts := map[string]int{}
	for _, g := range groups() {
		for _, r := range g.rows {
			m := r.want.marks
			if g.marks.only != "" {
				m = g.marks
			}
			counts[m.kind()]++
			if (m == marks{}) == (m.because != "") || m.only != "" && m.only != onLinux.name && m.only != underDash.name {
				t.Errorf("%s/%s is marked %+v", g.name, r.name, m)
			}
		}
	}
	t.Logf("rows by where they run: %v", counts)
	if got, want := counts[onLinux.name]-len(runtimeFaults), 3; got != want {
		t.Errorf("%d rows are only of Linux, want %d, beside those that run a second time without a sealed copy", got, want)
	}
}

func (m marks) kind() string {
	switch {
	case m.only != "":
		return m.only
	case m.dash != nil:
		return "both, with another outcome"
	}
	return "both"
}
