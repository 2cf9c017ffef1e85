package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"confined/internal/pins"
)

// privateMode is what every directory of the daemon's is made with.
const privateMode = 0o700

// makePlaces establishes that root, state and the socket's directory exist and
// are this user's alone. What is missing is made; what exists is never changed.
func makePlaces(c config) error {
	for _, p := range []struct{ flag, dir string }{
		{"root", c.root}, {"state", c.state}, {"socket", filepath.Dir(c.socket)},
	} {
		if err := makePlace(p.dir); err != nil {
			return fmt.Errorf("--%s: %w", p.flag, err)
		}
	}
	return nil
}

func makePlace(dir string) error {
	if missing(dir) {
		if err := os.MkdirAll(dir, privateMode); err != nil {
			return cannotBeMade(dir, err)
		}
	}
	return privateDir(dir)
}

// privateDir says what keeps dir from being this user's alone, with the cure.
func privateDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return &unfitError{dir + " is not a directory", "move it away, or name another place"}
	case info.Mode()&fs.ModeSticky != 0:
		return &unfitError{dir + " is everybody's", "name a directory of its own, as in " + filepath.Join(dir, ours("confined"))}
	case ok && int(stat.Uid) != os.Geteuid():
		return &unfitError{fmt.Sprintf("%s belongs to uid %d and this is uid %d", dir, stat.Uid, os.Geteuid()), "name a directory of your own"}
	case info.Mode().Perm()&0o077 != 0:
		return &unfitError{fmt.Sprintf("%s is open to others (mode %04o)", dir, info.Mode().Perm()),
			"chmod 700 " + pins.ShellWord(dir) + " if it serves only this, or name a directory of its own"}
	}
	return nil
}

// missing says that nothing is at path, as against something unfit.
func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
