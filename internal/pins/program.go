package pins

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// program takes the Node binary.
func (l *loader) program(node string) (*object, error) {
	c, err := l.openELF(node)
	if err != nil {
		return nil, notNode(node, err, machineName(l.machine))
	}
	defer c.file.Close()
	c.way.left = nil // nobody needs the path that people wrote: Node is started by its canonical one
	if err := l.fit(node, c); err != nil {
		return nil, err
	}
	if l.keep != nil {
		if c, err = l.sealed(node, c); err != nil {
			return nil, err
		}
	}
	file, err := l.takeNode(c)
	if err != nil {
		return nil, err
	}
	o := &object{file: file, elf: c.elf, origin: path.Dir(file.Path)}
	l.objects = append(l.objects, o)
	return o, nil
}

// sealed is the program as its sealed copy has it.
func (l *loader) sealed(node string, c candidate) (candidate, error) {
	c, err := l.keep.seal(l.ctx, c)
	if err != nil {
		return candidate{}, err
	}
	return c, l.fit(node, c)
}

// fit refuses what cannot be Node, or not on this host.
func (l *loader) fit(node string, c candidate) error {
	at := c.way.canonical
	switch {
	case !strings.Contains(path.Base(at), "node"):
		return notCalledNode(node, at)
	case c.elf.machine != l.machine:
		return &UnavailableError{at, fmt.Sprintf("is built for %s, and this host is %s", machineName(c.elf.machine), machineName(l.machine)), CureOfficial()}
	case c.elf.interp == "":
		return &UnavailableError{at, "is statically linked, which the boundary was never tried with", CureOfficial()}
	case !c.elf.dynamic:
		return &UnavailableError{at, "names a loader and has nothing for it to load", CureOfficial()}
	}
	return nil
}

func notCalledNode(node, at string) error {
	return &UnavailableError{node, "leads to " + at + ", which is not called node, as a version manager's shim is not", cureExecPath()}
}

// notNode says what is wrong with what the Node path leads to, on a host of that machine.
func notNode(node string, err error, machine string) error {
	switch {
	case pathProblem(node) == "" && binaryIn(node) != "":
		return &UnavailableError{node, "is a directory", "name the binary: --node " + binaryIn(node)}
	case errors.Is(err, errScript):
		return &UnavailableError{node, "is a script and not the Node binary, perhaps a version manager's shim", cureExecPath()}
	case errors.Is(err, errOtherClass), errors.Is(err, errOtherMachine):
		return &UnavailableError{node, err.Error() + ", and this host is " + machine, CureOfficial()}
	case errors.Is(err, errOtherCPU):
		return &UnavailableError{node, err.Error(), CureOfficial()}
	}
	return refusal(node, err, cureExecPath())
}

// binaryIn is where a directory that Node was installed to has the binary; empty for anything else.
func binaryIn(dir string) string {
	for _, at := range []string{dir + "/bin/node", dir + "/node"} {
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
	return ""
}
