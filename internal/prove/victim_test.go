package prove

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// TestStop: a process is stopped once the host sees it, and one whose state cannot be seen is an error, which says so.
func TestStop(t *testing.T) {
	v, err := newVictim(us())
	if err != nil {
		t.Fatal(err)
	}
	defer v.end()
	synctest.Test(t, func(t *testing.T) { // whose clock runs ahead
		unseen := &victim{pid: -v.pid} // its group can be signalled, and no table of the kernel has it as a process
		if err := unseen.stop(); err == nil || !strings.Contains(err.Error(), "its state is") {
			t.Errorf("a process that nobody sees is taken for stopped: %v", err)
		}
	})
	if err := v.stop(); err != nil || v.state() != "T" {
		t.Errorf("%v, %s", err, v.state())
	}
}

func TestStateOf(t *testing.T) {
	if got := stateOf(process{state: "S"}, nil); got != "S" {
		t.Error(got)
	}
	if got := stateOf(process{}, errors.New("EPERM")); got != "? EPERM" {
		t.Errorf("what cannot be seen is %q", got)
	}
}
