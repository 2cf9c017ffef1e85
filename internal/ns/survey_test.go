package ns

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func (w *world) show(name string) SlotContents {
	w.t.Helper()
	c, err := w.pool.Show(w.t.Context(), name)
	must(w.t, err)
	return c
}

// TestShow: everything is there, each with its kind and digest, in an order in which parents come first; looking again changes nothing.
func TestShow(t *testing.T) {
	w := newWorld(t, 8)
	s := w.filled()
	must(t, os.Symlink("/etc/passwd", s.Path()+"/home/link"))
	must(t, unix.Mkfifo(s.Path()+"/home/pipe", 0o600))
	must(t, os.WriteFile(s.Path()+"/home/a\nb", nil, 0))
	must(t, os.WriteFile(s.Path()+"/home/sparse", nil, 0o600))
	must(t, os.Truncate(s.Path()+"/home/sparse", maxHashed+1))
	s.Quarantine(NamespaceChanged, "x")
	before := everyFact(t, s.Path())
	c := w.show("slot-0")
	var got []string
	for _, e := range c.Entries {
		got = append(got, fmt.Sprintf("%s %s %d %.4s", e.Path, e.Kind, e.Size, e.SHA256))
	}
	canary, nothing := c.Entries[0].SHA256, "e3b0"
	if isRoot() == (c.entry(t, `"home/a\nb"`).SHA256 == "") {
		t.Error("only root may read a file of mode 0")
	} else if !isRoot() {
		nothing = ""
	}
	want := []string{
		"canary file 64 " + canary[:4], "home directory 0 ", `"home/a\nb" file 0 ` + nothing, "home/link symlink 11 ", "home/pipe other 0 ",
		fmt.Sprintf("home/sparse file %d ", maxHashed+1), "input directory 0 ", "input/data.txt file 16000 0c7c", "input/none file 0 e3b0",
		"program directory 0 ", "program/lib directory 0 ", "program/lib/a.js file 2 4355", "program/lib/deep directory 0 ", "program/lib/deep/b.js file 2 53c2",
		"program/main.mjs file 18 be3a", "program/node_modules directory 0 ", "program/node_modules/@a directory 0 ",
		"program/node_modules/@a/b+c directory 0 ", "program/node_modules/@a/b+c/index.js file 2 1121",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c.Slot.State != Quarantined || c.Slot.Reason != NamespaceChanged || c.Hidden != "" || len(c.Users) != 0 {
		t.Errorf("%+v, hidden %q, users %v", c.Slot, c.Hidden, c.Users)
	}
	if again := w.show("slot-0"); again.Tag != c.Tag {
		t.Errorf("the tag was %s and is %s", c.Tag, again.Tag)
	}
	if after := everyFact(t, s.Path()); !maps.Equal(before, after) {
		t.Errorf("looking changed something:\n%v\n%v", before, after)
	}
}

func (c SlotContents) entry(t *testing.T, path string) Entry {
	t.Helper()
	for _, e := range c.Entries {
		if e.Path == path {
			return e
		}
	}
	t.Fatalf("%s is not shown in %+v", path, c.Entries)
	return Entry{}
}

func everyFact(t *testing.T, dir string) map[string]facts {
	t.Helper()
	all := map[string]facts{}
	for path := range tree(t, dir) {
		f, err := statAt(unix.AT_FDCWD, path)
		must(t, err)
		all[path] = f
	}
	return all
}

// TestShowEveryState: whatever has a slot's name can be looked at, and a name that nothing has, or that is no slot's, is unknown.
func TestShowEveryState(t *testing.T) {
	w := newWorld(t, 8)
	w.filled()
	claim(t, w.newPool(8))
	must(t, os.Mkdir(w.root+"/slot-2", 0o700))
	must(t, os.Symlink("slot-0", w.root+"/slot-3"))
	must(t, unix.Mkfifo(w.root+"/slot-4", 0o600))
	must(t, os.Mkdir(w.root+"/slot-99", 0o700))
	for name, want := range map[string]struct {
		state   SlotState
		entries int
		hidden  string
	}{
		"slot-0": {Running, 15, ""}, "slot-1": {Elsewhere, 0, ""}, "slot-2": {Leftover, 0, ""}, "slot-99": {Foreign, 0, ""},
		"slot-3": {Foreign, 0, w.root + "/slot-3 is a symbolic link"}, "slot-4": {Foreign, 0, w.root + "/slot-4 is a FIFO"},
	} {
		if c := w.show(name); c.Slot.State != want.state || len(c.Entries) != want.entries || c.Hidden != want.hidden || len(c.Tag) != 66 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	must(t, os.Mkdir(w.root+"/other", 0o700))
	for _, name := range []string{"slot-5", "", ".", "..", "other", "slot-0/program", "slot-000", "slot-", "slot-x", "slot-0\n"} {
		if c, err := w.pool.Show(t.Context(), name); !errors.Is(err, ErrSlotUnknown) {
			t.Errorf("%q: %+v, %v", name, c, err)
		}
		if d, err := w.pool.Release(t.Context(), name, "*"); !errors.Is(err, ErrSlotUnknown) {
			t.Errorf("%q: %+v, %v", name, d, err)
		}
	}
}

// TestShowIsBounded: what is beyond the bounds is left out, told, and never released.
func TestShowIsBounded(t *testing.T) {
	w := newWorld(t, 8)
	deep := w.root + "/slot-0" + strings.Repeat("/d", maxSurveyDepth+1)
	must(t, os.MkdirAll(deep, 0o700))
	c := w.show("slot-0")
	w.mustRefuse("slot-0", c.Tag, "is 32 levels down, and deeper ones are not shown")
	must(t, os.Remove(deep))
	if c := w.show("slot-0"); c.Hidden == "" || len(c.Entries) != maxSurveyDepth {
		t.Errorf("%d entries, hidden %q", len(c.Entries), c.Hidden)
	}
	must(t, os.Remove(strings.TrimSuffix(deep, "/d")))
	if c := w.show("slot-0"); c.Hidden != "" || len(c.Entries) != maxSurveyDepth-1 {
		t.Errorf("%d entries, hidden %q", len(c.Entries), c.Hidden)
	}
	for _, c := range []struct {
		count, text int
		want        string
	}{
		{maxSurveyed - maxSurveyDepth + 1, 0, ""}, {maxSurveyed - maxSurveyDepth + 2, 0, "beyond the 65536"},
		{0, maxSurveyText - 1000, ""}, {0, maxSurveyText - 10, "beyond the 16 MiB"},
	} {
		s := &survey{ctx: t.Context(), slot: "it", count: c.count, text: c.text}
		root, err := w.pool.Open()
		must(t, err)
		dir, _, err := root.enter(s, "slot-0")
		must(t, err)
		closeAll(dir, root.fd)
		if (s.hidden == "") != (c.want == "") || !strings.Contains(s.hidden, c.want) {
			t.Errorf("%+v: hidden %q", c, s.hidden)
		}
	}
}

// TestUnlistableIsNotReleased: what we cannot look into is shown without its contents, and the reason why it stays is told.
func TestUnlistableIsNotReleased(t *testing.T) {
	if isRoot() { // to whom no directory is closed
		return
	}
	w := newWorld(t, 8)
	s := w.filled()
	must(t, os.Chmod(s.Path()+"/program/lib", 0))
	t.Cleanup(func() { os.Chmod(s.Path()+"/program/lib", 0o700) })
	s.Quarantine(NamespaceChanged, "x")
	c := w.show("slot-0")
	if e := c.entry(t, "program/lib"); e.Kind != KindDirectory || c.Hidden != s.Path()+"/program/lib cannot be opened: permission denied" {
		t.Errorf("%+v, hidden %q", e, c.Hidden)
	}
	before := tree(t, s.Path()+"/input")
	w.mustRefuse("slot-0", c.Tag, "cannot be opened: permission denied; cure: look at "+s.Path())
	if after := tree(t, s.Path()+"/input"); !maps.Equal(before, after) {
		t.Errorf("something was removed: %v", after)
	}
}
