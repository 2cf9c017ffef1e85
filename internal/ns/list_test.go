package ns

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestListStates shows an entry in each state, and kinds of entries that must neither block nor be followed.
func TestListStates(t *testing.T) {
	w := newWorld(t, 8)
	ours, quarantined := w.filled(), w.filled()
	quarantined.Quarantine(NamespaceChanged, "x")
	theirs := claim(t, w.newPool(8))
	must(t, os.Mkdir(w.root+"/slot-3", 0o700))
	must(t, os.Symlink("slot-0", w.root+"/slot-4"))
	must(t, unix.Mkfifo(w.root+"/slot-5", 0o600))
	must(t, os.Mkdir(w.root+"/slot-07", 0o700))
	must(t, os.Mkdir(w.root+"/slot-63", 0o700))
	must(t, os.Mkdir(w.root+"/slot-64", 0o700))
	must(t, os.WriteFile(w.root+"/a\nb", nil, 0o600))
	l, err := w.pool.List()
	must(t, err)
	var got []string
	for _, s := range l.Slots {
		got = append(got, fmt.Sprintf("%s=%s", s.Name, s.State))
		if (s.State == Free) != s.SinceAt.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	want := "slot-0=running slot-1=quarantined slot-2=elsewhere slot-3=leftover slot-4=foreign slot-5=foreign slot-6=free slot-7=free slot-63=leftover " +
		"a\nb=foreign slot-07=foreign slot-64=foreign"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if l.Counted != 10 || l.Free != 0 || l.MaxRetained != 8 || l.Root != w.root || l.Slots[0].RunID != "run-1" {
		t.Errorf("%+v", l)
	}
	for _, s := range []*Slot{ours, theirs} {
		if d := s.Remove(SetupIncomplete); d.State != StateRemoved {
			t.Errorf("after the listing: %+v", d)
		}
	}
}

// TestLeftoverOrElsewhere: another process's slot is elsewhere while that process lives, and a leftover once it was killed.
func TestLeftoverOrElsewhere(t *testing.T) {
	w := newWorld(t, 8)
	cmd := helperCommand(t, "hold", w.root, w.state)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	name, err := bufio.NewReader(stdout).ReadString('\n')
	must(t, err)
	name = strings.TrimSpace(name)
	if row := w.row(w.pool, name); row.State != Elsewhere {
		t.Errorf("while it lives: %+v", row)
	}
	if n, err := w.pool.Others(); err != nil || n != 1 {
		t.Errorf("others %d, %v; want 1", n, err)
	}
	must(t, cmd.Process.Kill())
	cmd.Wait()
	before := tree(t, w.root)
	if row := w.row(w.pool, name); row.State != Leftover {
		t.Errorf("after its death: %+v", row)
	}
	if s := claim(t, w.pool); s.Name() == name {
		t.Errorf("the leftover %s was claimed", name)
	} else {
		s.Remove(SetupIncomplete)
	}
	if after := tree(t, w.root); len(after) != len(before) {
		t.Errorf("the leftover was touched: %d entries became %d", len(before), len(after))
	}
}

// TestElsewhereEndsWell is the twin: the other process settles its slot itself.
func TestElsewhereEndsWell(t *testing.T) {
	w := newWorld(t, 8)
	cmd := helperCommand(t, "hold", w.root, w.state)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	out := bufio.NewReader(stdout)
	name, err := out.ReadString('\n')
	must(t, err)
	if row := w.row(w.pool, strings.TrimSpace(name)); row.State != Elsewhere {
		t.Errorf("while it lives: %+v", row)
	}
	must(t, stdin.Close())
	rest, err := io.ReadAll(out)
	must(t, err)
	must(t, cmd.Wait())
	if string(rest) != "removed\n" {
		t.Errorf("it says %q", rest)
	}
	w.mustBeEmpty()
}
