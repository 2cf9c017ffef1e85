package ns

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// The bounds of a survey. What a run made is well within them: at most 40,004 entries, 18 levels down, in some 10 MB of paths.
const (
	maxSurveyed    = 1 << 16  // entries
	maxSurveyDepth = 32       // levels below the slot
	maxSurveyText  = 16 << 20 // bytes of all paths
	maxHashed      = 64 << 20 // bytes of one file
)

// entry is what a survey found under one name.
type entry struct {
	name    string
	path    string // below the slot; empty for the slot itself
	facts   facts
	sum     string   // SHA-256 in hexadecimal, of a file of at most maxHashed bytes that could be read
	target  string   // of a symbolic link
	entries []*entry // of a directory, in bytewise order
}

// each calls f for e and for everything below it, parents first.
func (e *entry) each(f func(*entry)) {
	f(e)
	for _, c := range e.entries {
		c.each(f)
	}
}

// tag is a strong entity tag of everything that was found, the slot's own directory included. Reading moves none of it; any change of a name,
// of contents or of a mode moves at least a ctime.
func (e *entry) tag() string {
	h := sha256.New()
	io.WriteString(h, "confined-slot/1\n")
	e.each(func(e *entry) {
		f := e.facts
		fmt.Fprintf(h, "%q %o %o %d %d %d %d %d %d %d %d %s %q\n",
			e.path, f.kind, f.perm, f.uid, f.gid, f.dev, f.ino, f.links, f.size, f.mtimeNs, f.ctimeNs, e.sum, e.target)
	})
	return `"` + hex.EncodeToString(h.Sum(nil)) + `"`
}

// survey is one walk over whatever a slot holds. It changes nothing, follows nothing, and opens nothing but directories and regular files. It
// keeps one descriptor open a level, and one for the file in hand.
type survey struct {
	ctx         context.Context
	slot        string // its path, for messages
	count, text int    // entries so far, and bytes of their paths
	hidden      string // why not everything could be shown, the first reason; empty when everything was
}

// conduct surveys an open directory that has that name in root. The only error is that of the context: what cannot be seen is left out, and
// told in hidden.
func (s *survey) conduct(root, dir int, name string) (*entry, error) {
	top := &entry{name: name}
	var err error
	if top.facts, err = statOf(dir); err != nil {
		s.hide("", "cannot be examined: "+err.Error())
		return top, nil
	}
	if s.mounted(root, top, top.facts.dev) {
		return top, nil
	}
	s.directory(dir, top, 0)
	return top, s.ctx.Err()
}

// hide notes why the survey does not show everything.
func (s *survey) hide(path, problem string) {
	if s.hidden == "" {
		s.hidden = s.where(path) + " " + problem
	}
}

func (s *survey) where(path string) string {
	if path == "" {
		return s.slot
	}
	return s.slot + "/" + printable(path)
}

// directory looks at everything in an open directory. What is found counts only if no name in it came, went or changed in between.
func (s *survey) directory(fd int, e *entry, depth int) {
	names, all, err := namesUpTo(fd, maxSurveyed-s.count)
	if err != nil {
		s.hide(e.path, "cannot be listed: "+err.Error())
		return
	}
	if !all {
		s.hide(e.path, fmt.Sprintf("holds an entry beyond the %d that are shown", maxSurveyed))
	}
	for _, name := range names {
		if s.ctx.Err() != nil || !s.room(e, name) {
			break
		}
		if found := s.look(fd, e, name, depth); found != nil {
			e.entries = append(e.entries, found)
		}
	}
	if after, err := statOf(fd); err != nil || after != e.facts {
		s.hide(e.path, "changed while it was looked at")
	}
}

// room counts one more entry, if that is still within bounds.
func (s *survey) room(parent *entry, name string) bool {
	if s.count == maxSurveyed {
		s.hide(parent.path, fmt.Sprintf("holds an entry beyond the %d that are shown", maxSurveyed))
		return false
	}
	s.count++
	if s.text += len(parent.path) + 1 + len(name); s.text > maxSurveyText {
		s.hide(parent.path, fmt.Sprintf("holds a path beyond the %d MiB of paths that are shown", maxSurveyText>>20))
		return false
	}
	return true
}

// look looks at one name; nil when it cannot even be examined.
func (s *survey) look(parent int, in *entry, name string, depth int) *entry {
	e := &entry{name: name, path: name}
	if in.path != "" {
		e.path = in.path + "/" + name
	}
	var err error
	if e.facts, err = statAt(parent, name); err != nil {
		s.hide(e.path, "cannot be examined: "+err.Error())
		return nil
	}
	switch {
	case s.mounted(parent, e, in.facts.dev):
	case e.facts.isDir() && depth+1 == maxSurveyDepth:
		s.hide(e.path, fmt.Sprintf("is %d levels down, and deeper ones are not shown", maxSurveyDepth))
	case e.facts.isDir():
		s.descend(parent, e, depth+1)
	case e.facts.isFile() && e.facts.size <= maxHashed:
		s.read(parent, e)
	case e.facts.kind == unix.S_IFLNK:
		s.resolve(parent, e)
	}
	return e
}

// mounted finds out whether something else is mounted on the entry: what is there then does not belong to the slot.
func (s *survey) mounted(parent int, e *entry, dev uint64) bool {
	mounted, err := isMountPoint(parent, e.name)
	if err != nil {
		s.hide(e.path, "cannot be examined: "+err.Error())
		return true
	}
	if mounted || e.facts.dev != dev {
		s.hide(e.path, "is a mount point; unmount it first")
		return true
	}
	return false
}

func (s *survey) descend(parent int, e *entry, depth int) {
	fd, err := openDirAt(parent, e.name)
	if err != nil {
		s.hide(e.path, "cannot be opened: "+err.Error())
		return
	}
	defer unix.Close(fd)
	if opened, err := statOf(fd); err != nil || opened != e.facts {
		s.hide(e.path, "changed while it was looked at")
		return
	}
	s.directory(fd, e, depth)
}

// read digests a file. One that may not be read is shown without a digest: its ctime still tells a change.
func (s *survey) read(parent int, e *entry) {
	fd, err := openAt(parent, e.name, unix.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	sum, err := digest(fd, e.facts.size)
	if after, statErr := statOf(fd); statErr != nil || after != e.facts {
		s.hide(e.path, "changed while it was looked at")
	}
	if err == nil {
		e.sum = hex.EncodeToString(sum[:])
	}
}

// resolve reads where a symbolic link points; that it did not change follows from its directory, since a link never changes in place.
func (s *survey) resolve(parent int, e *entry) {
	buf := make([]byte, 4096) // no longer target exists
	n := 0
	if err := again(func() (err error) { n, err = unix.Readlinkat(parent, e.name, buf); return err }); err != nil {
		s.hide(e.path, "cannot be examined: "+err.Error())
		return
	}
	e.target = string(buf[:n])
}
