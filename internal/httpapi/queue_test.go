package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func always(int) bool { return true }

// stay enters, waits, stays for d and leaves; the result says how it went.
func stay(ctx context.Context, q *queue, id string, d time.Duration) error {
	t, ctx, err := q.enter(ctx, summary{id: id})
	if err != nil {
		return err
	}
	defer t.close()
	if _, err := t.await(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	t.leave(true)
	return nil
}

// pass lets time pass, which in a bubble takes none.
func pass(d time.Duration) { <-time.After(d) }

func codeIs(err error, code ProblemCode) bool {
	var r *refusal
	return errors.As(err, &r) && r.code == code
}

// settled checks that nothing is left in q.
func settled(t *testing.T, q *queue) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.running)+len(q.waiting)+q.open != 0 {
		t.Errorf("%d run, %d wait, %d are open", len(q.running), len(q.waiting), q.open)
	}
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 10, always)
		var order []int
		var mu sync.Mutex
		for i := range 10 {
			go func() {
				ticket, ctx, err := q.enter(t.Context(), summary{id: fmt.Sprint(i)})
				if err != nil {
					t.Error(err)
					return
				}
				defer ticket.close()
				if _, err := ticket.await(ctx); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				pass(time.Second)
				ticket.leave(true)
			}()
			synctest.Wait()
		}
		pass(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if !slices.IsSorted(order) || len(order) != 10 {
			t.Errorf("order %v", order)
		}
		settled(t, q)
	})
}

func TestQueueIsBounded(t *testing.T) {
	for _, bound := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(2, bound, always)
			for i := range 2 + bound {
				go func() {
					if err := stay(t.Context(), q, fmt.Sprint(i), time.Second); err != nil {
						t.Error(err)
					}
				}()
			}
			synctest.Wait()
			if err := q.full(); !codeIs(err, ProblemCodeQueueFull) {
				t.Errorf("full: %v", err)
			}
			if err := stay(t.Context(), q, "late", time.Second); !codeIs(err, ProblemCodeQueueFull) {
				t.Errorf("late: %v", err)
			}
			pass(time.Minute)
			if err := stay(t.Context(), q, "late", time.Second); err != nil {
				t.Errorf("a refused id must stay free: %v", err)
			}
			settled(t, q)
		})
	}
}

// TestQueueLeavesRoom runs against a root that others use: never more runs than
// there is room for, except the first, which may find that out for itself.
func TestQueueLeavesRoom(t *testing.T) {
	for others := range 5 {
		synctest.Test(t, func(t *testing.T) {
			const maxRetained = 4
			q := newQueue(8, 100, func(live int) bool { return live == 0 || live+others < maxRetained })
			var live, most int
			var mu sync.Mutex
			for i := range 20 {
				go func() {
					ticket, ctx, err := q.enter(t.Context(), summary{id: fmt.Sprint(i)})
					if err != nil {
						t.Error(err)
						return
					}
					defer ticket.close()
					if _, err := ticket.await(ctx); err != nil {
						t.Error(err)
					}
					mu.Lock()
					live++
					most = max(most, live)
					mu.Unlock()
					pass(time.Second)
					mu.Lock()
					live--
					mu.Unlock()
					ticket.leave(true)
				}()
			}
			pass(time.Hour)
			mu.Lock()
			defer mu.Unlock()
			if want := max(1, maxRetained-others); most != want {
				t.Errorf("with %d others %d runs were alive at once, want %d", others, most, want)
			}
			settled(t, q)
		})
	}
}

func TestQueueForgetsWhoGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 10, always)
		go stay(t.Context(), q, "first", time.Second)
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { gone <- stay(ctx, q, "gone", time.Second) }()
		synctest.Wait()
		go func() {
			if err := stay(t.Context(), q, "third", time.Second); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		leave()
		if err := <-gone; !errors.Is(err, errCancelled) {
			t.Errorf("gone: %v", err)
		}
		pass(1500 * time.Millisecond)
		if running, waiting := q.gauges(); running != 1 || waiting != 0 {
			t.Errorf("%d run, %d wait: the third should run", running, waiting)
		}
		pass(time.Minute)
		if err := stay(t.Context(), q, "gone", 0); err != nil {
			t.Errorf("the id of a run that never started must be free: %v", err)
		}
		settled(t, q)
	})
}

func TestQueueDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 10, always)
		results := make(chan error, 3)
		go func() { results <- stay(t.Context(), q, "alive", time.Hour) }()
		synctest.Wait()
		for i := range 2 {
			go func() { results <- stay(t.Context(), q, fmt.Sprint(i), time.Hour) }()
		}
		synctest.Wait()
		q.drain(time.Now().Add(30 * time.Second))
		for range 2 {
			if err := <-results; !codeIs(err, ProblemCodeDraining) {
				t.Errorf("a waiting run got %v", err)
			}
		}
		if err := q.full(); !codeIs(err, ProblemCodeDraining) {
			t.Errorf("full: %v", err)
		}
		if got := q.estimate(); got != 30*time.Second {
			t.Errorf("Retry-After while draining is %v", got)
		}
		synctest.Wait()
		select {
		case <-q.idle:
			t.Error("idle while a run is alive")
		default:
		}
		start := time.Now()
		q.cancel()
		<-q.idle
		if err := <-results; err != nil || time.Since(start) != 0 {
			t.Errorf("the run that was alive: %v after %v", err, time.Since(start))
		}
		q.drain(time.Now()) // a second time changes nothing
		settled(t, q)
	})
}

func TestQueueDrainsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 1, always)
		q.drain(time.Now())
		<-q.idle
	})
}

func TestRunIDsAreUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 10, always)
		go stay(t.Context(), q, "a", time.Second)
		synctest.Wait()
		for range 2 { // while it is alive, and when it has finished
			if err := stay(t.Context(), q, "a", 0); !codeIs(err, ProblemCodeRunIDUsed) {
				t.Errorf("a second run got the same id: %v", err)
			}
			pass(time.Minute)
		}
		for i := range remembered {
			if err := stay(t.Context(), q, fmt.Sprint("n", i), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := stay(t.Context(), q, "a", 0); err != nil {
			t.Errorf("after %d others: %v", remembered, err)
		}
		if got := len(q.ids.taken); got != remembered {
			t.Errorf("%d ids are remembered", got)
		}
	})
}

func TestEstimateFollowsTheRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2, 100, always)
		for i := range 40 { // more than are remembered
			if err := stay(t.Context(), q, fmt.Sprint(i), 4*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 10 {
			go stay(t.Context(), q, fmt.Sprint("w", i), 4*time.Second)
		}
		synctest.Wait()
		if got := q.estimate(); got != 2*time.Second { // runs of 4 s, two alive
			t.Errorf("estimate %v", got)
		}
		for d, want := range map[time.Duration]int{-time.Second: 1, 0: 1, time.Second: 1, 1001 * time.Millisecond: 2, time.Hour: 60} {
			if got := seconds(d); got != want {
				t.Errorf("Retry-After of %v is %d, want %d", d, got, want)
			}
		}
		pass(time.Hour)
		settled(t, q)
	})
}

// TestQueueUnderRandomLoad lets clients come, leave and finish at random times
// and checks the invariants at every step.
func TestQueueUnderRandomLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 7))
		q := newQueue(3, 20, func(live int) bool { return live < 3 })
		var done sync.WaitGroup
		for i := range 500 {
			patience, work := time.Duration(rng.IntN(3000))*time.Millisecond, time.Duration(rng.IntN(500))*time.Millisecond
			done.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				err := stay(ctx, q, fmt.Sprint(i), work)
				if err != nil && !errors.Is(err, errCancelled) && !codeIs(err, ProblemCodeQueueFull) {
					t.Error(err)
				}
				if running, waiting := q.gauges(); running > 3 || waiting > 20 {
					t.Errorf("%d run, %d wait", running, waiting)
				}
			})
			pass(time.Duration(rng.IntN(60)) * time.Millisecond)
		}
		done.Wait()
		settled(t, q)
	})
}
