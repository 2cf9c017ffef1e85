package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// defaultDirs are the default directories of any distribution's glibc, in the order they are searched. Each loader has
// some of them only, see [dirSpotter].
func defaultDirs(machine uint16) []string {
	triplet := "x86_64-linux-gnu"
	if machine == machineARM64 {
		triplet = "aarch64-linux-gnu"
	}
	return []string{"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}
}

// libraries takes everything that is needed, breadth first.
func (l *loader) libraries() error {
	for i := 0; i < len(l.objects); i++ {
		for _, name := range l.objects[i].elf.needed {
			if err := l.need(l.objects[i], name); err != nil {
				return err
			}
		}
		if len(l.objects) > maxObjects {
			return &UnavailableError{l.objects[0].file.Path, fmt.Sprintf("needs more than %d libraries", maxObjects), CureOfficial()}
		}
	}
	return nil
}

// need finds the library that o needs by that name, as _dl_map_object does.
func (l *loader) need(o *object, name string) error {
	name, err := expand(name, o.origin)
	if err != nil {
		return &UnavailableError{o.file.Path, err.Error(), CureOfficial()}
	}
	if l.has(name) {
		return nil
	}
	if strings.Contains(name, "/") {
		return l.needPath(o, name)
	}
	dirs, err := l.searchDirs(o)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := l.view.variants(dir, name); err != nil {
			return err
		}
		found, err := l.try(o, name, dir+"/"+name)
		if found || err != nil {
			return err
		}
	}
	return &UnavailableError{o.file.Path,
		fmt.Sprintf("needs %q, which is in none of the directories that the loader searches without its cache (%s)", name, strings.Join(dirs, " ")),
		cureInstall()}
}

// needPath is need for a name with a slash, which is not searched for.
func (l *loader) needPath(o *object, name string) error {
	if !strings.HasPrefix(name, "/") {
		return &UnavailableError{o.file.Path, fmt.Sprintf("needs %q, relative to wherever it is started", name), CureOfficial()}
	}
	found, err := l.try(o, name, name)
	if err == nil && !found {
		return &UnavailableError{o.file.Path, fmt.Sprintf("needs %q, which is not there", name), cureInstall()}
	}
	return err
}

// has reports whether an object is known by that name, or names itself so.
func (l *loader) has(name string) bool {
	return slices.ContainsFunc(l.objects, func(o *object) bool {
		return o.elf.soname == name || slices.Contains(o.names, name)
	})
}

// try maps the file at path as the library that o needs by that name. It is not found when ld.so would search on.
func (l *loader) try(o *object, name, at string) (found bool, err error) {
	c, err := l.openELF(at)
	switch {
	case err != nil && passedOver(err):
		return false, nil
	case err != nil:
		return false, refusal(at, err, CureOfficial())
	}
	defer c.file.Close()
	if c.elf.machine != l.machine {
		return false, nil
	}
	if c.elf.kind != elfDyn || !c.elf.dynamic {
		return false, &UnavailableError{at, "is no shared library", CureOfficial()}
	}
	file, err := l.takeNode(c)
	if err != nil {
		return false, err
	}
	for _, known := range l.objects {
		if known.file.ID.Dev == file.ID.Dev && known.file.ID.Ino == file.ID.Ino {
			known.names = append(known.names, name)
			return true, nil
		}
	}
	l.objects = append(l.objects, &object{file: file, elf: c.elf, origin: path.Dir(at), names: []string{name}, parent: o})
	return true, nil
}

// passedOver reports whether ld.so, after err, looks for a library in the next directory.
func passedOver(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, errOtherClass) || errors.Is(err, errOtherMachine)
}

// searchDirs are the directories in which ld.so looks for what o needs: RPATH of o and of those who asked for it, unless
// o has a RUNPATH; then the RUNPATH of o alone; then the default ones.
func (l *loader) searchDirs(o *object) ([]string, error) {
	var dirs []string
	if o.elf.runpath == nil {
		for _, asker := range l.askers(o) {
			if asker.elf.runpath != nil {
				continue // its RPATH does not count
			}
			more, err := dirList(asker, asker.elf.rpath)
			if err != nil {
				return nil, err
			}
			dirs = append(dirs, more...)
		}
	}
	more, err := dirList(o, o.elf.runpath)
	if err != nil {
		return nil, err
	}
	dirs = append(dirs, more...)
	if o.elf.noDefault {
		return dirs, nil
	}
	return append(dirs, l.systemDirs...), nil
}

// askers are o, who asked for it, who asked for that, and always the program at last.
func (l *loader) askers(o *object) []*object {
	var chain []*object
	for ; o != nil; o = o.parent {
		chain = append(chain, o)
	}
	if program := l.objects[0]; chain[len(chain)-1] != program {
		chain = append(chain, program)
	}
	return chain
}

// dirList is an RPATH or RUNPATH of o, nil or empty for none.
func dirList(o *object, list *string) ([]string, error) {
	if list == nil || *list == "" {
		return nil, nil
	}
	var dirs []string
	for dir := range strings.SplitSeq(*list, ":") {
		expanded, err := expand(dir, o.origin)
		if err != nil {
			return nil, &UnavailableError{o.file.Path, err.Error(), CureOfficial()}
		}
		if !strings.HasPrefix(expanded, "/") {
			return nil, &UnavailableError{o.file.Path, fmt.Sprintf("has the library directory %q, relative to wherever it is started", dir), CureOfficial()}
		}
		dirs = append(dirs, strings.TrimRight(expanded, "/"))
	}
	return dirs, nil
}

// expand replaces $ORIGIN and ${ORIGIN}. Any other token ($LIB, $PLATFORM) differs from host to host and is an error.
func expand(s, origin string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, "$")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		rest, braced := strings.CutPrefix(after, "{ORIGIN}")
		if !braced {
			bare, plain := strings.CutPrefix(after, "ORIGIN")
			if !plain || continuesName(bare) {
				return "", fmt.Errorf("uses a token other than $ORIGIN in a library path: %q", "$"+after)
			}
			rest = bare
		}
		out.WriteString(origin)
		s = rest
	}
}

// continuesName reports whether s begins with a character of identifiers.
func continuesName(s string) bool {
	return s != "" && (s[0] == '_' || 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z' || '0' <= s[0] && s[0] <= '9')
}
