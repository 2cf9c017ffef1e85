package pins

import (
	"fmt"
	"iter"
	"strings"
)

// CheckPath returns nil when p is a path that a snapshot can hold: relative, at most [MaxPathLength] characters and
// [MaxPathSegments] segments of "A-Z a-z 0-9 . _ - @ +", none of them "." or "..". It judges bytes, so that a path means
// the same on every file system. The error says which rule is broken and what to do.
func CheckPath(p string) error {
	if p == "" {
		return fmt.Errorf("the path is empty: give a relative path such as %q", "src/main.mjs")
	}
	if len(p) > MaxPathLength {
		return fmt.Errorf("the path has %d characters: shorten it to at most %d", len(p), MaxPathLength)
	}
	if i := strings.IndexFunc(p, forbiddenInPath); i >= 0 {
		return fmt.Errorf("the path holds %q at byte %d: use only A-Z a-z 0-9 . _ - @ + and / between segments", firstRune(p[i:]), i)
	}
	segments := 0
	for segment := range strings.SplitSeq(p, "/") {
		segments++
		switch segment {
		case "":
			return fmt.Errorf("segment %d is empty: give a relative path without a leading, trailing or double slash", segments)
		case ".", "..":
			return fmt.Errorf("segment %d is %q: give the path without it", segments, segment)
		}
	}
	if segments > MaxPathSegments {
		return fmt.Errorf("the path has %d segments: nest it at most %d deep", segments, MaxPathSegments)
	}
	return nil
}

func forbiddenInPath(r rune) bool {
	switch {
	case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("._-@+/", r)
}

// firstRune is the first character of s as it stands there, invalid UTF-8 included.
func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// ancestors yields every directory that a file at path lies in, the outermost first, without the root itself.
func ancestors(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(path) {
			if path[i] == '/' && !yield(path[:i]) {
				return
			}
		}
	}
}

// foldASCII maps A-Z to a-z and leaves every other byte alone.
func foldASCII(p string) string {
	fold := func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}
	return strings.Map(fold, p)
}
