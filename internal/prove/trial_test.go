package prove

import (
	"context"
	"errors"
	"testing"
)

// TestPrinted: the words are lines of their own, however the output arrives.
func TestPrinted(t *testing.T) {
	for _, row := range []struct {
		output      string
		ready, done bool
	}{
		{"ready\n", true, false},
		{"\nready\n{}\n\ndone\n", true, true},
		{"already\n", false, false},
		{"ready", false, false},
		{"x\nready\ndone \n", true, false},
	} {
		for step := 1; step <= len(row.output); step++ {
			p := newTrial()
			for end := step; end < len(row.output); end += step {
				p.printed([]byte(row.output[:end]))
			}
			p.printed([]byte(row.output))
			if closed(p.ready) != row.ready || closed(p.done) != row.done {
				t.Errorf("%q in steps of %d: ready %v, done %v", row.output, step, closed(p.ready), closed(p.done))
			}
		}
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestAwait: a word that came counts, also of a process that has ended since; an end or a cancellation without it ends the wait.
func TestAwait(t *testing.T) {
	p := newTrial()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.await(ctx, p.ready); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(p.ready)
	close(p.over)
	if err := p.await(t.Context(), p.ready); err != nil {
		t.Errorf("said, and over: %v", err)
	}
	if err := p.await(t.Context(), p.done); !errors.Is(err, errOver) {
		t.Errorf("over without a word: %v", err)
	}
}
