package ns

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// seized is a slot on the way to its removal: locked, compared with tag, and in nobody's use.
func (w *world) seized(name, tag string) (*held, *entry) {
	w.t.Helper()
	root, err := w.pool.Open()
	must(w.t, err)
	info, err := root.info(name)
	must(w.t, err)
	h := &held{root: root, info: info, path: w.root + "/" + name, dir: -1}
	must(w.t, h.seize())
	top, err := h.match(w.t.Context(), tag)
	must(w.t, err)
	w.t.Cleanup(func() { root.Close() })
	return h, top
}

// TestOneReleaseAtATime: while a slot is being released neither this daemon nor another one begins to, and no claim gets its name.
func TestOneReleaseAtATime(t *testing.T) {
	w := newWorld(t, 1)
	w.filled().Quarantine(NamespaceChanged, "x")
	tag := w.show("slot-0").Tag
	h, top := w.seized("slot-0", tag)
	for _, p := range []*Pool{w.pool, w.newPool(1)} {
		var busy *BusyError
		if d, err := p.Release(t.Context(), "slot-0", tag); !errors.As(err, &busy) {
			t.Errorf("%+v, %v", d, err)
		}
		if _, err := tryClaim(p); !errors.Is(err, ErrNoSlot) {
			t.Errorf("claim: %v", err)
		}
	}
	if d := h.remove(top); d.State != StateRemoved {
		t.Errorf("%+v", d)
	}
	if s := claim(t, w.pool); s.Number() != 0 { // before the lock on what was removed is let go
		t.Errorf("claimed %s", s.Name())
	} else {
		h.letGo()
		s.Remove(SetupIncomplete)
	}
	w.mustBeEmpty()
}

// TestReleaseStopsAtTheFirstDifference changes something after everything was compared: what was deleted by then was shown, the stranger and
// all after it stays, and the ledger says so after a restart too.
func TestReleaseStopsAtTheFirstDifference(t *testing.T) {
	for name, c := range map[string]struct {
		act           func(slot string) error
		at            string
		gone, staying []string
	}{
		"a stranger": {
			func(s string) error { return os.WriteFile(s+"/input/stranger", nil, 0o600) },
			"/input is not", []string{"/canary", "/home"}, []string{"/input/stranger", "/input/data.txt", "/program/main.mjs"},
		},
		"a file touched": {
			func(s string) error { return os.Chmod(s+"/program/lib/deep/b.js", 0o600) },
			"/program/lib/deep/b.js is not", []string{"/input", "/program/lib/a.js"}, []string{"/program/lib/deep/b.js", "/program/main.mjs"},
		},
		"a directory for a link": {
			func(s string) error {
				return errors.Join(os.Rename(s+"/program/lib", s+"-lib"), os.Symlink(s+"-lib", s+"/program/lib"))
			},
			"/program is not", []string{"/input"}, []string{"-lib/a.js", "-lib/deep/b.js", "/program/main.mjs", "/program/lib"},
		},
		"the slot moved away": {
			func(s string) error { return errors.Join(os.Rename(s, s+"-moved"), os.Mkdir(s, 0o700)) },
			" is not", nil, []string{"", "-moved/canary", "-moved/program/main.mjs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			s := w.filled()
			s.Quarantine(NamespaceChanged, "x")
			h, top := w.seized("slot-0", w.show("slot-0").Tag)
			letClockTick(t)
			must(t, c.act(s.Path()))
			d := h.remove(top)
			h.letGo()
			if d.State != StateQuarantined || d.Reason != RemovalFailed || d.Path != s.Path() || !strings.Contains(d.Message, s.Path()+c.at) {
				t.Errorf("%+v", d)
			}
			for _, path := range c.gone {
				if _, err := os.Lstat(s.Path() + path); err == nil {
					t.Errorf("%s is still there", path)
				}
			}
			for _, path := range c.staying {
				if _, err := os.Lstat(s.Path() + path); err != nil {
					t.Error(err)
				}
			}
			if name == "the slot moved away" {
				return
			}
			if row := w.row(w.newPool(8), "slot-0"); row.State != Quarantined || row.Reason != RemovalFailed || row.Message != d.Message || row.RunID != "run-1" {
				t.Errorf("%+v", row)
			}
			w.mustRelease("slot-0", w.show("slot-0").Tag)
		})
	}
}

