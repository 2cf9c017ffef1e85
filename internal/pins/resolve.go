package pins

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// maxSymlinks is how many symlinks the kernel follows on one way.
const maxSymlinks = 40

// way is how a path leads to a file.
type way struct {
	canonical string   // empty for the root; without symlinks, "." and ".."
	aliases   []Alias  // the symlinks on the way, in order
	left      []string // the directories that a ".." led out of, canonical
}

// resolve follows an absolute path as the kernel does: part by part, ".." leading to the real parent. It opens nothing.
// Somebody who changes the tree meanwhile gives a wrong answer, which opening the result without symlinks shows.
func resolve(absolute string) (way, error) {
	var w way
	links := 0
	for rest := parts(absolute); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			w.left = append(w.left, w.canonical)
			w.canonical = w.canonical[:max(0, strings.LastIndexByte(w.canonical, '/'))]
			continue
		}
		next := w.canonical + "/" + part
		info, err := os.Lstat(next)
		if err != nil {
			return way{}, err
		}
		if info.Mode().Type() != os.ModeSymlink {
			if len(rest) > 0 && !info.IsDir() {
				return way{}, &os.PathError{Op: "resolve", Path: absolute, Err: syscall.ENOTDIR}
			}
			w.canonical = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return way{}, err
		}
		if links++; links > maxSymlinks {
			return way{}, &os.PathError{Op: "resolve", Path: absolute, Err: syscall.ELOOP}
		}
		w.aliases = append(w.aliases, Alias{next, target})
		rest = slices.Concat(parts(target), rest)
		if strings.HasPrefix(target, "/") {
			w.canonical = ""
		}
	}
	return w, nil
}

// parts are the names of a path, without empty ones and ".".
func parts(p string) []string {
	return slices.DeleteFunc(strings.Split(p, "/"), func(part string) bool { return part == "" || part == "." })
}
