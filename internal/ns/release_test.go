package ns

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mustRefuse demands a *BusyError that says want.
func (w *world) mustRefuse(name, tag, want string) {
	w.t.Helper()
	d, err := w.pool.Release(w.t.Context(), name, tag)
	var busy *BusyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), want) {
		w.t.Errorf("%s: %+v, %v; want it busy: %s", name, d, err, want)
	}
}

func (w *world) mustRelease(name, tag string) {
	w.t.Helper()
	d, err := w.pool.Release(w.t.Context(), name, tag)
	if err != nil || d != (Disposition{State: StateRemoved, Durable: true}) {
		w.t.Errorf("%s: %+v, %v", name, d, err)
	}
}

// TestReleaseFreesTheSlot: a quarantined slot and a leftover are gone, their names can be claimed, and the ledger has nothing to add: a later
// slot of that name is another one.
func TestReleaseFreesTheSlot(t *testing.T) {
	w := newWorld(t, 8)
	w.filled().Quarantine(Unresolved, "x")
	must(t, os.Mkdir(w.root+"/slot-1", 0o700))
	lines := w.lines()
	for _, name := range []string{"slot-0", "slot-1"} {
		tag := w.show(name).Tag
		w.mustRelease(name, tag)
		if _, err := w.pool.Release(t.Context(), name, tag); !errors.Is(err, ErrSlotUnknown) {
			t.Errorf("once more: %v", err)
		}
		if row := w.row(w.pool, name); row.State != Free {
			t.Errorf("%+v", row)
		}
	}
	if after := w.lines(); len(after) != len(lines) {
		t.Errorf("the ledger: %+v", after)
	}
	s, _ := w.verified()
	if s.Number() != 0 {
		t.Errorf("claimed %s", s.Name())
	}
	if d := s.Remove(NamespaceChanged); d.State != StateRemoved {
		t.Errorf("%+v", d)
	}
	must(t, os.Mkdir(w.root+"/slot-0", 0o700))
	for _, p := range []*Pool{w.pool, w.newPool(8)} {
		if row := w.row(p, "slot-0"); row.State != Leftover || row.RunID != "" {
			t.Errorf("explained by what was released: %+v", row)
		}
	}
}

// moreDifferences are those that a run's own checks have no need to see, or that leave everything as it was.
func moreDifferences() map[string]tampering {
	return map[string]tampering{
		"contents changed": {func(t *testing.T, s string) { flip(t, s+"/input/data.txt") }, ""},
		"file opened":      {func(t *testing.T, s string) { must(t, os.Chmod(s+"/program/main.mjs", 0o600)) }, ""},
		"written the same": {func(t *testing.T, s string) { flip(t, s+"/input/data.txt"); flip(t, s+"/input/data.txt") }, ""},
		"renamed and back": {func(t *testing.T, s string) {
			must(t, os.Rename(s+"/canary", s+"/c"))
			must(t, os.Rename(s+"/c", s+"/canary"))
		}, ""},
		"added and removed": {func(t *testing.T, s string) { must(t, os.Mkdir(s+"/home/x", 0o700)); must(t, os.Remove(s+"/home/x")) }, ""},
		"linked twice":      {func(t *testing.T, s string) { must(t, os.Link(s+"/canary", s+"/home/canary")) }, ""},
	}
}

// TestReleaseOfAChangedSlot: each difference between showing and releasing is seen before anything is touched; once it was shown, that very
// slot is released, strangers and all, and nothing outside.
func TestReleaseOfAChangedSlot(t *testing.T) {
	all := differences()
	maps.Copy(all, moreDifferences())
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 8)
			s := w.filled()
			s.Quarantine(NamespaceChanged, "x")
			tag := w.show("slot-0").Tag
			letClockTick(t)
			c.act(t, s.Path())
			before := tree(t, w.root)
			_, err := w.pool.Release(t.Context(), "slot-0", tag)
			var busy *BusyError
			switch name {
			case "slot moved away":
				must(t, os.Mkdir(s.Path(), 0o700)) // so that there is something to release
				before = tree(t, w.root)
				if !errors.Is(err, ErrSlotUnknown) {
					t.Errorf("%v", err)
				}
			case "slot replaced by a link to itself":
				if !errors.As(err, &busy) {
					t.Errorf("%v", err)
				}
				return
			default:
				if !errors.Is(err, ErrSlotChanged) {
					t.Errorf("%v", err)
				}
			}
			if after := tree(t, w.root); !maps.Equal(before, after) {
				t.Errorf("touched:\n%v\n%v", before, after)
			}
			w.mustRelease("slot-0", w.show("slot-0").Tag)
			for path := range before {
				if _, err := os.Lstat(path); (err == nil) == strings.HasPrefix(path+"/", s.Path()+"/") {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
}

// TestReleaseWantsTheTag: nothing else will do.
func TestReleaseWantsTheTag(t *testing.T) {
	w := newWorld(t, 8)
	w.filled().Quarantine(NamespaceChanged, "x")
	w.filled().Quarantine(NamespaceChanged, "x")
	tag, before := w.show("slot-0").Tag, tree(t, w.root)
	for _, other := range []string{"", "*", strings.Trim(tag, `"`), "W/" + tag, tag + " ", tag + ", " + tag, strings.ToUpper(tag), w.show("slot-1").Tag} {
		if d, err := w.pool.Release(t.Context(), "slot-0", other); !errors.Is(err, ErrSlotChanged) {
			t.Errorf("%q: %+v, %v", other, d, err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := w.pool.Release(gone, "slot-0", tag); !errors.Is(err, context.Canceled) {
		t.Errorf("after its caller went: %+v, %v", d, err)
	}
	if after := tree(t, w.root); !maps.Equal(before, after) {
		t.Errorf("touched: %v", after)
	}
	w.mustRelease("slot-0", tag)
}

// TestReleaseOfWhatLives: a live slot of ours, one of another daemon and what is no slot are refused, whatever is quoted.
func TestReleaseOfWhatLives(t *testing.T) {
	w := newWorld(t, 8)
	ours, theirs := w.filled(), claim(t, w.newPool(8))
	must(t, unix.Mkfifo(w.root+"/slot-2", 0o600))
	must(t, os.Mkdir(w.root+"/slot-77", 0o700))
	for name, want := range map[string]string{
		"slot-0": "is lent to the run run-1, which is alive", "slot-1": "is held by another live daemon", "slot-2": "it is a FIFO that no run made", "slot-77": "remove it by hand",
	} {
		w.mustRefuse(name, w.show(name).Tag, want)
	}
	for _, s := range []*Slot{ours, theirs} {
		if d := s.Remove(SetupIncomplete); d.State != StateRemoved {
			t.Errorf("%+v", d)
		}
	}
}
