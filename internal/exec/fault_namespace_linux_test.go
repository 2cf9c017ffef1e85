package exec

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// tampering is something that is done to a namespace, by whoever can. Before
// the namespace is verified it is a mismatch, and nothing starts; from then on
// a change. Both keep the slot.
type tampering struct {
	name string
	act  func(w *world, slot string) error
	gone bool // the root is empty afterwards
	away bool // the entry is not at its path for a moment, or any more: where Node looks by path, it may not find it
	mute bool // not seen before the verification, which notes times and compares no mode of a file; seen after it
}

// namespaceFaults have each tampering happen at every event at which there is a
// namespace.
func namespaceFaults() []fault {
	var rows []fault
	for _, t := range tamperings {
		kept := "kept"
		if t.gone {
			kept = "empty"
		}
		at := func(e event, want outcome) {
			rows = append(rows, fault{t.name + " when " + e.name, func(w *world) {
				e.hook(w, func() { w.must(t.act(w, w.slot())) })
			}, want})
		}
		if t.mute {
			at(whenMaterialised, observedClean.ending("0"))
		} else {
			at(whenMaterialised, undone(ReasonSnapshotMismatch, "").in("snapshot-mismatch", kept))
		}
		for _, e := range lateEvents {
			want := observed("namespace-changed").in("namespace-changed", kept).ending("0")
			if t.away {
				want = want.butUnderDash(want.ending(""), "Node looks for its entry by path there, and may find none")
			}
			at(e, want)
		}
	}
	return rows
}

// The namespace's files, as the stand-in's world has them.
const (
	library = "program/sub/lib.js"
	input   = "input/in.txt"
	canary  = "canary"
)

// tamperings are of every kind, and of every tree each by some kind.
var tamperings = []tampering{
	{name: "a file of the program changed", act: on(library, func(p string) error { return overwrite(p, "A LIBRARY\n") })},
	{name: "a file of the program longer", act: on(library, func(p string) error { return appendTo(p, "x") })},
	{name: "a file of the input cut", act: on(input, func(p string) error { return overwrite(p, "i") })},
	{name: "the canary changed", act: on(canary, func(p string) error { return overwrite(p, zeros64) })},
	{name: "a file of the program gone", act: on(library, os.Remove)},
	{name: "the canary gone", act: on(canary, os.Remove)},

	{name: "a file swapped for its like", act: on(library, replaceByCopy)},
	{name: "the canary swapped for its like", act: on(canary, replaceByCopy)},
	{name: "a file swapped for a symlink to itself", act: swappedFor(library, func(aside, p string) error { return os.Symlink(aside, p) })},
	{name: "a file swapped for a hard link to another", act: swappedFor(input, func(aside, p string) error {
		if err := write(aside+".secret", []byte("secret"), 0o400); err != nil {
			return err
		}
		return os.Link(aside+".secret", p)
	})},
	{name: "a file swapped for a FIFO", act: swappedFor(library, func(_, p string) error { return unix.Mkfifo(p, 0o400) })},
	{name: "a file swapped for a socket", act: swappedFor(library, func(_, p string) error { return makeSocket(p) })},
	{name: "a file swapped for a directory", act: swappedFor(library, func(_, p string) error { return os.Mkdir(p, 0o700) })},
	{name: "a directory swapped for its like", act: swappedFor("program/sub", copyDir)},
	{name: "the program swapped for its like", act: swappedFor("program", copyDir), away: true},
	{name: "the input swapped for its like", act: swappedFor("input", copyDir)},
	{name: "the home swapped for its like", act: swappedFor("home", copyDir)},
	{name: "a directory swapped for a symlink to itself", act: swappedFor("program/sub", func(aside, p string) error { return os.Symlink(aside, p) })},
	{name: "the slot swapped for its like", act: swappedFor("", copyDir), away: true},
	{name: "the slot swapped for a symlink to itself", act: swappedFor("", func(aside, p string) error { return os.Symlink(aside, p) }), away: true},
	{name: "the slot moved away", act: swappedFor("", func(_, _ string) error { return nil }), gone: true, away: true},

	{name: "a hard link to a file of the program", act: linkedOut(library)},
	{name: "a hard link to the canary", act: linkedOut(canary)},
	{name: "a hard link from outside into the home", act: linkedIn("home/in.js")},
	{name: "a hard link from outside into the slot", act: linkedIn("in.js")},

	{name: "a file added to the home", act: on("home/new.txt", touch)},
	{name: "a file added to the slot", act: on("new.txt", touch)},
	{name: "a directory added", act: on("program/new", func(p string) error { return os.Mkdir(p, 0o700) })},
	{name: "a symlink added", act: on("input/new", func(p string) error { return os.Symlink("/etc/hostname", p) })},
	{name: "a FIFO added", act: on("home/new", func(p string) error { return unix.Mkfifo(p, 0o600) })},
	{name: "a socket added", act: on("new", makeSocket)},

	{name: "a directory open to others", act: on("program/sub", func(p string) error { return os.Chmod(p, 0o750) })},
	{name: "the slot open to others", act: on("", func(p string) error { return os.Chmod(p, 0o701) })},
	{name: "a file's mode changed", act: on(library, func(p string) error { return os.Chmod(p, 0o644) }), mute: true},
	{name: "a file's times changed", act: on(library, func(p string) error { return os.Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)) }), mute: true},
	{name: "a file swapped and swapped back", act: on(input, swapBack), mute: true},
	{name: "a directory swapped and swapped back", act: on("program/sub", swapBack), mute: true},
	{name: "the slot swapped and swapped back", act: on("", swapBack), mute: true, away: true},
	{name: "a file changed and changed back", act: on(input, func(p string) error {
		if err := overwrite(p, "INPUT\n"); err != nil {
			return err
		}
		return overwrite(p, "input\n")
	}), mute: true},
	{name: "a hard link made and taken away", act: on(canary, func(p string) error {
		if err := os.Link(p, p+".link"); err != nil {
			return err
		}
		return os.Remove(p + ".link")
	}), mute: true},
}

var zeros64 = string(make([]byte, 64))

// on acts on one path of the slot; empty is the slot itself.
func on(name string, act func(path string) error) func(*world, string) error {
	return func(_ *world, slot string) error { return act(filepath.Join(slot, name)) }
}

// swappedFor moves an entry out of the root and puts something else in its
// place, which may look at where the entry is now.
func swappedFor(name string, put func(aside, path string) error) func(*world, string) error {
	return func(w *world, slot string) error {
		path, aside := filepath.Join(slot, name), filepath.Join(w.state, "aside")
		if err := os.Rename(path, aside); err != nil {
			return err
		}
		return put(aside, path)
	}
}

// linkedOut gives a file of the slot a second name outside.
func linkedOut(name string) func(*world, string) error {
	return func(w *world, slot string) error {
		return os.Link(filepath.Join(slot, name), filepath.Join(w.state, "link"))
	}
}

// linkedIn gives a file from outside a second name in the slot.
func linkedIn(name string) func(*world, string) error {
	return func(w *world, slot string) error {
		secret := filepath.Join(w.state, "secret")
		if err := touch(secret); err != nil {
			return err
		}
		return os.Link(secret, filepath.Join(slot, name))
	}
}
