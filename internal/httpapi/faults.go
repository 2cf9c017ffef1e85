package httpapi

import (
	"strings"
	"unicode/utf8"

	"confined/internal/exec"
	"confined/internal/pins"
)

const (
	maxFaults       = 64  // in one problem
	maxPointerBytes = 512 // a longer one names no path that could be valid
	maxDetailBytes  = 4096
)

// faults gathers what is wrong with one request, at most one fault for each
// pointer: the first that is found there.
type faults struct {
	list  []Fault // at most maxFaults
	total int
	seen  map[string]bool
}

// add records a fault. Text from outside is cut and made valid UTF-8 here.
func (f *faults) add(code FaultCode, pointer, detail string) {
	pointer = printable(pointer, maxPointerBytes)
	if f.seen[pointer] {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.total++
	if len(f.list) == maxFaults {
		return
	}
	f.seen[pointer] = true
	f.list = append(f.list, Fault{Code: code, Pointer: pointer, Detail: printable(detail, maxDetailBytes)})
}

// join records what was found elsewhere.
func (f *faults) join(other *faults) {
	unlisted := other.total - len(other.list)
	for _, fault := range other.list {
		f.add(fault.Code, fault.Pointer, fault.Detail)
	}
	f.total += unlisted
}

// covers says whether pointer, or something it lies in, already has a fault.
func (f *faults) covers(pointer string) bool {
	for {
		if f.seen[pointer] {
			return true
		}
		slash := strings.LastIndexByte(pointer, '/')
		if slash < 0 {
			return false
		}
		pointer = pointer[:slash]
	}
}

// ofSnapshot records the faults of the files under tree, such as /program/files.
// A fault of all of them together is that of the first file beyond the bound.
func (f *faults) ofSnapshot(tree string, found []pins.Fault) {
	for _, fault := range found {
		f.add(FaultCode(fault.Code), tree+"/"+escapePointer(fault.Path), fault.Detail)
	}
}

// ofRequest records what exec finds wrong, except where a field could not even
// be read: what is said of a missing field's zero value would be misleading.
func (f *faults) ofRequest(found []exec.Fault) {
	for _, fault := range found {
		if !f.covers(fault.Pointer) {
			f.add(FaultCode(fault.Code), fault.Pointer, fault.Detail)
		}
	}
}

// printable makes s valid UTF-8 of at most about limit bytes.
func printable(s string, limit int) string {
	if len(s) > limit {
		cut := limit
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
