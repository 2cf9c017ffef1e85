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
// of the system, breadth first. Its rules are those of dyld(1) and of the notes beside them here; nothing of it was tried
// on a Mac.
type dyld struct {
	taker
	images []*image
}

// image is one file as dyld maps it.
type image struct {
	file    RuntimeFile
	macho   machoFile
	folders []string // what @loader_path means in it: the folder by each of the paths that it may go by
	parent  *image   // who asked first; nil for the program
}

// takeMac takes the closure of a Node for macOS. The libraries of the system are in no file (since macOS 11 they are in the
// shared cache): they are known by the host's build.
func (s subject) takeMac(t taker) (Closure, error) {
	d := &dyld{taker: t}
	if err := d.program(s.node); err != nil {
		return Closure{}, err
	}
	if err := d.libraries(); err != nil {
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
	return d.add(c, nil, path.Dir(at))
}

// add takes a file and its place among the images.
func (d *dyld) add(c candidate, parent *image, folders ...string) error {
	file, err := d.takeNode(c)
	if err != nil {
		return err
	}
	for _, known := range d.images {
		if known.file.Path == file.Path {
			return nil
		}
	}
	d.images = append(d.images, &image{file, c.macho, distinctPaths(folders), parent})
	return nil
}

// libraries takes everything that is needed.
func (d *dyld) libraries() error {
	for i := 0; i < len(d.images); i++ {
		for _, l := range d.images[i].macho.dylibs {
			if err := d.need(d.images[i], l); err != nil {
				return err
			}
		}
		if len(d.images) > maxObjects {
			return &UnavailableError{d.images[0].file.Path, fmt.Sprintf("needs more than %d libraries", maxObjects), CureOfficial()}
		}
	}
	return nil
}

// need takes the library that an image names. Of several places the first that has a file counts. Those of the system cannot
// be looked at: one that comes before a file leaves it open which is loaded.
func (d *dyld) need(i *image, l machoDylib) error {
	places, err := d.places(i, l.name)
	if err != nil {
		return &UnavailableError{i.file.Path, fmt.Sprintf("needs %q: %v", l.name, err), CureOfficial()}
	}
	system := ""
	for _, at := range places {
		if isSystem(at[0]) {
			system = at[0]
			continue
		}
		there, err := d.exists(at)
		switch {
		case err != nil:
			return refusal(at[0], err, CureOfficial())
		case there && system != "":
			return &UnavailableError{i.file.Path, fmt.Sprintf("needs %q, which may be %s of the system or %s", l.name, system, at[0]), CureOfficial()}
		case there:
			return d.library(i, at)
		}
	}
	if system != "" || l.weak {
		return nil
	}
	return &UnavailableError{i.file.Path, fmt.Sprintf("needs %q, which is not there (%s)", l.name, placesText(places)), cureInstall()}
}

// exists says whether there is a file, by whichever of its paths. What cannot be looked at is an error: dyld would go on
// searching, perhaps.
func (d *dyld) exists(at []string) (bool, error) {
	found := 0
	for _, p := range at {
		_, err := d.view.resolve(p)
		switch {
		case err == nil:
			found++
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return false, err
		}
	}
	if found > 0 && found < len(at) {
		return false, fmt.Errorf("is there, and %s is not: which of them dyld looks for is not certain", at[1])
	}
	return found > 0, nil
}

// library takes the file that one or two paths lead to; two must lead to the same.
func (d *dyld) library(i *image, at []string) error {
	var folders []string
	for _, p := range at {
		w, err := d.view.resolve(p)
		if err != nil {
			return refusal(p, err, cureStable)
		}
		folders = append(folders, path.Dir(path.Clean(p)), path.Dir(w.canonical))
		if err := d.record(p, w); err != nil {
			return err
		}
	}
	c, err := d.openMachO(at[0])
	if err != nil {
		return refusal(at[0], err, CureOfficial())
	}
	defer c.file.Close()
	if c.macho.kind != machoLibrary {
		return &UnavailableError{at[0], "is no library", CureOfficial()}
	}
	for _, p := range at[1:] {
		if w, err := d.view.resolve(p); err != nil || w.canonical != c.way.canonical {
			return &UnavailableError{at[0], "and " + p + " are two files: which of them dyld loads is not certain", CureOfficial()}
		}
	}
	return d.add(c, i, folders...)
}
