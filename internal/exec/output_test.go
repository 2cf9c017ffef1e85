package exec

import (
	"bytes"
	"testing"
)

// TestOutputIsCutExactly: the bound holds for both streams together, in order
// of arrival, everything is counted, and overflow is told once.
func TestOutputIsCutExactly(t *testing.T) {
	chunks := []printed{{Stdout, []byte("abc")}, {Stderr, []byte("xyz")}, {Stdout, []byte("12")}}
	rows := []struct {
		name           string
		bound          int64
		stdout, stderr string
		over           int // which chunk exceeds the bound, -1 none
	}{
		{"under", 100, "abc12", "xyz", -1},
		{"exact", 8, "abc12", "xyz", -1},
		{"cut in the last chunk", 7, "abc1", "xyz", 2},
		{"cut in the first chunk", 2, "ab", "", 0},
		{"nothing kept", 0, "", "", 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o := output{bound: row.bound}
			for i, c := range chunks {
				before := len(o.kept[c.stream])
				n, over := o.add(c.stream, c.bytes)
				if over != (i == row.over) || n != len(o.kept[c.stream])-before {
					t.Errorf("chunk %d: %d kept, over %v", i, n, over)
				}
			}
			if !bytes.Equal(o.kept[Stdout], []byte(row.stdout)) || !bytes.Equal(o.kept[Stderr], []byte(row.stderr)) || o.total != 8 {
				t.Errorf("got %q %q %d", o.kept[Stdout], o.kept[Stderr], o.total)
			}
		})
	}
}
