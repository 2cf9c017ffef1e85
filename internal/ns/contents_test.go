package ns

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatFillsTheRoot(t *testing.T) {
	l := Listing{Root: "/r", MaxRetained: 4, Counted: 3, Slots: []SlotInfo{
		{Name: "slot-0", State: Running}, {Name: "slot-1", State: Free}, {Name: "slot-2", State: Elsewhere}}}
	const live = "slot-0 (running), slot-2 (elsewhere): leftovers are never reclaimed automatically: wait until one of these runs ends"
	if said, cure := l.Contents(); said+": "+cure != live {
		t.Errorf("%s: %s", said, cure)
	}
	l.Slots = append(l.Slots, SlotInfo{Name: "slot-3", State: Quarantined, Reason: Unresolved}, SlotInfo{Name: "slot-9", State: Leftover})
	for i := range 3 {
		l.Slots = append(l.Slots, SlotInfo{Name: fmt.Sprintf("a %d\xff", i), State: Foreign})
	}
	said, cure := l.Contents()
	got := said + "; " + cure
	for _, want := range []string{
		"slot-3 (quarantined, unresolved), slot-9 (leftover), 3 more;", "GET /v1/slots/slot-3", "`confined slots release slot-3`",
		`move "a 0\xff" out of the root`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	l.Slots = []SlotInfo{{Name: "kept", State: Quarantined, Reason: Unresolved}} // renamed: known by its inode
	if _, cure := l.Contents(); !strings.HasSuffix(cure, ": move kept out of the root, which is for slots only") {
		t.Errorf("no release is for such a name: %s", cure)
	}
	if strings.Contains(got, "wait until") {
		t.Errorf("waiting is no cure: %s", got)
	}
}
