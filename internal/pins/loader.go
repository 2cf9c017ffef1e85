package pins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

const maxObjects = 512 // files one start of Node maps; the official one maps 9

// loader does on paper what ld.so does when a program starts, and takes every file and symlink on its way. The order in
// which objects are found is ld.so's: breadth first, and by name before any directory is searched.
type loader struct {
	ctx        context.Context
	machine    uint16
	view       view
	systemDirs []string // the default directories: candidates, until the interpreter was seen
	objects    []*object
	files      map[string]RuntimeFile // by canonical path
	aliases    map[string]string      // target by path
	left       map[string]string      // directory that a ".." led out of: the path that did

	known *memory // of an earlier reading; nil: nothing is known
	keep  *memory // what this reading is to be known by; nil: it keeps nothing
}

// object is one file as the loader maps it.
type object struct {
	file   RuntimeFile
	elf    elfFile
	origin string   // what $ORIGIN means in it
	names  []string // what it was asked for by
	parent *object  // who asked first; nil for the program and the interpreter
}

func newLoader(ctx context.Context, machine uint16, systemDirs []string) *loader {
	return &loader{ctx: ctx, machine: machine, view: view{}, systemDirs: systemDirs,
		files: map[string]RuntimeFile{}, aliases: map[string]string{}, left: map[string]string{}}
}

// candidate is an open ELF file that the loader might map.
type candidate struct {
	asked string // the path it was opened by
	way   way
	file  *os.File // nil where it need not be read
	elf   elfFile
	taken *RuntimeFile // what is in it, where that is known
}

// open opens the ELF file at the absolute path asked, unless it is known what is in it. The caller closes it. An error for
// which [passedOver] holds means that ld.so would go on searching; any other that is no [UnavailableError] is about the path
// or the form of the file.
func (l *loader) open(asked string) (candidate, error) {
	if problem := pathProblem(asked); problem != "" {
		return candidate{}, errors.New(problem)
	}
	w, err := l.view.resolve(asked)
	if err != nil {
		return candidate{}, err
	}
	if known, ok := l.known.at(w.canonical, l.view); ok {
		return candidate{asked: asked, way: w, elf: known.elf, taken: &known.file}, nil
	}
	f, err := openNoSymlinks(w.canonical)
	if err != nil {
		return candidate{}, err
	}
	id, err := regularFile(w.canonical, f)
	if err != nil {
		return candidate{}, errors.Join(err, f.Close())
	}
	parsed, err := parseELF(f, id.Size)
	if errors.Is(err, errNotELF) && isScript(f) {
		err = errScript
	}
	if err != nil {
		return candidate{}, errors.Join(err, f.Close())
	}
	return candidate{asked, w, f, parsed, nil}, nil
}

// errScript: the file begins with "#!".
var errScript = errors.New("is a script")

func isScript(r io.ReaderAt) bool {
	var start [2]byte
	n, _ := r.ReadAt(start[:], 0) // a file that cannot be read is no script that we know of
	return string(start[:n]) == "#!"
}

// passedOver reports whether ld.so, after err, looks for a library in the next directory.
func passedOver(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, errOtherClass) || errors.Is(err, errOtherMachine)
}

// refusal is err, about what is at path, as an [UnavailableError].
func refusal(path string, err error, cure string) error {
	var unavailable *UnavailableError
	switch {
	case errors.As(err, &unavailable):
		return unavailable
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &UnavailableError{path, "is not there", cure}
	case errors.Is(err, fs.ErrPermission):
		return &UnavailableError{path, "cannot be read by this user", "make it readable for the user that confined runs as"}
	}
	return &UnavailableError{path, reason(err), cure}
}

// take records what is in a candidate, and the way to it. look is as in [takeFile], and is not asked about what is known.
func (l *loader) take(c candidate, look func([]byte)) (RuntimeFile, error) {
	if err := l.record(c.asked, c.way); err != nil {
		return RuntimeFile{}, err
	}
	if known, taken := l.files[c.way.canonical]; taken {
		return known, nil
	}
	file, err := l.read(c, look)
	if err != nil {
		return RuntimeFile{}, err
	}
	l.files[file.Path] = file
	return file, l.keep.note(c, file)
}

func (l *loader) read(c candidate, look func([]byte)) (RuntimeFile, error) {
	if c.taken != nil {
		return *c.taken, nil
	}
	return takeFile(l.ctx, c.way.canonical, c.file, look)
}

// takeNode is take for the program and its libraries, which may hold a Node that loads JavaScript from other files. Of an
// official binary it is known that it does not, and of what was once found good: looking for it in 150 MB costs a quarter
// of hashing them.
func (l *loader) takeNode(c candidate) (RuntimeFile, error) {
	file, err := l.take(c, nil)
	if err != nil || l.known.holds(file.SHA256) || isOfficial(file.SHA256) {
		return file, err
	}
	shared, err := hasSharedBuiltins(l.ctx, c.file, file)
	if err == nil && shared {
		err = &UnavailableError{c.way.canonical,
			"was built to load parts of Node as JavaScript from outside its binary (" + sharedBuiltin + "… in process.config), as distributions' packages are",
			CureOfficial()}
	}
	if err != nil {
		return RuntimeFile{}, err
	}
	return file, nil
}

// record keeps the symlinks of a way.
func (l *loader) record(asked string, w way) error {
	if problem := pathProblem(w.canonical); problem != "" {
		return &UnavailableError{w.canonical, problem, "install Node under another path"}
	}
	for _, a := range w.aliases {
		if hasControl(a.Target) || pathProblem(a.Path) != "" || pathProblem("/"+a.Target) != "" {
			return &UnavailableError{a.Path, "is a symlink with control characters or invalid UTF-8", "install Node under another path"}
		}
		l.aliases[a.Path] = a.Target
	}
	for _, dir := range w.left {
		l.left[dir] = asked
	}
	return nil
}

// passable refuses a path that leads through a directory and out of it again by ".." when nothing of the closure is in
// that directory: whoever rebuilds the tree from the closure would not make it, and the loader would not get through.
func (l *loader) passable() error {
	for dir, asked := range l.left {
		if !l.makes(dir) {
			return &UnavailableError{asked, "leads through " + dir + ", which holds no part of the runtime", CureOfficial()}
		}
	}
	return nil
}

// makes reports whether a tree of the files and aliases has that directory.
func (l *loader) makes(dir string) bool {
	for p := range l.files {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	for p := range l.aliases {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// taken is what was recorded, in bytewise path order.
func (l *loader) taken() ([]RuntimeFile, []Alias) {
	var files []RuntimeFile
	for _, f := range l.files {
		files = append(files, f)
	}
	var aliases []Alias
	for p, target := range l.aliases {
		aliases = append(aliases, Alias{p, target})
	}
	slices.SortFunc(files, func(a, b RuntimeFile) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(aliases, func(a, b Alias) int { return strings.Compare(a.Path, b.Path) })
	return files, aliases
}

// interpreter takes the loader that program names, and learns its default directories.
func (l *loader) interpreter(program *object) error {
	asked := program.elf.interp
	if name := path.Base(asked); name != "ld-linux-x86-64.so.2" && name != "ld-linux-aarch64.so.1" {
		return &UnavailableError{program.file.Path,
			fmt.Sprintf("is loaded by %q, which is not the loader of glibc (musl's searches in other ways)", asked), CureOfficial()}
	}
	c, err := l.open(asked)
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
