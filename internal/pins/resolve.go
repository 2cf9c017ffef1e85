package pins

import (
	"io/fs"
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

// view is what was seen at each path, so that one search looks at each of them once.
type view map[string]sight

// sight is what was at a path: a symlink's target with it.
type sight struct {
	info   fs.FileInfo
	target string
	err    error
}

func (v view) at(path string) sight {
	if known, seen := v[path]; seen {
		return known
	}
	var s sight
	if s.info, s.err = os.Lstat(path); s.err == nil && s.info.Mode().Type() == os.ModeSymlink {
		s.target, s.err = os.Readlink(path)
	}
	v[path] = s
	return s
}

// resolve follows an absolute path as the kernel does: part by part, ".." leading to the real parent. It opens nothing.
// Somebody who changes the tree meanwhile gives a wrong answer, which opening the result without symlinks shows.
func (v view) resolve(absolute string) (way, error) {
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
		seen := v.at(next)
		if seen.err != nil {
			return way{}, seen.err
		}
		if seen.info.Mode().Type() != os.ModeSymlink {
			if len(rest) > 0 && !seen.info.IsDir() {
				return way{}, &os.PathError{Op: "resolve", Path: absolute, Err: syscall.ENOTDIR}
			}
			w.canonical = next
			continue
		}
		if links++; links > maxSymlinks {
			return way{}, &os.PathError{Op: "resolve", Path: absolute, Err: syscall.ELOOP}
		}
		w.aliases = append(w.aliases, Alias{next, seen.target})
		rest = slices.Concat(parts(seen.target), rest)
		if strings.HasPrefix(seen.target, "/") {
			w.canonical = ""
		}
	}
	return w, nil
}

// parts are the names of a path, without empty ones and ".".
func parts(p string) []string {
	return slices.DeleteFunc(strings.Split(p, "/"), func(part string) bool { return part == "" || part == "." })
}
