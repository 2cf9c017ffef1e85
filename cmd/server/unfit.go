package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"confined/internal/ns"
)

// unfitError says why a place cannot serve, and what would cure it.
type unfitError struct{ problem, cure string }

func (e *unfitError) Error() string { return e.problem + "; cure: " + e.cure }

// ours names something of this user's own in a directory that many share.
func ours(what string) string { return fmt.Sprintf("%s-%d", what, os.Geteuid()) }

// withRoot adds to the refusal of a root, where only another place is a cure,
// one that is fit: it was tried.
func withRoot(err error, c config) error {
	var misplaced *ns.MisplacedError
	if !errors.As(err, &misplaced) {
		return err
	}
	root, found := fitRoot(c)
	if !found {
		return err
	}
	return &ns.RootError{Problem: misplaced.Problem, Cure: misplaced.Cure + ", as in --root " + root}
}

// fitRoot is a root that serve could have on this host instead.
func fitRoot(c config) (string, bool) {
	candidates := []string{lastingTemp() + "/" + ours("confined-root")}
	if os.Geteuid() == 0 {
		candidates = append([]string{"/var/lib/confined/root"}, candidates...)
	}
	for _, root := range candidates {
		c.root = root
		if judgePlaceOfRoot(c) == nil {
			return root, true
		}
	}
	return "", false
}

// lastingTemp is where everybody may make directories that survive a restart,
// by the path without symlinks that a root must have: /var is one on macOS.
func lastingTemp() string {
	const named = "/var/tmp"
	if real, err := filepath.EvalSymlinks(named); err == nil {
		return real
	}
	return named
}

// cannotBeMade is for a directory that serve has to make and cannot.
func cannotBeMade(dir string, err error) error {
	base := lastingTemp() + "/" + ours("confined")
	if os.Geteuid() == 0 {
		base = "/var/lib/confined"
	}
	return &unfitError{
		fmt.Sprintf("%s cannot be made in %s: %s", dir, existing(dir), reason(err)),
		fmt.Sprintf("name directories of your own, as in --root %s/root --state %s/state --socket %s/socket", base, base, base)}
}

// reason is err without the path, which the message around it names.
func reason(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// shortSocket is a path of a socket that fits everywhere.
func shortSocket() string {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if short := filepath.Join(dir, "confined", "socket"); filepath.IsAbs(dir) && !missing(dir) && fitsSocket(short) == nil {
		return short
	}
	return "/tmp/" + ours("confined") + "/socket"
}
