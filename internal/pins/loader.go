package pins

import (
	"fmt"
	"path"
)

// loader does on paper what ld.so does when a program starts, and takes every file and symlink on its way. The order in
// which objects are found is ld.so's: breadth first, and by name before any directory is searched.
type loader struct {
	taker
	elfHost
	objects []*object
}

// elfHost is a host as its loader sees it.
type elfHost struct {
	machine    uint16
	systemDirs []string // the default directories: candidates, until the interpreter was seen
}

// object is one file as the loader maps it.
type object struct {
	file   RuntimeFile
	elf    elfFile
	origin string   // what $ORIGIN means in it
	names  []string // what it was asked for by
	parent *object  // who asked first; nil for the program and the interpreter
}

// takeELF takes the closure of a Node for Linux.
func (s subject) takeELF(t taker) (Closure, error) {
	l := &loader{taker: t, elfHost: *s.elf}
	program, err := l.program(s.node)
	if err != nil {
		return Closure{}, err
	}
	if err := l.interpreter(program); err != nil {
		return Closure{}, err
	}
	if err := l.libraries(); err != nil {
		return Closure{}, err
	}
	if err := l.passable(); err != nil {
		return Closure{}, err
	}
	launchers, err := l.launchers(s.launchers)
	if err != nil {
		return Closure{}, err
	}
	l.keep.rest(l.systemDirs, launchers)
	files, aliases := l.taken()
	return Closure{
		Node: program.file.Path, Interpreter: program.elf.interp, Files: files, Aliases: aliases,
		Launchers: launchers,
	}, nil
}

// openELF is open for an ELF file. An error for which [passedOver] holds means that ld.so would go on searching.
func (l *loader) openELF(asked string) (candidate, error) {
	return l.open(asked, func(c *candidate, size int64) (err error) {
		c.elf, err = parseELF(c.file, size)
		return err
	})
}

// interpreter takes the loader that program names, and learns its default directories.
func (l *loader) interpreter(program *object) error {
	asked := program.elf.interp
	if name := path.Base(asked); name != "ld-linux-x86-64.so.2" && name != "ld-linux-aarch64.so.1" {
		return &UnavailableError{program.file.Path,
			fmt.Sprintf("is loaded by %q, which is not the loader of glibc (musl's searches in other ways)", asked), CureOfficial()}
	}
	c, err := l.openELF(asked)
	if err != nil {
		return refusal(asked, err, cureInstall())
	}
	defer c.file.Close()
	if c.elf.machine != l.machine || c.elf.kind != elfDyn || c.elf.interp != "" || !c.elf.dynamic {
		return &UnavailableError{asked, "is no loader for " + machineName(l.machine), cureInstall()}
	}
	spotter := dirSpotter{candidates: l.systemDirs, found: map[string]bool{}}
	file, err := l.take(c, spotter.look)
	if err != nil {
		return err
	}
	l.systemDirs = spotter.dirs()
	if c.taken != nil {
		l.systemDirs = l.known.systemDirs
	}
	l.objects = append(l.objects, &object{file: file, elf: c.elf, origin: path.Dir(asked), names: []string{asked}})
	return nil
}

// machineOf is the ELF machine that this build's host executes.
func machineOf(goos, goarch string) (uint16, bool) {
	switch goos + "/" + goarch {
	case "linux/amd64":
		return machineAMD64, true
	case "linux/arm64":
		return machineARM64, true
	}
	return 0, false
}

// machineName is the machine as people call it.
func machineName(machine uint16) string {
	if machine == machineARM64 {
		return "arm64"
	}
	return "amd64"
}
