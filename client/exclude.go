package client

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// globs leave entries out of a tree.
type globs []string

// parseGlobs judges patterns before anything is read.
func parseGlobs(patterns []string) (globs, error) {
	var out globs
	var errs []error
	for _, p := range patterns {
		clean := strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
		_, err := path.Match(clean, "")
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("the pattern %q cannot be read: %w", p, err))
		case clean == "" || strings.HasPrefix(clean, "/"):
			errs = append(errs, fmt.Errorf("the pattern %q matches nothing: patterns are relative to the tree, as in node_modules or test/*.json", p))
		case strings.Contains(clean, "**"):
			errs = append(errs, fmt.Errorf("the pattern %q has **, which means nothing here: a pattern without a slash matches at every depth, as in *.map, and one that matches a directory leaves out all of it", p))
		default:
			out = append(out, clean)
		}
	}
	return out, errors.Join(errs...)
}

// match reports whether the entry name, a path in the tree, is left out.
func (g globs) match(name string) bool {
	for _, pattern := range g {
		subject := name
		if !strings.Contains(pattern, "/") {
			subject = path.Base(name)
		}
		if ok, _ := path.Match(pattern, subject); ok {
			return true
		}
	}
	return false
}
