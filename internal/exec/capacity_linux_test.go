package exec

import (
	"context"
	"sync"
	"testing"
)

// TestMoreRunsThanSlots: of runs that all counted an empty root, exactly as many
// start as there are slots, and no slot is lent again while one of them lives.
func TestMoreRunsThanSlots(t *testing.T) {
	for range rounds(t) {
		t.Run("", func(t *testing.T) { moreRunsThanSlots(t, 12) })
	}
}

func moreRunsThanSlots(t *testing.T, runs int) {
	w := newWorld(t)
	w.useStandIn()
	w.does("wait")
	var counted sync.WaitGroup // no run goes on before all have counted
	counted.Add(runs)
	w.trace.Counted = func(i CountedInfo) {
		if i.Retained != 0 {
			t.Errorf("%d entries were counted", i.Retained)
		}
		counted.Done()
		counted.Wait()
	}
	started := make(chan string, runs)
	w.trace.Admitted = func(i AdmittedInfo) { started <- i.Namespace }
	e := w.executor()
	w.pin(e)
	req, faults := NewRequest(w.spec, e.MaxDescriptors())
	if faults != nil {
		t.Fatal(faults)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make(chan Result, runs)
	for range runs {
		go func() {
			result, _ := e.Run(ctx, req, nil)
			results <- result
		}()
	}
	for range runs - w.max { // the others run until they are cancelled
		r, ok := (<-results).(NotStarted)
		if !ok || r.Reason != ReasonRetainedLimit || r.Namespace != nil {
			t.Fatalf("a run that cannot have a slot came to %+v", r)
		}
	}
	for range w.max {
		select {
		case <-started:
		case r := <-results:
			t.Fatalf("a run that had a slot came to %+v", r)
		}
	}
	cancel()
	for range w.max {
		if r, ok := (<-results).(Observed); !ok || r.Process.Stopped != StopCancelled {
			t.Errorf("a run that had a slot came to %+v", r)
		}
	}
	if w.rootNow() != "empty" {
		t.Error("the root is not empty afterwards")
	}
}