// TestReleaseMeetsARival: somebody adds a file while the entries before it are being deleted. The file stays, and so does what is around it.
func TestReleaseMeetsARival(t *testing.T) {
	w := newWorld(t, 8)
	many := map[string]string{}
	for i := range 500 {
		many[fmt.Sprintf("f%03d", i)] = ""
	}
	for caught := false; !caught; { // until the rival came in time
		s := claim(t, w.pool)
		must(t, s.Materialise("run-1", programOf(t), snapshot(t, many), ourselves()))
		s.Quarantine(NamespaceChanged, "x")
		tag, came := w.show("slot-0").Tag, make(chan error)
		go func() {
			for { // the canary goes first, program last
				if _, err := os.Lstat(s.Path() + "/canary"); err != nil {
					came <- os.WriteFile(s.Path()+"/program/rival", nil, 0o600)
					return
				}
			}
		}()
		d, err := w.pool.Release(t.Context(), "slot-0", tag)
		must(t, err)
		if caught = <-came == nil; !caught {
			if d.State != StateRemoved {
				t.Fatalf("%+v", d)
			}
			continue
		}
		if d.State != StateQuarantined || d.Reason != RemovalFailed || !strings.Contains(d.Message, s.Path()+"/program ") {
			t.Errorf("%+v", d)
		}
		if left := tree(t, s.Path()); left[s.Path()+"/program/rival"] == 0 || left[s.Path()+"/canary"] != 0 {
			t.Errorf("left: %v", left)
		}
	}
	w.mustRelease("slot-0", w.show("slot-0").Tag)
}

// TestKilledDuringRelease: a daemon that is killed in the middle leaves a smaller slot, which is what it was, unlocked, and is released by the next.
func TestKilledDuringRelease(t *testing.T) {
	w := newWorld(t, 8)
	many := map[string]string{}
	for i := range 2000 {
		many[fmt.Sprintf("f%04d", i)] = ""
	}
	for caught := false; !caught; {
		s := claim(t, w.pool)
		must(t, s.Materialise("run-1", programOf(t), snapshot(t, many), ourselves()))
		s.Quarantine(NamespaceChanged, "x")
		whole := tree(t, s.Path())
		cmd := helperCommand(t, "release", w.root, w.state, "slot-0")
		must(t, cmd.Start())
		for _, err := os.Lstat(s.Path() + "/canary"); err == nil; _, err = os.Lstat(s.Path() + "/canary") {
		}
		must(t, cmd.Process.Kill())
		cmd.Wait()
		if _, err := os.Lstat(s.Path()); err != nil {
			continue // it was faster
		}
		caught = true
		for path, ino := range tree(t, s.Path()) {
			if whole[path] != ino {
				t.Errorf("%s was not there before", path)
			}
		}
		if row := w.row(w.pool, "slot-0"); row.State != Quarantined || row.Reason != NamespaceChanged || row.Message != "x" {
			t.Errorf("%+v", row)
		}
		w.mustRelease("slot-0", w.show("slot-0").Tag)
	}
	if lines := w.lines(); slices.ContainsFunc(lines, func(l ledgerLine) bool { return l.Reason != NamespaceChanged }) {
		t.Errorf("%+v", lines)
	}
}

// TestReleasesAndClaims: releases by two daemons and claims by both, all of the same few names: every slot is released once, and no claim loses
// anything.
func TestReleasesAndClaims(t *testing.T) {
	w := newWorld(t, 2)
	pools := []*Pool{w.pool, w.newPool(2)}
	var removed atomic.Int64
	var claims, releases sync.WaitGroup
	var done atomic.Bool
	for _, p := range pools {
		claims.Go(func() {
			for settled := 0; settled < 12; {
				s, err := tryClaim(p)
				if errors.Is(err, ErrNoSlot) {
					runtime.Gosched()
					continue
				}
				if err == nil {
					err = s.Materialise("r", snapshot(t, map[string]string{"a": "1"}), snapshot(t, nil), ourselves())
				}
				if err == nil {
					_, err = s.Verify()
				}
				if err != nil {
					t.Error(err)
					return
				}
				if settled++; settled%2 == 0 {
					s.Quarantine(Unresolved, "x")
				} else if d := s.Remove(NamespaceChanged); d.State != StateRemoved {
					t.Errorf("%+v", d)
				}
			}
		})
		releases.Go(func() {
			for last := false; !last; {
				last = done.Load()
				for _, name := range []string{"slot-0", "slot-1"} {
					if c, err := p.Show(t.Context(), name); err == nil && c.Slot.State == Quarantined {
						if d, err := p.Release(t.Context(), name, c.Tag); err == nil && d.State == StateRemoved {
							removed.Add(1)
						} else if err == nil {
							t.Errorf("%+v", d)
						}
					}
				}
			}
		})
	}
	claims.Wait()
	done.Store(true)
	releases.Wait()
	if removed.Load() != 12 {
		t.Errorf("12 slots were quarantined, %d released", removed.Load())
	}
	w.mustBeEmpty()
}
