package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"confined/internal/ns"
)

var slotTag = `"` + strings.Repeat("ab", 32) + `"`

func shownSlot() ns.SlotContents {
	return ns.SlotContents{
		Slot: ns.SlotInfo{Name: "slot-0", State: ns.Quarantined, Reason: ns.Unresolved, RunID: "r", Message: "m"}, Users: []int{7, 9}, Tag: slotTag,
		Entries: []ns.Entry{
			{Path: "program", Kind: ns.KindDirectory}, {Path: "program/a", Kind: ns.KindFile, Size: 3, SHA256: strings.Repeat("a", 64)},
			{Path: "program/<b>", Kind: ns.KindSymlink, Size: 1}, {Path: `"c\n"`, Kind: ns.KindOther},
		},
	}
}

func (r *rig) deleteSlot(t *testing.T, name string, ifMatch ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest(http.MethodDelete, "/v1/slots/"+name, nil)
	for _, tag := range ifMatch {
		req.Header.Add("If-Match", tag)
	}
	return r.do(t, req)
}

func TestGetSlot(t *testing.T) {
	r := newRig(t, nil)
	r.pool.show = func(name string) (ns.SlotContents, error) { return shownSlot(), nil }
	w := r.get(t, "/v1/slots/slot-0")
	var d SlotDetail
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != 200 || w.Header().Get("ETag") != slotTag {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if d.Slot.Name != "slot-0" || d.Slot.State != SlotStateQuarantined || *d.Slot.Message != "m" || !slices.Equal(d.Users, []int{7, 9}) || len(d.Entries) != 4 {
		t.Errorf("%s", w.Body)
	}
	if a, b := d.Entries[1], d.Entries[2]; a.Path != "program/a" || a.Size != 3 || *a.Sha256 != strings.Repeat("a", 64) || b.Path != "program/<b>" || b.Kind != SlotEntryKindSymlink || b.Sha256 != nil {
		t.Errorf("%s", w.Body)
	}
	head := r.do(t, httptest.NewRequest(http.MethodHead, "/v1/slots/slot-0", nil))
	if head.Code != 200 || head.Header().Get("ETag") != slotTag {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
}

// TestGetSlotTellsWhatItHides: in the one place that is for people; and a list
// that is empty is a list.
func TestGetSlotTellsWhatItHides(t *testing.T) {
	r := newRig(t, nil)
	for message, want := range map[string]string{"": "it cannot be shown whole: h", "m": "m; it cannot be shown whole: h"} {
		r.pool.show = func(name string) (ns.SlotContents, error) {
			return ns.SlotContents{Slot: ns.SlotInfo{Name: name, State: ns.Leftover, Message: message}, Hidden: "h", Tag: slotTag}, nil
		}
		w := r.get(t, "/v1/slots/slot-1")
		var d SlotDetail
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || *d.Slot.Message != want || !strings.Contains(w.Body.String(), `"entries":[]`) || !strings.Contains(w.Body.String(), `"users":[]`) {
			t.Errorf("%v %s", err, w.Body)
		}
	}
}

// TestReleaseSlot: what became of it is the answer, and stands in the log.
func TestReleaseSlot(t *testing.T) {
	for _, c := range []struct {
		d    ns.Disposition
		want string
	}{
		{ns.Disposition{State: ns.StateRemoved, Durable: true}, `{"durable":true,"state":"removed"}`},
		{ns.Disposition{State: ns.StateRemoved, Message: "fsync"}, `{"durable":false,"state":"removed"}`},
		{ns.Disposition{State: ns.StateQuarantined, Path: "/r/slot-0", Reason: ns.RemovalFailed, Message: "m"}, `{"message":"m","path":"/r/slot-0","reason":"removal-failed","state":"quarantined"}`},
	} {
		r := newRig(t, nil)
		var name, tag string
		r.pool.release = func(n, t string) (ns.Disposition, error) { name, tag = n, t; return c.d, nil }
		w := r.deleteSlot(t, "slot-0", slotTag)
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) != c.want || name != "slot-0" || tag != slotTag {
			t.Errorf("%d %s, for %s %s", w.Code, w.Body, name, tag)
		}
		if log := r.log.String(); !strings.Contains(log, `"msg":"slot release"`) || !strings.Contains(log, `"slot":"slot-0","state":"`+c.d.State+`"`) {
			t.Errorf("the log: %s", log)
		}
	}
}

func TestSlotRefusals(t *testing.T) {
	r := newRig(t, nil)
	for code, err := range map[ProblemCode]error{
		ProblemCodeSlotUnknown: ns.ErrSlotUnknown, ProblemCodeSlotBusy: &ns.BusyError{Problem: "processes 7 9", Cure: "end them"},
		ProblemCodeNotReady: &ns.RootError{Problem: "p", Cure: "c"}, ProblemCodeSlotChanged: ns.ErrSlotChanged,
	} {
		r.pool.release = func(string, string) (ns.Disposition, error) { return ns.Disposition{}, err }
		p := problemOf(t, r.deleteSlot(t, "slot-0", slotTag))
		if p.Code != code || code != ProblemCodeSlotUnknown && code != ProblemCodeSlotChanged && !strings.HasSuffix(p.Detail, err.Error()) {
			t.Errorf("DELETE: %+v, want %s", p, code)
		}
	}
	for code, err := range map[ProblemCode]error{ProblemCodeSlotUnknown: ns.ErrSlotUnknown, ProblemCodeNotReady: errors.New("gone")} {
		r.pool.show = func(string) (ns.SlotContents, error) { return ns.SlotContents{}, err }
		if p := problemOf(t, r.get(t, "/v1/slots/slot-9")); p.Code != code {
			t.Errorf("GET: %+v, want %s", p, code)
		}
	}

	r.pool.listing.Slots = []ns.SlotInfo{{Name: "slot-0", State: ns.Leftover}, {Name: "slot-3", State: ns.Free}}
	r.pool.show = func(string) (ns.SlotContents, error) { return ns.SlotContents{}, ns.ErrSlotUnknown }
	for name, want := range map[string]string{"slot-3": "slot-3 is free: there is nothing to release", "slot-9": `the root has no entry "slot-9"; GET /v1/slots lists what it has`} {
		if p := problemOf(t, r.get(t, "/v1/slots/"+name)); p.Detail != want {
			t.Errorf("%s: got %q, want %q", name, p.Detail, want)
		}
	}
}

// TestIfMatch: a release without it, or with more than one, does not reach the
// pool; what could never match is told from what no longer does.
func TestIfMatch(t *testing.T) {
	r := newRig(t, nil)
	r.pool.release = func(string, string) (ns.Disposition, error) {
		t.Error("it reached the pool")
		return ns.Disposition{}, nil
	}
	for code, tags := range map[ProblemCode][]string{ProblemCodePreconditionRequired: nil, ProblemCodeSlotChanged: {slotTag, slotTag}} {
		if p := problemOf(t, r.deleteSlot(t, "slot-0", tags...)); p.Code != code || !strings.Contains(p.Detail, "If-Match") {
			t.Errorf("%+v, want %s", p, code)
		}
	}
	if p := problemOf(t, r.deleteSlot(t, "slot-0", "")); p.Code != ProblemCodeSlotChanged {
		t.Errorf("empty: %+v", p)
	}
	var got string
	r.pool.release = func(_, tag string) (ns.Disposition, error) { got = tag; return ns.Disposition{}, ns.ErrSlotChanged }
	for tag, want := range map[string]string{
		"*": "quote the ETag", "W/" + slotTag: "a weak tag", strings.Trim(slotTag, `"`): "with its double quotes", slotTag + ", " + slotTag: "is not an ETag of a slot",
		"%22": "is not an ETag", slotTag: "is not, or no longer, what this ETag covers",
	} {
		if p := problemOf(t, r.deleteSlot(t, "slot-0", tag)); p.Code != ProblemCodeSlotChanged || !strings.Contains(p.Detail, want) || got != tag {
			t.Errorf("%s reached the pool as %s: %+v", tag, got, p)
		}
	}
}

func TestSlotMethods(t *testing.T) {
	r := newRig(t, nil)
	for _, method := range []string{http.MethodPut, http.MethodPost, http.MethodPatch} {
		w := r.do(t, httptest.NewRequest(method, "/v1/slots/slot-0", nil))
		if p := problemOf(t, w); p.Code != ProblemCodeMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD, DELETE" {
			t.Errorf("%s: %+v, Allow %q", method, p, w.Header().Get("Allow"))
		}
	}
}

// TestEntryKindsAreTheContracts: as the other enums.
func TestEntryKindsAreTheContracts(t *testing.T) {
	kinds := mustContract(t).Doc.Components.Schemas["SlotEntry"].Value.Properties["kind"].Value.Enum
	if got, want := words(anyWords(kinds)...), words(ns.EntryKinds()...); !slices.Equal(got, want) {
		t.Errorf("the contract has %v, the pool %v", got, want)
	}
}
