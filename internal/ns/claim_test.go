package ns

import (
	"errors"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestClaimTakesTheLowestFreeName(t *testing.T) {
	w := newWorld(t, 3)
	must(t, os.Mkdir(w.root+"/slot-0", 0o700))
	first, second := claim(t, w.pool), claim(t, w.pool)
	if first.Name() != "slot-1" || first.Number() != 1 || first.Path() != w.root+"/slot-1" || second.Number() != 2 {
		t.Errorf("claimed %s (%d, %s) and %s", first.Name(), first.Number(), first.Path(), second.Name())
	}
	if _, err := tryClaim(w.pool); !errors.Is(err, ErrNoSlot) {
		t.Errorf("got %v, want ErrNoSlot", err)
	}
	first.Remove(SetupIncomplete)
	if again := claim(t, w.pool); again.Number() != 1 {
		t.Errorf("claimed %s, want slot-1 again", again.Name())
	}
}

// TestClaimIsNotFooledByKinds: whatever has the name, it is taken.
func TestClaimIsNotFooledByKinds(t *testing.T) {
	w := newWorld(t, 5)
	must(t, os.WriteFile(w.root+"/slot-0", nil, 0o600))
	must(t, os.Symlink("nowhere", w.root+"/slot-1"))
	must(t, unix.Mkfifo(w.root+"/slot-2", 0o600))
	must(t, os.Mkdir(w.root+"/slot-04", 0o700))
	if s := claim(t, w.pool); s.Number() != 3 {
		t.Errorf("claimed %s, want slot-3", s.Name())
	}
	if s := claim(t, w.pool); s.Number() != 4 {
		t.Errorf("claimed %s, want slot-4", s.Name())
	}
}

// rivals counts who holds which slot.
type rivals struct {
	t    *testing.T
	mu   sync.Mutex
	held map[string]bool
	most int
}

func (r *rivals) took(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held[name] {
		r.t.Errorf("%s is held twice", name)
	}
	r.held[name] = true
	r.most = max(r.most, len(r.held))
}

func (r *rivals) letGo(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, name)
}

// TestClaimRaces: two pools share a root, with many goroutines each and a lister beside them; no slot is ever held twice, and never more than
// the root may hold. The slot that somebody left behind, whose name each claim tries, is told for what it is at every moment.
func TestClaimRaces(t *testing.T) {
	const slots, goroutines, rounds = 5, 8, 40
	w := newWorld(t, slots)
	must(t, os.Mkdir(w.root+"/slot-0", 0o700))
	r := &rivals{t: t, held: map[string]bool{}}
	var claimers, listers sync.WaitGroup
	done := make(chan struct{})
	for _, p := range []*Pool{w.pool, w.newPool(slots)} {
		for range goroutines {
			claimers.Go(func() { r.claimAndLetGo(p, rounds) })
		}
		listers.Go(func() { listUntil(t, p, slots, done) })
	}
	claimers.Wait()
	close(done)
	listers.Wait()
	if r.most > slots-1 || r.most == 0 {
		t.Errorf("%d slots were held at once, of %d", r.most, slots-1)
	}
	must(t, os.Remove(w.root+"/slot-0"))
	w.mustBeEmpty()
}

func (r *rivals) claimAndLetGo(p *Pool, rounds int) {
	for range rounds {
		s, err := tryClaim(p)
		if errors.Is(err, ErrNoSlot) {
			continue
		}
		if err != nil {
			r.t.Error(err)
			return
		}
		r.took(s.Name())
		r.letGo(s.Name())
		if d := s.Remove(SetupIncomplete); d.State != StateRemoved {
			r.t.Errorf("%+v", d)
		}
	}
}

func listUntil(t *testing.T, p *Pool, slots int, done chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		l, err := p.List()
		if err != nil {
			t.Error(err)
			return
		}
		if l.Counted > slots || l.Free != slots-l.Counted || len(l.Slots) != slots || l.Slots[0].State != Leftover {
			t.Errorf("%+v", l)
		}
		if n, err := p.Others(); err != nil || n < 1 {
			t.Errorf("others %d, %v: the leftover is not among them", n, err)
		}
	}
}

