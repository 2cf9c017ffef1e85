package exec

import (
	"context"
	"fmt"
	"testing"
)

// TestCancelledAtTheGate: a run that is cancelled when its limits arrive is not let in, also where the collector has not come to the
// cancellation yet: of two things that are ready it may take either first.
func TestCancelledAtTheGate(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		p := versionProcess(t, onLinux)
		bounds := Bounds{CPUSeconds: 60, MaxDescriptors: 64}
		c := &collector{process: p, bounds: bounds, clock: startStopwatch(), confirm: stoppedTimer()}
		ctx, cancel := context.WithCancel(t.Context())
		if cancelled {
			cancel()
		}
		c.onControl(ctx, fmt.Appendf(nil, "%d\n%[1]d\n%[2]d\n%[2]d\n0\n0\n0\n0\n", bounds.CPUSeconds, bounds.MaxDescriptors))
		if c.opened == cancelled || (c.stopped == StopCancelled) != cancelled || c.killed != cancelled {
			t.Errorf("cancelled %v: opened %v, stopped %q, killed %v", cancelled, c.opened, c.stopped, c.killed)
		}
		cancel()
		_, _ = p.Wait()
		c.release()
	}
}
