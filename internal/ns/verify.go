package ns

import (
	"errors"

	"confined/internal/pins"
)

// Verified is evidence that a slot held exactly what was materialised, at the moment Verify returned it: only Verify makes one.
type Verified struct {
	slot                   *Slot
	program, input, canary pins.Source
}

// Program is the program's directory with the inode that was verified.
func (v *Verified) Program() pins.Source { return v.program }

// Input is the input's directory, the program's working directory, with the inode that was verified.
func (v *Verified) Input() pins.Source { return v.input }

// Canary is the file that the boundary must keep the program from reading: 64 hex digits, random in each run.
func (v *Verified) Canary() pins.Source { return v.canary }

// Home is the path of the empty home directory.
func (v *Verified) Home() string { return v.slot.path + "/" + homeName }

// Path is the slot's path.
func (v *Verified) Path() string { return v.slot.path }

// Verify reads everything back and establishes: every entry has the device, inode and owner that were recorded when it was made; directories
// are closed to others and hold exactly what was put there; files are regular, have one link, the size and the SHA-256 of the snapshot
// (a change of a file's mode alone is not compared), and nobody had one open or mapped for writing while it was read, which on Linux a read
// lease proves. It notes each ctime as it reads, so that Recheck and Remove see any later change.
//
// Any difference is a *MismatchError. Another error means that the system did not let us look: nothing is proven then either.
func (s *Slot) Verify() (*Verified, error) {
	s.must(s.stage == materialised || s.stage == verified, "Verify")
	s.stage, s.proof = materialised, nil
	if err := s.remember(s.inspect(inspection{note: true, read: true, lease: true})); err != nil {
		return nil, err
	}
	s.stage = verified
	s.proof = &Verified{slot: s, program: s.source(programName), input: s.source(inputName), canary: s.source(canaryName)}
	return s.proof, nil
}

func (s *Slot) source(name string) pins.Source {
	n := s.tree.child(name)
	return pins.Source{Path: s.path + "/" + name, Dev: n.dev, Ino: n.ino}
}

// Recheck establishes that the slot still is what v proves, and that nothing in it was touched in between: what stat calls tell of every entry
// (ctimes too, so that a swap and a swap back is a change), listings and contents are what Verify found. It is one walk that looks at each once.
//
// A *MismatchError means that it changed; any other error that this could not be found out.
func (s *Slot) Recheck(v *Verified) error {
	s.must(s.stage == verified && v != nil && v == s.proof, "Recheck")
	return s.remember(s.inspect(inspection{read: true}))
}

// remember keeps the first mismatch, since Remove compares no contents and might not find it again.
func (s *Slot) remember(err error) error {
	if s.seen == nil && isMismatch(err) {
		s.seen = err
	}
	return err
}

// inspect walks the slot from its name in the root down, depth first, and ends at the first difference.
func (s *Slot) inspect(i inspection) error {
	i.workers = s.workers
	return i.directory(s.root, s.tree, s.path)
}

// isMismatch tells a change from an inability to look.
func isMismatch(err error) bool {
	var m *MismatchError
	return errors.As(err, &m)
}

// onlyRecorded lists an open directory and establishes that no name in it is not of our making; else it tells the first one. What the
// directory tells of each child is returned in their order, as nothing where it has no such name: that none is missing is seen when each is
// looked at.
func (n *node) onlyRecorded(fd int, path string) ([]listed, error) {
	ours := make(map[string]int, len(n.children))
	for k, c := range n.children {
		if c.made {
			ours[c.name] = k
		}
	}
	shown, stranger := make([]listed, len(n.children)), ""
	err := list(fd, func(l listed) bool {
		if k, recorded := ours[l.name]; recorded {
			shown[k] = l
		} else if stranger == "" || l.name < stranger {
			stranger = l.name
		}
		return true
	})
	if err != nil {
		return nil, step("list", path, err)
	}
	if stranger != "" {
		return nil, &MismatchError{path + "/" + printable(stranger), "was not put there"}
	}
	return shown, nil
}
