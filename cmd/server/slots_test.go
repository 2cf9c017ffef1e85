package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"confined/client"
	"confined/client/api"
)

func TestTabulate(t *testing.T) {
	at := time.Date(2026, 11, 29, 18, 0, 0, 0, time.Local)
	id, reason, message := "r-1", api.QuarantineReasonUnresolved, "pid 7\n\x1b[31mstill there"
	var out bytes.Buffer
	err := tabulate(&out, &api.Slots{Root: "/r", MaxRetained: 3, Counted: 2, Free: 1, Slots: []api.Slot{
		{Name: "slot-0", State: api.SlotStateQuarantined, RunID: &id, SinceAt: &at, Reason: &reason, Message: &message},
		{Name: "slot-1", State: api.SlotStateFree},
		{Name: "no slot", State: api.SlotStateForeign},
	}})
	want := `NAME     STATE        RUN  SINCE                REASON
slot-0   quarantined  r-1  2026-11-29 18:00:00  unresolved: pid 7 ^[[31mstill there
slot-1   free         -    -                    -
no slot  foreign      -    -                    -
1 of 3 free in /r
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n got\n%s\nwant\n%s", err, &out, want)
	}
}

func TestContents(t *testing.T) {
	d := &api.SlotDetail{Slot: api.Slot{Name: "slot-0", State: api.SlotStateLeftover}, Users: []int{7, 12}, Entries: []api.SlotEntry{
		{Path: "program", Kind: api.SlotEntryKindDirectory}, {Path: "program/main.mjs", Kind: api.SlotEntryKindFile, Size: 5},
		{Path: "canary", Kind: api.SlotEntryKindFile, Size: 37}, {Path: "program/x", Kind: api.SlotEntryKindSymlink, Size: 1},
	}}
	want := "slot-0: leftover\nfiles 2, directories 1, bytes 43, entries that no run makes 1; in use by the processes 7 12\n"
	if got := contents(d); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestReleaseText(t *testing.T) {
	for name, row := range map[string]struct {
		namespace api.Namespace
		want      string
		removed   bool
	}{
		"removed": {namespaceOf(t, ""), "slot-0 is removed", true},
		"kept":    {namespaceOf(t, api.QuarantineReasonRemovalFailed), "slot-0 is kept, what is left of it: /r/slot-0 (removal-failed: what was found)", false},
		"neither": {api.Namespace{}, "not understood", false},
	} {
		if text, removed := releaseText("slot-0", row.namespace); removed != row.removed || !strings.Contains(text, row.want) {
			t.Errorf("%s: %q, %v", name, text, removed)
		}
	}
	var volatile api.Namespace
	if err := volatile.FromRemoved(api.Removed{State: api.RemovedStateRemoved}); err != nil {
		t.Fatal(err)
	}
	if text, removed := releaseText("slot-0", volatile); !removed || !strings.Contains(text, "could not be synced") {
		t.Errorf("not durable: %q, %v", text, removed)
	}
}

func TestReleaseRefusal(t *testing.T) {
	for err, want := range map[error]string{
		problem(412, api.ProblemCodeSlotChanged): "look at it again",
		problem(409, api.ProblemCodeSlotBusy):    "nothing was removed",
		problem(404, api.ProblemCodeSlotUnknown): "slot-unknown: why",
		&client.NoDaemonError{Socket: "/s"}:      "`confined slots` says what became of slot-0",
	} {
		if got := releaseRefusal("slot-0", err); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q in it", err, got, want)
		}
	}
}