// TestClaimNeverExceedsTheMax: many claim at once and nobody gives anything back; each slot goes to exactly one.
func TestClaimNeverExceedsTheMax(t *testing.T) {
	const slots = 6
	w := newWorld(t, slots)
	r := &rivals{t: t, held: map[string]bool{}}
	pools := []*Pool{w.pool, w.newPool(slots), w.newPool(slots)}
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			s, err := tryClaim(pools[i%len(pools)])
			if err == nil {
				r.took(s.Name())
			} else if !errors.Is(err, ErrNoSlot) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r.most != slots || len(tree(t, w.root)) != slots {
		t.Errorf("%d slots were claimed, of %d: %v", r.most, slots, tree(t, w.root))
	}
}

// TestClaimRacesOfProcesses: the same among processes, each of which proves its slot before it gives it back.
func TestClaimRacesOfProcesses(t *testing.T) {
	w := newWorld(t, 8)
	var all sync.WaitGroup
	for range 4 {
		cmd := helperCommand(t, "claims", w.root, w.state, "40")
		all.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.mustBeEmpty()
}

// TestModesDespiteUmask is not parallel: the umask is the process's.
func TestModesDespiteUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o177} {
		w := newWorld(t, 8)
		s := filledUnder(w, umask)
		for path := range tree(t, w.root) {
			f, err := statAt(unix.AT_FDCWD, path)
			must(t, err)
			if want := map[bool]uint32{true: 0o700, false: 0o400}[f.isDir()]; f.perm != want {
				t.Errorf("umask %04o: %s has mode %04o, want %04o", umask, path, f.perm, want)
			}
		}
		if d := s.Remove(SetupIncomplete); d.State != StateRemoved {
			t.Errorf("%+v", d)
		}
	}
}

func filledUnder(w *world, umask int) *Slot {
	defer unix.Umask(unix.Umask(umask))
	return w.filled()
}

// TestClaimNeedsAWritableRoot: a claim that fails for another reason than a taken name says so and holds nothing.
func TestClaimNeedsAWritableRoot(t *testing.T) {
	w := newWorld(t, 2)
	root, err := w.pool.Open()
	must(t, err)
	defer root.Close()
	must(t, os.Remove(w.root)) // the handle stays; nothing can be made through it
	if _, err := root.Claim(); err == nil || errors.Is(err, ErrNoSlot) {
		t.Errorf("got %v, want what the system said", err)
	}
	must(t, os.Mkdir(w.root, 0o700))
	if s := claim(t, w.pool); s.Number() != 0 {
		t.Errorf("claimed %s, want slot-0", s.Name())
	}
}

// TestOrderOfTheLine: each step out of order, and a second settling, stops the program.
func TestOrderOfTheLine(t *testing.T) {
	w := newWorld(t, 8)
	panics := func(name string, act func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s went through", name)
			}
		}()
		act()
	}
	s := claim(t, w.pool)
	panics("Verify before Materialise", func() { s.Verify() })
	must(t, s.Materialise("r", programOf(t), inputOf(t), ourselves()))
	panics("Materialise twice", func() { s.Materialise("r", programOf(t), inputOf(t), ourselves()) })
	panics("Recheck without evidence", func() { s.Recheck(nil) })
	v, err := s.Verify()
	must(t, err)
	panics("Recheck with a forgery", func() { s.Recheck(&Verified{slot: s}) })
	panics("an unknown reason", func() { s.Quarantine("because", "") })
	must(t, s.Recheck(v))
	s.Remove(NamespaceChanged)
	panics("Remove twice", func() { s.Remove(NamespaceChanged) })
	panics("Quarantine after Remove", func() { s.Quarantine(Unresolved, "") })
	panics("Verify after Remove", func() { s.Verify() })
	panics("a slot from nowhere", func() { new(Slot).Remove(NamespaceChanged) })
	broken := claim(t, w.pool)
	must(t, os.Mkdir(broken.Path()+"/input", 0o700))
	if err := broken.Materialise("r", programOf(t), inputOf(t), ourselves()); err == nil {
		t.Error("input was there already, and it went unnoticed")
	}
	panics("Verify of a part", func() { broken.Verify() })
}
