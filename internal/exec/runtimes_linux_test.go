package exec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// ownRuntimes are those of a stand-in that the test may change.
func ownRuntimes(t *testing.T) (*world, *runtimes) {
	t.Helper()
	w := newWorld(t)
	w.useStandIn()
	w.ownNode()
	w.pinning = w.executor()
	return w, w.pinning.runtimes
}

func (r *runtimes) mustTake(t *testing.T) takenRuntime {
	t.Helper()
	taken, err := r.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// closed says whether nobody holds the copy any more.
func (t takenRuntime) closed() bool { return t.seal.Image().Check() != nil }

// TestRunsShareOneSeal: however many there are at a time, and one after the other, as long as nothing changes.
func TestRunsShareOneSeal(t *testing.T) {
	_, r := ownRuntimes(t)
	before := len(openDescriptors(t))
	var all [16]takenRuntime
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i] = r.mustTake(t) })
	}
	wait.Wait()
	for _, taken := range all {
		if taken.seal == nil || taken.seal != all[0].seal {
			t.Errorf("held %p, another %p", taken.seal, all[0].seal)
		}
		taken.release()
	}
	again := r.mustTake(t)
	if again.seal != all[0].seal || again.closed() {
		t.Errorf("held %p, before %p", again.seal, all[0].seal)
	}
	again.release()
	r.drop()
	if !again.closed() {
		t.Error("the copy is kept without anybody")
	}
	if after := len(openDescriptors(t)); after > before { // fewer, where a test before was not done with its own
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// TestSupersededSealLastsAsLongAsItsRuns: whatever was changed, the run that holds the copy keeps it and is told; the next
// gets a new one.
func TestSupersededSealLastsAsLongAsItsRuns(t *testing.T) {
	for name, change := range map[string]func(w *world) error{
		"node replaced":              func(w *world) error { return os.Rename(w.otherNode(), w.node) },
		"node swapped and back":      func(w *world) error { return swapBack(w.node) },
		"a library changed in place": func(w *world) error { return appendTo(w.part(), "x") },
		"another library comes first": func(w *world) error {
			first := filepath.Join(filepath.Dir(w.node), "first")
			if err := os.Mkdir(first, 0o755); err != nil {
				return err
			}
			return copyAs(w.part(), filepath.Join(first, partName))
		},
	} {
		w, r := ownRuntimes(t)
		before := len(openDescriptors(t))
		old := r.mustTake(t)
		if now, err := old.again(context.Background()); err != nil || old.Unchanged(now) != nil {
			t.Errorf("%s: the control: %v, %v", name, err, old.Unchanged(now))
		}
		w.must(change(w))
		next := r.mustTake(t)
		if next.seal == old.seal || next.closed() || old.closed() {
			t.Errorf("%s: the next holds the old one: %v; closed: %v, %v", name, next.seal == old.seal, next.closed(), old.closed())
		}
		if now, err := old.again(context.Background()); err == nil && old.Unchanged(now) == nil {
			t.Errorf("%s: it is not told", name)
		}
		if now, err := next.again(context.Background()); err != nil || next.Unchanged(now) != nil {
			t.Errorf("%s: of the next: %v, %v", name, err, next.Unchanged(now))
		}
		old.release()
		if !old.closed() || next.closed() {
			t.Errorf("%s: after its run the old one is closed: %v, the next: %v", name, old.closed(), next.closed())
		}
		next.release()
		r.drop()
		if after := len(openDescriptors(t)); after > before { // fewer, where a test before was not done with its own
			t.Errorf("%s: %d descriptors, %d before", name, after, before)
		}
	}
}

// TestNoRuntimeNoSeal: what can no longer be taken is not held on to, and the next that can be is sealed.
func TestNoRuntimeNoSeal(t *testing.T) {
	w, r := ownRuntimes(t)
	old := r.mustTake(t)
	old.release()
	w.must(os.Rename(w.part(), w.part()+".old"))
	if taken, err := r.take(t.Context()); err == nil {
		t.Errorf("without a library: %+v", taken)
	}
	if !old.closed() {
		t.Error("the copy is kept")
	}
	w.must(os.Rename(w.part()+".old", w.part()))
	again := r.mustTake(t)
	defer again.release()
	if again.seal == nil {
		t.Errorf("not sealed: %v", again.unsealable)
	}
}

// TestCancelledTakeKeepsTheSeal: who goes away takes nothing from the others.
func TestCancelledTakeKeepsTheSeal(t *testing.T) {
	_, r := ownRuntimes(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("there is nothing yet: %v", err)
	}
	held := r.mustTake(t)
	defer held.release()
	if taken, err := r.take(ctx); err == nil {
		taken.release()
	}
	again := r.mustTake(t)
	defer again.release()
	if again.seal != held.seal {
		t.Error("a cancelled look ended the seal")
	}
}

// TestWithoutSealsEverythingIsHashed: a run is what it was, and it is said why.
func TestWithoutSealsEverythingIsHashed(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(w *world)
		want  Integrity
	}{
		"the control":        {func(*world) {}, IntegritySealed},
		"no files in memory": {func(w *world) { w.forbid(unix.SYS_MEMFD_CREATE) }, IntegrityRehashed},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := ownRuntimes(t)
			e := w.executor()
			row.spoil(w)
			d, err := e.DescribeRuntime(t.Context())
			if err != nil || d.Integrity != row.want || (d.Unsealable != nil) != (row.want == IntegrityRehashed) {
				t.Fatalf("%s, %v, %v", d.Integrity, d.Unsealable, err)
			}
			w.spec.Runtime = d.Runtime.Digest
			observedClean.ending("0").check(t, w.run(e), w)
			w.next(t)
			w.own = &Trace{Admitted: func(AdmittedInfo) { w.must(swapBack(w.node)) }}
			observed("runtime-changed").ending("0").check(t, w.run(e), w)
		})
	}
}

// TestSealIsTriedAgainAfterAWhile: there may be memory by then.
func TestSealIsTriedAgainAfterAWhile(t *testing.T) {
	_, r := ownRuntimes(t)
	r.unsealable = &pins.UnsealableError{Problem: "no memory", Cure: "more"}
	for _, row := range []struct {
		refused time.Time
		sealed  bool
	}{{time.Now(), false}, {time.Now().Add(-sealAgain), true}} {
		r.refusedAt = row.refused
		taken := r.mustTake(t)
		defer taken.release()
		if (taken.seal != nil) != row.sealed || (taken.unsealable == nil) != row.sealed {
			t.Errorf("refused at %v: %+v", row.refused, taken)
		}
	}
}
