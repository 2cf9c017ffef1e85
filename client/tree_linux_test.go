package client

import (
	"os"
	"strings"
	"testing"
)

// TestReadFails: a file that opens and cannot be read is named like one that
// does not open.
func TestReadFails(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot("/proc/self")
	must(t, err)
	defer root.Close()
	w := walk{root: root, files: []listed{{"comm", 0}, {"mem", 0}, {"cmdline", 0}}}
	w.take()
	if len(w.faults) != 1 || w.faults[0].Path != "mem" || w.faults[0].Code != Unreadable || !strings.Contains(w.faults[0].Detail, "input/output error") {
		t.Errorf("faults %v", w.faults)
	}
}
