package client

import (
	"errors"
	"os"
	"strings"
	"testing"

	"confined/client/api"
)

// testLive: a run that is told of, listed and asked to stop while it goes, and a
// slot that is released.
func testLive(t *testing.T, d *realDaemon, pins Pins) {
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		j := script(t, pins, `
			import { writeSync } from 'node:fs';
			const torn = Buffer.from('é€😀');
			for (let i = 0; i < torn.length; i++) { writeSync(1, torn, i, 1); writeSync(2, 'x'); }
			writeSync(1, Buffer.from([0xff, 0x0a]));
			process.exit(3);`)
		told := map[api.OutputEventStream]string{}
		var stages []string
		r, err := d.Stream(t.Context(), j, func(e Event) {
			told[e.Stream] += string(e.Output)
			stages = append(stages, string(e.Stage))
		})
		must(t, err)
		if code, ok := r.ExitCode(); code != 3 || !ok || string(r.Stdout()) != "é€😀\xff\n" || told["stdout"] != string(r.Stdout()) || told["stderr"] != "xxxxxxxxx" {
			t.Errorf("told %q: %s", told, r.Raw)
		}
		if got := strings.Join(strings.Fields(strings.Join(stages, " ")), " "); got != "counted materialised launched admitted collected settled" {
			t.Errorf("the stages were %s", got)
		}
	})
	t.Run("a stream that ends without a process", func(t *testing.T) {
		t.Parallel()
		r, err := d.Stream(t.Context(), script(t, Pins{Runtime: pins.Runtime, Profile: emptyDigest}, ""), func(Event) {})
		must(t, err)
		if r.NotStarted == nil || r.NotStarted.Reason != api.NotStartedReasonProfileMismatch {
			t.Errorf("%s", r.Raw)
		}
	})
	t.Run("a stream that is refused", func(t *testing.T) {
		t.Parallel()
		j := script(t, pins, "")
		j.Bounds = Bounds{TimeoutMs: 1}
		_, err := d.Stream(t.Context(), j, func(Event) { t.Error("told of a run that is none") })
		if got := outcomeOf(t, j.ID, err); got != isProblem {
			t.Errorf("it is %s: %v", got, err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		j := script(t, pins, "console.log('ready'); setInterval(() => {}, 1000)")
		r, err := d.Stream(t.Context(), j, func(e Event) {
			if e.Type != EventOutput {
				return
			}
			runs, err := d.Runs(t.Context())
			if !goesOn(runs, j) || err != nil {
				t.Errorf("%s is not listed among %+v, %v", j.ID, runs, err)
			}
			if err := d.Cancel(t.Context(), j.ID); err != nil {
				t.Error(err)
			}
		})
		must(t, err)
		if stop := r.Process().Stopped; !r.Attributable() || stop == nil || *stop != api.StopReasonCancelled {
			t.Errorf("%s", r.Raw)
		}
		var p *ProblemError
		if err := d.Cancel(t.Context(), j.ID); !errors.As(err, &p) || p.Problem.Code != api.ProblemCodeRunUnknown {
			t.Errorf("once it has ended: %v", err)
		}
	})
	t.Run("slots", func(t *testing.T) {
		t.Parallel()
		all, err := d.Slots(t.Context())
		must(t, err)
		left := all.Root + "/slot-7"
		must(t, os.Mkdir(left, 0o700))
		must(t, os.WriteFile(left+"/canary", []byte("1"), 0o400))
		detail, etag, err := d.Slot(t.Context(), "slot-7")
		must(t, err)
		if detail.Slot.State != api.SlotStateLeftover || len(detail.Entries) != 1 || detail.Entries[0].Path != "canary" {
			t.Errorf("slot-7 is %+v", detail)
		}
		var p *ProblemError
		if _, err := d.ReleaseSlot(t.Context(), "slot-7", `"other"`); !errors.As(err, &p) || p.Problem.Code != api.ProblemCodeSlotChanged {
			t.Errorf("with another ETag: %v", err)
		}
		ns, err := d.ReleaseSlot(t.Context(), "slot-7", etag)
		must(t, err)
		if v, err := ns.ValueByDiscriminator(); v != (api.Removed{State: api.RemovedStateRemoved, Durable: true}) || err != nil {
			t.Errorf("it is %+v, %v", v, err)
		}
		if _, err := os.Lstat(left); !os.IsNotExist(err) {
			t.Errorf("it is still there: %v", err)
		}
	})
}

func goesOn(runs []api.LiveRun, j Job) bool {
	for _, run := range runs {
		if run.RunID == j.ID && run.Program == j.Program.Digest() && run.Stage == api.StageAdmitted {
			return true
		}
	}
	return false
}
