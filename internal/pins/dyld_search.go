package pins

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// isSystem says that what is loaded by this path is a library of the system, and in no file. A path that leaves these
// folders again is not such a path, nor is one in other letters: what dyld looks up is the name as it stands. Nor is the
// rest of /System: everybody's files are below /System/Volumes/Data.
func isSystem(p string) bool { return underSystem(p) && isPlain(p) }

func underSystem(p string) bool {
	return strings.HasPrefix(p, "/usr/lib/") || strings.HasPrefix(p, "/System/Library/")
}

// isPlain says that a path has no empty part, "." or "..".
func isPlain(p string) bool {
	return !slices.ContainsFunc(strings.Split(p, "/")[1:], func(part string) bool { return part == "" || part == "." || part == ".." })
}

// places are where dyld looks for a library that an image names so, in order.
func (d *dyld) places(i *image, name string) ([]string, error) {
	rest, searched := strings.CutPrefix(name, "@rpath/")
	if !searched {
		at, err := d.expand(i, name)
		return []string{at}, err
	}
	var places []string
	for _, owner := range i.askers() {
		for _, rpath := range owner.macho.rpaths {
			at, err := d.expand(owner, strings.TrimRight(rpath, "/")+"/"+rest)
			if err != nil {
				return nil, fmt.Errorf("in the folder %q of %s: %w", rpath, owner.file.Path, err)
			}
			places = append(places, at)
		}
	}
	return places, nil
}

// askers are an image, who asked for it, and so on up to the program. dyld goes through their search paths in this order.
// Of an image that several ask for, the first counts whose libraries are gone through (see dependents).
func (i *image) askers() []*image {
	var chain []*image
	for ; i != nil; i = i.parent {
		chain = append(chain, i)
	}
	return chain
}

// expand replaces what a path of an image may begin with: @loader_path is the folder that the image is in, @executable_path
// that of the program, from which dyld takes a ".." as text. A path that still is not absolute is relative to wherever Node
// is started, and an error.
func (d *dyld) expand(i *image, name string) (string, error) {
	first, rest, more := strings.Cut(name, "/")
	switch {
	case first == "" && more && underSystem(name) && !isPlain(name):
		return "", errors.New("a path that leads through the system's folders, and perhaps out of them again")
	case first == "" && more:
		return name, nil
	case first == "@executable_path":
		return path.Join(path.Dir(d.images[0].file.Path), rest), nil
	case first == "@loader_path":
		return path.Dir(i.file.Path) + "/" + rest, nil
	}
	return "", errors.New("a path that is neither absolute nor one of @rpath, @loader_path and @executable_path")
}

func placesText(places []string) string {
	if len(places) == 0 {
		return "it has nowhere to be looked for"
	}
	return strings.Join(places, " ")
}
