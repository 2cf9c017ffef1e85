package prove

import (
	"slices"
	"testing"
)

// TestStrictRows: a row that may have no control is one of the table, by that name.
func TestStrictRows(t *testing.T) {
	names := slices.Concat(priorityRows(), policyRows())
	for _, r := range rooms() {
		names = append(names, r.row)
	}
	for look, row := range boundsByLook() {
		names = append(names, look, row)
	}
	table := ProbesOn("linux", "amd64")
	for _, name := range names {
		if !slices.ContainsFunc(table, func(p Probe) bool { return p.Name == name }) {
			t.Errorf("no row is called %q", name)
		}
	}
}
