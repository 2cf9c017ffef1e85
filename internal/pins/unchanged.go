package pins

import (
	"fmt"
	"os"
)

// ChangedError says which part of the runtime is no longer what it was.
type ChangedError struct{ Path, Problem string }

func (e *ChangedError) Error() string { return e.Path + " " + e.Problem }

// Unchanged returns nil when again, taken later, is the same closure and nothing of it was touched in between: the same
// paths and symlinks, and for each file and launcher the same content, inode, owner, size, modification and change time. A
// file that was swapped and swapped back is a change, by its change time. The error is a [ChangedError] about the first
// difference.
func (c Closure) Unchanged(again Closure) error {
	if c.Node != again.Node {
		return &ChangedError{c.Node, "is no longer the Node binary, now it is " + again.Node}
	}
	if c.Interpreter != again.Interpreter {
		return &ChangedError{c.Interpreter, "is no longer the loader, now it is " + again.Interpreter}
	}
	if err := sameFiles(c.Files, again.Files); err != nil {
		return err
	}
	if err := sameFiles(c.Launchers, again.Launchers); err != nil {
		return err
	}
	return sameAliases(c.Aliases, again.Aliases)
}

// LooksUnchanged says whether every file and symlink of c, looked at but not read, is what it was: the same inode, owner,
// size and times, the same target. It is for whoever may be wrong at little cost; a run takes the closure again. The launcher
// is left out: who asks is running it.
func (c Closure) LooksUnchanged() bool {
	for _, f := range c.Files {
		if id, err := LookAt(f.Path); err != nil || id != f.ID {
			return false
		}
	}
	for _, a := range c.Aliases {
		if target, err := os.Readlink(a.Path); err != nil || target != a.Target {
			return false
		}
	}
	return true
}

func sameFiles(was, is []RuntimeFile) error {
	for i, f := range was {
		if i >= len(is) || is[i].Path > f.Path {
			return &ChangedError{f.Path, "is no longer part of the runtime"}
		}
		if is[i].Path < f.Path {
			return &ChangedError{is[i].Path, "has become part of the runtime"}
		}
		if problem := f.differs(is[i]); problem != "" {
			return &ChangedError{f.Path, problem}
		}
	}
	if len(is) > len(was) {
		return &ChangedError{is[len(was)].Path, "has become part of the runtime"}
	}
	return nil
}

// differs says in what two readings of one path differ, or is empty.
func (f RuntimeFile) differs(again RuntimeFile) string {
	switch {
	case f.SHA256 != again.SHA256 || f.Size != again.Size:
		return "has another content"
	case f.ID.Dev != again.ID.Dev || f.ID.Ino != again.ID.Ino:
		return "was replaced by another file of the same content"
	case f.ID != again.ID:
		return "was touched: its times or its owner are others, its content is the same"
	}
	return ""
}

func sameAliases(was, is []Alias) error {
	for i, a := range was {
		if i >= len(is) || is[i].Path > a.Path {
			return &ChangedError{a.Path, "is no longer a symlink on the way to the runtime"}
		}
		if is[i].Path < a.Path {
			return &ChangedError{is[i].Path, "has become a symlink on the way to the runtime"}
		}
		if is[i].Target != a.Target {
			return &ChangedError{a.Path, fmt.Sprintf("is a symlink to %q, no longer to %q", is[i].Target, a.Target)}
		}
	}
	if len(is) > len(was) {
		return &ChangedError{is[len(was)].Path, "has become a symlink on the way to the runtime"}
	}
	return nil
}
