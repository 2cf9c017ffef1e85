package main

import (
	"fmt"
	"strings"
)

// entryTypes are the endings of a file that can be an entry, as the contract
// has them.
func entryTypes() []string { return []string{"mjs", "cjs", "js", "mts", "cts", "ts"} }

// defaultEntry is the entry of a program whose caller named none: the only
// main.* in it, and where there is no main, the only index.*. It never guesses
// between two.
func defaultEntry(has func(path string) bool) (string, error) {
	for _, stem := range []string{"main", "index"} {
		var found []string
		for _, ending := range entryTypes() {
			if name := stem + "." + ending; has(name) {
				found = append(found, name)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return "", fmt.Errorf("the program has %s: say which one Node is to run with --entry", strings.Join(found, " and "))
		}
	}
	return "", fmt.Errorf("the program has no main.* and no index.* ending in %s: name the file that Node is to run with --entry", strings.Join(entryTypes(), ", "))
}
