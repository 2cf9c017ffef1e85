package e2e

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
)

// mustBeRight fails unless got is what a run of r that nothing disturbed must
// be: observed, attributable, admitted under the limits asked for, of exactly
// the pinned things, with its slot gone. How the program fared is not judged.
func (d *daemon) mustBeRight(t testing.TB, r runRequest, got result) {
	t.Helper()
	if got.Status != "observed" || !got.Attributable || got.Problems == nil || len(got.Problems) > 0 {
		t.Fatalf("the run is %s %s %s, attributable %v, problems %v", got.Status, got.Reason, got.Message, got.Attributable, got.Problems)
	}
	p := got.Process
	if p.Admission != "admitted" || !p.PipesClosed || p.Exit == nil || (p.Exit.Code == nil) == (p.Exit.Signal == nil) {
		t.Errorf("process: %+v", p)
	}
	if got.Namespace == nil || got.Namespace.State != "removed" || !got.Namespace.Durable {
		t.Errorf("namespace: %+v", got.Namespace)
	}
	if r.id != "" && got.RunID != r.id {
		t.Errorf("runId is %q, want %q", got.RunID, r.id)
	}
	if p.PID <= 0 || p.DurationMs <= 0 || p.Usage == nil || p.Usage.MaxRSSBytes < 1<<20 || p.Usage.UserMs+p.Usage.SystemMs <= 0 {
		t.Errorf("pid %d, duration %v, usage %+v", p.PID, p.DurationMs, p.Usage)
	}
	kept := int64(len(p.Stdout.plain(t)) + len(p.Stderr.plain(t)))
	if kept != min(p.OutputBytes, r.maxOutputBytes) {
		t.Errorf("%d bytes of output kept of %d, with a bound of %d", kept, p.OutputBytes, r.maxOutputBytes)
	}
	mustMeasure(t, r, p.Limits)
	d.mustIdentify(t, r, got.Identities)
}

// mustMeasure compares the limits in force with the request: soft and hard
// alike, and nothing to be written, neither cores nor files.
func mustMeasure(t testing.TB, r runRequest, got *limits) {
	t.Helper()
	same := func(n int64) limitPair {
		number := json.RawMessage(strconv.FormatInt(n, 10))
		return limitPair{Soft: number, Hard: number}
	}
	want := limits{CPUSeconds: same(r.cpuSeconds), Descriptors: same(r.maxDescriptors), CoreBlocks: same(0), FileBlocks: same(0)}
	if got == nil || text(t, *got) != text(t, want) {
		t.Errorf("measured limits %+v, want %+v", got, want)
	}
}

// mustIdentify compares what the daemon says it ran with the request, whose
// digests these tests compute themselves.
func (d *daemon) mustIdentify(t testing.TB, r runRequest, got identities) {
	t.Helper()
	d.pins(t)
	if got.Program.Digest != r.program.digest() || got.Program.Entry != r.entry || !slices.Equal(got.Program.Args, r.args) || got.Program.Args == nil {
		t.Errorf("program is %+v", got.Program)
	}
	if got.Input != r.input.digest() || got.Runtime != d.runtime || got.Profile.Digest != d.profile {
		t.Errorf("input, runtime or profile are not the pinned ones: %+v", got)
	}
	if want := (bounds{r.timeoutMs, r.maxOutputBytes, r.cpuSeconds, r.maxDescriptors}); got.Bounds != want {
		t.Errorf("bounds are %+v, want %+v", got.Bounds, want)
	}
}
