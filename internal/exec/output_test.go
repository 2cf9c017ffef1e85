package exec

import (
	"bytes"
	"testing"
)

// TestOutputIsCutExactly: the bound holds for both streams together, in order
// of arrival, and everything is counted.
func TestOutputIsCutExactly(t *testing.T) {
	rows := []struct {
		name           string
		bound          int64
		stdout, stderr string
		total          int64
		over           bool
	}{
		{"under", 100, "abc12", "xyz", 8, false},
		{"exact", 8, "abc12", "xyz", 8, false},
		{"cut in the last chunk", 7, "abc1", "xyz", 8, true},
		{"cut in the first chunk", 2, "ab", "", 8, true},
		{"nothing kept", 0, "", "", 8, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o := newOutput(row.bound)
			o.add(0, []byte("abc"))
			o.add(1, []byte("xyz"))
			o.add(0, []byte("12"))
			stdout, stderr, total := o.result()
			if !bytes.Equal(stdout, []byte(row.stdout)) || !bytes.Equal(stderr, []byte(row.stderr)) || total != row.total {
				t.Fatalf("got %q %q %d", stdout, stderr, total)
			}
			select {
			case <-o.over:
				if !row.over {
					t.Fatal("overflow was told")
				}
			default:
				if row.over {
					t.Fatal("overflow was not told")
				}
			}
		})
	}
}
