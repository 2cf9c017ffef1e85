package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"confined/internal/ns"
)

// willBeMade judges a place that serve would make.
func willBeMade(name, dir string) finding {
	above := existing(dir)
	if err := syscall.Access(above, 0o2); err != nil { // W_OK, access(2)
		return finding{name, verdictNo, fmt.Sprintf("%s cannot be made in %s: %v", dir, above, err), curePlaces}
	}
	return finding{name, verdictNote, dir + " does not exist yet; serve makes it", ""}
}

const curePlaces = "name directories of your own with --root, --state and --socket"

// existing is the nearest directory above dir that is there.
func existing(dir string) string {
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		if !missing(above) {
			return above
		}
	}
}

// lookAtRoot judges the root as every run does, and counts what is in it.
func lookAtRoot(c config) finding {
	pool, err := ns.NewPool(ns.Config{Root: c.root, MaxRetained: c.maxRetained, State: c.state})
	if err != nil {
		return unfit("root", err)
	}
	if missing(c.root) {
		return lookWhereRootWillBe(c)
	}
	root, err := pool.Open()
	if err != nil {
		return unfit("root", err)
	}
	defer root.Close()
	counted, err := root.Count()
	if err != nil {
		return unfit("root", err)
	}
	detail := fmt.Sprintf("%s, %d of %d entries", c.root, counted, c.maxRetained)
	if counted > 0 {
		detail += ": GET /v1/slots says what they are"
	}
	if counted >= c.maxRetained {
		return finding{"root", verdictNo, detail, "look at each entry and remove what is no longer needed: leftovers are never reclaimed automatically"}
	}
	return finding{"root", verdictOK, detail, ""}
}

// lookWhereRootWillBe judges the place where serve would make the root, above
// all its file system, by a directory that is there for a moment.
func lookWhereRootWillBe(c config) finding {
	found := willBeMade("root", c.root)
	if found.Verdict == verdictNo {
		return found
	}
	trial, err := os.MkdirTemp(existing(c.root), ".confined-doctor-")
	if err != nil {
		return finding{"root", verdictNo, err.Error(), curePlaces}
	}
	defer os.Remove(trial)
	pool, err := ns.NewPool(ns.Config{Root: trial, MaxRetained: c.maxRetained, State: c.state})
	var root *ns.Root
	if err == nil {
		root, err = pool.Open()
	}
	if err != nil {
		found = unfit("root", err)
		found.Detail = strings.ReplaceAll(found.Detail, trial, c.root) // a name that somebody gave
		return found
	}
	defer root.Close()
	return found
}

func lookAtState(c config) finding {
	if missing(c.state) {
		return willBeMade("state", c.state)
	}
	if err := privateDir(c.state); err != nil {
		return unfit("state", err)
	}
	return finding{"state", verdictOK, c.state, ""}
}

func lookAtSocket(c config) finding {
	dir := filepath.Dir(c.socket)
	if err := fitsSocket(c.socket); err != nil {
		return unfit("socket", err)
	}
	if missing(dir) {
		return willBeMade("socket", dir)
	}
	if err := privateDir(dir); err != nil {
		return unfit("socket", err)
	}
	info, err := os.Lstat(c.socket)
	switch {
	case err == nil && info.Mode().Type() != fs.ModeSocket:
		return unfit("socket", inTheWay(c.socket, info))
	case err == nil && answered(c.socket):
		return finding{"socket", verdictNote, c.socket + ", a daemon answers there", ""}
	}
	return finding{"socket", verdictOK, c.socket, ""}
}

// unfit words an error that holds its own cure.
func unfit(name string, err error) finding {
	var root *ns.RootError
	if errors.As(err, &root) {
		return finding{name, verdictNo, root.Problem, root.Cure}
	}
	return finding{name, verdictNo, err.Error(), ""}
}
