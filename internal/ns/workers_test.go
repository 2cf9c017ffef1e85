package ns

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestEachTellsTheFirstInOrder: unit 1 fails only after unit 2 has, on another goroutine, and it is unit 1 that is told. None is begun after
// that, and each has waited for both.
func TestEachTellsTheFirstInOrder(t *testing.T) {
	first, second := errors.New("unit 1"), errors.New("unit 2")
	laterFailed := make(chan struct{})
	var begun, ended atomic.Int32
	err := newWorkers(2).each(100, func(unit int) error {
		begun.Add(1)
		defer ended.Add(1)
		switch unit {
		case 1:
			<-laterFailed
			return first
		case 2:
			defer close(laterFailed)
			return second
		}
		return nil
	})
	if err != first {
		t.Errorf("got %v, want %v", err, first)
	}
	if begun.Load() != 3 || ended.Load() != 3 {
		t.Errorf("%d units were begun and %d ended", begun.Load(), ended.Load())
	}
	alone := 0
	err = (*workers)(nil).each(100, func(unit int) error {
		if alone++; unit == 2 {
			return second
		}
		return nil
	})
	if err != second || alone != 3 {
		t.Errorf("alone: %v after %d units", err, alone)
	}
}

// TestEachIsBounded: however walks are nested, no more goroutines run than there are workers, all units are done once, and where several are at
// work together, several are.
func TestEachIsBounded(t *testing.T) {
	for _, most := range []int{1, 2, 4} {
		w := newWorkers(most)
		var running, highest, done atomic.Int32
		var meet sync.WaitGroup // of the first units, one for each worker
		meet.Add(most)
		var walk func(depth int) error
		walk = func(depth int) error {
			return w.each(4, func(int) error {
				if depth > 0 {
					return walk(depth - 1)
				}
				now := running.Add(1)
				for seen := highest.Load(); now > seen && !highest.CompareAndSwap(seen, now); seen = highest.Load() {
				}
				if done.Add(1) <= int32(most) {
					meet.Done()
					meet.Wait()
				}
				running.Add(-1)
				return nil
			})
		}
		must(t, walk(4))
		if highest.Load() != int32(most) || done.Load() != 1024 || w.idle != most-1 {
			t.Errorf("%d workers: %d ran at once, %d units were done, %d are free", most, highest.Load(), done.Load(), w.idle)
		}
	}
}

// many is a claimed slot with more in it than one goroutine walks.
func (w *world) many() *Slot {
	w.t.Helper()
	s := claim(w.t, w.pool)
	must(w.t, s.Materialise("run-1", snapshot(w.t, filesOf(400, 100)), inputOf(w.t), ourselves()))
	// Several, on a machine with one core too.
	s.workers = newWorkers(mostWorkers)
	return s
}

// TestLargeSlotTellsTheFirstDifference: of two differences far apart the one that a walk meets first is told, whoever sees which first, and
// nothing is deleted.
func TestLargeSlotTellsTheFirstDifference(t *testing.T) {
	const earlier, later = "program/dir03/sub0/f00003.js", "program/dir39/sub0/f00039.js"
	for name, act := range map[string]func(*testing.T, *Slot) error{
		"verify":  func(_ *testing.T, s *Slot) error { _, err := s.Verify(); return err },
		"recheck": func(_ *testing.T, s *Slot) error { return s.Recheck(s.proof) },
		"remove":  func(_ *testing.T, s *Slot) error { return s.inspect(inspection{}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			s := w.many()
			if name == "recheck" {
				_, err := s.Verify()
				must(t, err)
			}
			for _, path := range []string{earlier, later} {
				resize(t, s.Path()+"/"+path, 7)
			}
			before := tree(t, w.root)
			for range 20 {
				mismatchAt(t, act(t, s), s.Path()+"/"+earlier)
			}
			stays(t, w, s.Remove(NamespaceChanged), before, NamespaceChanged)
		})
	}
}

// TestLargeSlotHaltsAtASurprise: a difference that comes after everything was compared is told and stays, with the directories around it. Once
// somebody has met one, nobody deletes anything; until then everybody does.
func TestLargeSlotHaltsAtASurprise(t *testing.T) {
	w := newWorld(t, 8)
	s := w.many()
	_, err := s.Verify()
	must(t, err)
	whole := tree(t, w.root)
	warned := &clearing{workers: s.workers}
	warned.halted.Store(true)
	must(t, warned.directory(s.root, s.tree, s.path))
	if left := tree(t, w.root); !maps.Equal(left, whole) {
		t.Errorf("%d entries became %d", len(whole), len(left))
	}
	stranger := s.Path() + "/program/dir39/sub0/stranger"
	must(t, os.WriteFile(stranger, nil, 0o600))
	mismatchAt(t, s.clear(), filepath.Dir(stranger))
	if _, err := os.Lstat(stranger); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.Path() + "/program/dir00"); err == nil {
		t.Error("nothing before it was deleted")
	}
}

// TestLargePartIsRecorded: when a stranger has the name of the second of the slot's entries, everything that was made by then, by whomever, goes.
func TestLargePartIsRecorded(t *testing.T) {
	w := newWorld(t, 8)
	s := claim(t, w.pool)
	must(t, os.WriteFile(s.Path()+"/input", nil, 0o600))
	err := s.Materialise("run-1", snapshot(t, filesOf(400, 100)), inputOf(t), ourselves())
	if err == nil {
		t.Fatal("the stranger went unnoticed")
	}
	t.Logf("%v, with %d entries made", err, len(tree(t, s.Path())))
	must(t, os.Remove(s.Path()+"/input"))
	if d := s.Remove(SetupIncomplete); d != (Disposition{State: StateRemoved, Durable: true}) {
		t.Errorf("%+v", d)
	}
	w.mustBeEmpty()
}

// TestWeight: what decides whether a slot is large.
func TestWeight(t *testing.T) {
	for _, c := range []struct {
		files, size int
		large       bool
	}{{1, 20, false}, {10, 4096, false}, {200, 1, true}, {1, manyBytes, true}} {
		tree := &node{children: planSlot(snapshot(t, filesOf(c.files, c.size)), snapshot(t, nil), newCanary())}
		if large := workersFor(tree) != nil; large != c.large {
			t.Errorf("%d files of %d bytes: large %v", c.files, c.size, large)
		}
	}
}
