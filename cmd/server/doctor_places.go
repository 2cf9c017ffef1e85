package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"confined/internal/ns"
)

// willBeMade judges a place that serve would make, by a directory that is there
// for a moment.
func willBeMade(name, dir string) finding {
	trial, err := makeTrial(dir)
	if err != nil {
		return unfit(name, err)
	}
	_ = os.Remove(trial)
	return finding{name, verdictNote, dir + " does not exist yet; serve makes it", ""}
}

// makeTrial makes an empty directory where dir would be made, or the first
// directory on the way to it.
func makeTrial(dir string) (string, error) {
	trial, err := os.MkdirTemp(existing(dir), ".confined-trial-")
	if err != nil {
		return "", cannotBeMade(dir, err)
	}
	return trial, nil
}

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
		return unfit("root", withRoot(err, c))
	}
	if missing(c.root) {
		if err := judgePlaceOfRoot(c); err != nil {
			return unfit("root", withRoot(err, c))
		}
		return finding{"root", verdictNote, c.root + " does not exist yet; serve makes it", ""}
	}
	listing, err := pool.List()
	if err != nil {
		return unfit("root", withRoot(err, c))
	}
	said, cure := listing.Contents()
	detail := fmt.Sprintf("%s, %d of %d entries", c.root, listing.Counted, c.maxRetained)
	if listing.Counted > 0 {
		detail += ": " + said
	}
	if listing.Counted >= c.maxRetained {
		return finding{"root", verdictNo, detail, cure}
	}
	return finding{"root", verdictOK, detail, ""}
}

// judgePlaceOfRoot judges c.root as every run does. One that is not there yet
// is judged, its file system above all, by a directory that is there for a
// moment.
func judgePlaceOfRoot(c config) error {
	if !missing(c.root) {
		return openRoot(c)
	}
	above, wanted := existing(c.root), c.root
	trial, err := makeTrial(c.root)
	if err != nil {
		return err
	}
	defer os.Remove(trial)
	c.root = trial
	err = openRoot(c)
	var refused *ns.RootError
	if errors.As(err, &refused) { // it names the trial, and people named the root
		names := strings.NewReplacer("/"+filepath.Base(trial), strings.TrimPrefix(wanted, strings.TrimSuffix(above, "/")))
		refused.Problem, refused.Cure = names.Replace(refused.Problem), names.Replace(refused.Cure)
	}
	return err
}

func openRoot(c config) error {
	pool, err := ns.NewPool(ns.Config{Root: c.root, MaxRetained: c.maxRetained, State: c.state})
	if err != nil {
		return err
	}
	return soundRoot(pool)
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
	var place *unfitError
	switch {
	case errors.As(err, &root):
		return finding{name, verdictNo, root.Problem, root.Cure}
	case errors.As(err, &place):
		return finding{name, verdictNo, place.problem, place.cure}
	}
	return finding{name, verdictNo, err.Error(), ""}
}
