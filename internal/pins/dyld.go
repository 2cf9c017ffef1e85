package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// dyld does on paper what dyld does when a program of macOS starts, and takes every file and symlink on its way but those
// of the system, in dyld's order. Its rules are those of dyld(1) and of dyld's published source; nothing of it was tried on a
// Mac.
type dyld struct {
	taker
	images []*image
	looked int // places that were looked at
}

// maxPlaces are looked at for all libraries together. A Node of Homebrew needs about a hundred.
const maxPlaces = 1 << 17

// image is one file as dyld maps it.
type image struct {
	file    RuntimeFile // by its canonical path, by which dyld knows it too (F_GETPATH)
	macho   machoFile
	parent  *image // through whom dyld came to its libraries; nil for the program
	through bool   // its libraries were gone through
}

// takeMac takes the closure of a Node for macOS. The libraries of the system are in no file (since macOS 11 they are in the
// shared cache): they are known by the host's build.
func (s subject) takeMac(t taker) (Closure, error) {
	d := &dyld{taker: t}
	if err := d.program(s.node); err != nil {
		return Closure{}, err
	}
	if err := d.dependents(d.images[0]); err != nil {
		return Closure{}, err
	}
	launchers, err := d.launchers(s.launchers)
	if err != nil {
		return Closure{}, err
	}
	files, aliases := d.taken()
	return Closure{Node: d.images[0].file.Path, Interpreter: dyldPath, Files: files, Aliases: aliases, Launchers: launchers}, nil
}

// openMachO is open for a Mach-O file.
func (d *dyld) openMachO(asked string) (candidate, error) {
	return d.open(asked, func(c *candidate, size int64) (err error) {
		c.macho, err = parseMachO(c.file, size)
		return err
	})
}

// program takes the Node binary, which is started by its canonical path.
func (d *dyld) program(node string) error {
	c, err := d.openMachO(node)
	if err != nil {
		return notNode(node, err, "arm64")
	}
	defer c.file.Close()
	at := c.way.canonical
	switch {
	case !strings.Contains(path.Base(at), "node"):
		return notCalledNode(node, at)
	case c.macho.kind != machoExecute:
		return &UnavailableError{at, "is a library and no program", cureExecPath()}
	}
	_, err = d.add(c)
	return err
}

// add takes a file and its place among the images.
func (d *dyld) add(c candidate) (*image, error) {
	file, err := d.takeNode(c)
	if err != nil {
		return nil, err
	}
	for _, known := range d.images {
		if known.file.Path == file.Path {
			return known, nil
		}
	}
	if len(d.images) > maxObjects {
		return nil, &UnavailableError{d.images[0].file.Path, fmt.Sprintf("needs more than %d libraries", maxObjects), CureOfficial()}
	}
	added := &image{file: file, macho: c.macho}
	d.images = append(d.images, added)
	return added, nil
}

// dependents takes what an image names, and then goes through each of those before whatever else is waiting. That is dyld's
// order (JustInTimeLoader::loadDependents in its published source), and decides whose search paths count: an image is
// searched for by those on the way along which its libraries are first gone through, not by whoever asked for it first.
func (d *dyld) dependents(i *image) error {
	i.through = true
	var next []*image
	for _, l := range i.macho.dylibs {
		needed, err := d.need(i, l)
		if err != nil {
			return err
		}
		if needed != nil {
			next = append(next, needed)
		}
	}
	for _, n := range next {
		if n.through {
			continue
		}
		n.parent = i
		if err := d.dependents(n); err != nil {
			return err
		}
	}
	return nil
}

// need takes the library that an image names. Of several places the first that has a file counts. Those of the system cannot
// be looked at: one that comes before a file leaves it open which is loaded. There is no image of what is of the system or
// is not there.
//
// The closure may hold more than dyld loads: a library that was loaded under the same name before is not searched for again
// there. And a weak library that is missing is done without, although a binary made before 2023 may have dyld look in
// /usr/local/lib then (dyld(1)): what is not in the closure the profile denies.
func (d *dyld) need(i *image, l machoDylib) (*image, error) {
	places, err := d.places(i, l.name)
	if err != nil {
		return nil, &UnavailableError{i.file.Path, fmt.Sprintf("needs %q: %v", l.name, err), CureOfficial()}
	}
	if d.looked += len(places); d.looked > maxPlaces {
		return nil, &UnavailableError{i.file.Path, fmt.Sprintf("has its libraries looked for in more than %d places", maxPlaces), CureOfficial()}
	}
	system := ""
	for _, at := range places {
		if isSystem(at) {
			system = at
			continue
		}
		switch there, err := d.exists(at); {
		case err != nil:
			return nil, refusal(at, err, CureOfficial())
		case there && system != "":
			return nil, &UnavailableError{i.file.Path, fmt.Sprintf("needs %q, which may be %s of the system or %s", l.name, system, at), CureOfficial()}
		case there:
			return d.library(at)
		}
	}
	if system != "" || l.weak {
		return nil, nil
	}
	return nil, &UnavailableError{i.file.Path, fmt.Sprintf("needs %q, which is not there (%s)", l.name, placesText(places)), cureInstall()}
}

// exists says whether there is a file. What cannot be looked at is an error: dyld would go on searching, perhaps.
func (d *dyld) exists(at string) (bool, error) {
	_, err := d.view.resolve(at)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// library takes the file that a path leads to. dyld passes over some of what is refused here: folders, empty files, code for
// other processors.
func (d *dyld) library(at string) (*image, error) {
	c, err := d.openMachO(at)
	if err != nil {
		return nil, refusal(at, err, CureOfficial())
	}
	defer c.file.Close()
	if c.macho.kind != machoLibrary {
		return nil, &UnavailableError{at, "is no library", CureOfficial()}
	}
	return d.add(c)
}
