package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// HeldDir is a directory for as long as the process that made it lives: the
// kernel lets go of its lock however that process ends, and the next who makes
// one beside it removes what nobody holds.
type HeldDir struct {
	Path string
	lock *os.File
}

// MakeHeldDir makes one in parent, a private directory. Its name begins with
// prefix, and those of that prefix which killed processes left are removed
// first; abandoned, unless nil, is called with the path of each before. Whoever
// makes or sweeps there holds the parent's own lock, so that one without a lock
// is nobody's. Its path goes through no link and is spelled as the disk has it:
// a sandbox of macOS knows no other.
func MakeHeldDir(parent, prefix string, abandoned func(path string)) (*HeldDir, error) {
	parent, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return nil, err
	}
	turn, err := lockDir(parent, 0)
	if err != nil {
		return nil, err
	}
	defer turn.Close()
	if parent, err = pins.SpelledOnDisk(int(turn.Fd()), parent); err != nil {
		return nil, err
	}
	sweepHeld(parent, prefix, abandoned)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	h := &HeldDir{Path: path}
	if h.lock, err = lockDir(path, unix.LOCK_NB); err != nil {
		_ = h.Remove()
		return nil, err
	}
	return h, nil
}

// sweepHeld removes every one that no live process holds. What cannot be looked
// at or removed stays: it is in nobody's way.
func sweepHeld(parent, prefix string, abandoned func(path string)) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		lock, err := lockDir(path, unix.LOCK_NB)
		if err != nil {
			continue
		}
		if abandoned != nil {
			abandoned(path)
		}
		_ = (&HeldDir{path, lock}).Remove()
	}
}

// Remove removes it with all that it holds. It lets go of the lock last: until
// then nobody else removes it too. An error says what is left.
func (h *HeldDir) Remove() error {
	err := os.RemoveAll(h.Path)
	if h.lock != nil {
		_ = h.lock.Close()
	}
	return err
}

// lockDir takes the exclusive flock of a directory, held until it is closed.
func lockDir(dir string, flags int) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|flags); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}
