package prove

import (
	"os"
	"testing"
)

// TestEveryLookCanFail: none of the looks finds this process, or one that does not exist, as strong as a run, whatever an unconfined
// process can show of it.
func TestEveryLookCanFail(t *testing.T) {
	stranger := user{12345, 12345}
	here := view{pid: os.Getpid(), slot: "/nowhere", user: stranger, other: os.Getpid()}
	gone := here
	gone.pid = 1 << 30
	for _, p := range looks() {
		if found, weak := p.Evidence.look(&gone); !weak && (os.Geteuid() == 0 || p.Name != "no supplementary group of root's") {
			t.Errorf("%s: a process that does not exist passes with %q", p.Name, found)
		}
		if found, weak := p.Evidence.look(&here); !weak && p.NoControl == "" && !p.Evidence.inherited {
			t.Errorf("%s: this process passes with %q", p.Name, found)
		}
	}
}
