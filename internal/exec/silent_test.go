package exec

import (
	"strings"
	"testing"

	"confined/internal/confine"
)

// TestSilentStart: a version run that was stopped before its first word is told of the hang that macOS is known for, and no other is.
func TestSilentStart(t *testing.T) {
	silent := ProcessFacts{Stopped: StopTimeout}
	spoke, failed := silent, silent
	spoke.OutputBytes, failed.Stopped = 1, StopControlMalformed
	for _, row := range []struct {
		goos string
		f    ProcessFacts
		want bool
	}{{"darwin", silent, true}, {"linux", silent, false}, {"darwin", spoke, false}, {"darwin", failed, false}} {
		if got := silentStart(row.goos, row.f); strings.Contains(got, "CoreFoundation") != row.want {
			t.Errorf("%s, %+v: %q", row.goos, row.f, got)
		}
	}
	_, err := readVersion("/n", collected{facts: silent}, func(confine.Ending) *HostError { return nil })
	if err == nil || !strings.Contains(err.Error(), "was stopped (timeout)") {
		t.Errorf("%v", err)
	}
}
