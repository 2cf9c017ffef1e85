package pins

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// isSystem says that what is loaded by this path is a library of the system, and in no file. A path that leaves these
// folders again is not such a path, nor is one in other letters: what dyld looks up is the name as it stands.
func isSystem(p string) bool {
	return (strings.HasPrefix(p, "/usr/lib/") || strings.HasPrefix(p, "/System/")) && isPlain(p)
}

// isPlain says that a path has no empty part, "." or "..".
func isPlain(p string) bool {
	return !slices.ContainsFunc(strings.Split(p, "/")[1:], func(part string) bool { return part == "" || part == "." || part == ".." })
}

// places are where dyld looks for a library that an image names so, in order. Each place is a path, or two where it is not
// certain which dyld means: what it calls the folder of an image that it found by a symlink.
func (d *dyld) places(i *image, name string) ([][]string, error) {
	rest, searched := strings.CutPrefix(name, "@rpath/")
	if !searched {
		at, err := d.expand(i, name)
		return [][]string{at}, err
	}
	var places [][]string
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
// Of an image that several ask for, the first counts here; that it does for dyld is inferred.
func (i *image) askers() []*image {
	var chain []*image
	for ; i != nil; i = i.parent {
		chain = append(chain, i)
	}
	return chain
}

// expand replaces what a path of an image may begin with. A path that still is not absolute is relative to wherever Node is
// started, and an error.
func (d *dyld) expand(i *image, name string) ([]string, error) {
	first, rest, more := strings.Cut(name, "/")
	folders := []string{""}
	switch {
	case first == "" && more:
	case first == "@executable_path":
		folders = d.images[0].folders
	case first == "@loader_path":
		folders = i.folders
	default:
		return nil, errors.New("a path that is neither absolute nor one of @rpath, @loader_path and @executable_path")
	}
	var paths []string
	for _, folder := range folders {
		paths = append(paths, folder+"/"+rest)
	}
	if p := paths[0]; first == "" && !isPlain(p) && (strings.HasPrefix(p, "/usr/lib/") || strings.HasPrefix(p, "/System/")) {
		return nil, errors.New("a path that leads through the system's folders, and perhaps out of them again")
	}
	return paths, nil
}

func placesText(places [][]string) string {
	var all []string
	for _, at := range places {
		all = append(all, at...)
	}
	if len(all) == 0 {
		return "it has nowhere to be looked for"
	}
	return strings.Join(all, " ")
}

func distinctPaths(paths []string) []string {
	var kept []string
	for _, p := range paths {
		if !slices.Contains(kept, p) {
			kept = append(kept, p)
		}
	}
	return kept
}
