package pins

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

const maxObjects = 512 // files one start of Node maps; the official one for Linux maps 9

// taker takes the files that a start of Node maps, and every symlink on the way to them. What a loader would look for, and
// where, is for those who embed it: loader and dyld.
type taker struct {
	ctx     context.Context
	view    view
	files   map[string]RuntimeFile // by canonical path
	aliases map[string]string      // target by path
	left    map[string]string      // directory that a ".." led out of: the path that did

	known *memory // of an earlier reading; nil: nothing is known
	keep  *memory // what this reading is to be known by; nil: it keeps nothing
}

func newTaker(ctx context.Context, known, keep *memory) taker {
	return taker{ctx: ctx, view: view{}, files: map[string]RuntimeFile{}, aliases: map[string]string{}, left: map[string]string{}, known: known, keep: keep}
}

// candidate is an open file that a loader might map.
type candidate struct {
	asked string // the path it was opened by
	way   way
	file  *os.File     // nil where it need not be read
	elf   elfFile      // of the loader's
	macho machoFile    // of dyld's
	taken *RuntimeFile // what is in it, where that is known
}

// open opens the file at the absolute path asked and has its headers read, unless it is known what is in it. The caller
// closes it. An error that is no [UnavailableError] is about the path or the form of the file.
func (t *taker) open(asked string, parse func(c *candidate, size int64) error) (candidate, error) {
	if problem := pathProblem(asked); problem != "" {
		return candidate{}, errors.New(problem)
	}
	w, err := t.view.resolve(asked)
	if err != nil {
		return candidate{}, err
	}
	if known, ok := t.known.at(w.canonical, t.view); ok {
		return candidate{asked: asked, way: w, elf: known.elf, taken: &known.file}, nil
	}
	f, err := openNoSymlinks(w.canonical)
	if err != nil {
		return candidate{}, err
	}
	c := candidate{asked: asked, way: w, file: f}
	if err := c.parseHeaders(parse); err != nil {
		return candidate{}, errors.Join(err, f.Close())
	}
	return c, nil
}

// parseHeaders has the headers of a regular file read, under the name that it has on the disk.
func (c *candidate) parseHeaders(parse func(c *candidate, size int64) error) error {
	if err := spelledRight(c.file, c.way.canonical); err != nil {
		return err
	}
	id, err := regularFile(c.way.canonical, c.file)
	if err != nil {
		return err
	}
	err = parse(c, id.Size)
	if (errors.Is(err, errNotELF) || errors.Is(err, errNotMachO)) && isScript(c.file) {
		return errScript
	}
	return err
}

// errScript: the file begins with "#!".
var errScript = errors.New("is a script")

func isScript(r io.ReaderAt) bool {
	var start [2]byte
	n, _ := r.ReadAt(start[:], 0) // a file that cannot be read is no script that we know of
	return string(start[:n]) == "#!"
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
func (t *taker) take(c candidate, look func([]byte)) (RuntimeFile, error) {
	if err := t.record(c.asked, c.way); err != nil {
		return RuntimeFile{}, err
	}
	if known, taken := t.files[c.way.canonical]; taken {
		return known, nil
	}
	file, err := t.read(c, look)
	if err != nil {
		return RuntimeFile{}, err
	}
	t.files[file.Path] = file
	return file, t.keep.note(c, file)
}

func (t *taker) read(c candidate, look func([]byte)) (RuntimeFile, error) {
	if c.taken != nil {
		return *c.taken, nil
	}
	return takeFile(t.ctx, c.way.canonical, c.file, look)
}

// takeNode is take for the program and its libraries, which may hold a Node that loads JavaScript from other files. Of an
// official binary it is known that it does not, and of what was once found good: looking for it in 150 MB costs a quarter
// of hashing them.
func (t *taker) takeNode(c candidate) (RuntimeFile, error) {
	file, err := t.take(c, nil)
	if err != nil || t.known.holds(file.SHA256) || isOfficial(file.SHA256) {
		return file, err
	}
	shared, err := hasSharedBuiltins(t.ctx, c.file, file)
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
func (t *taker) record(asked string, w way) error {
	if problem := pathProblem(w.canonical); problem != "" {
		return &UnavailableError{w.canonical, problem, "install Node under another path"}
	}
	for _, a := range w.aliases {
		if hasControl(a.Target) || pathProblem(a.Path) != "" || pathProblem("/"+a.Target) != "" {
			return &UnavailableError{a.Path, "is a symlink with control characters or invalid UTF-8", "install Node under another path"}
		}
		t.aliases[a.Path] = a.Target
	}
	for _, dir := range w.left {
		t.left[dir] = asked
	}
	return nil
}

// passable refuses a path that leads through a directory and out of it again by ".." when nothing of the closure is in
// that directory: whoever rebuilds the tree from the closure would not make it, and the loader would not get through.
func (t *taker) passable() error {
	for dir, asked := range t.left {
		if !t.makes(dir) {
			return &UnavailableError{asked, "leads through " + dir + ", which holds no part of the runtime", CureOfficial()}
		}
	}
	return nil
}

// makes reports whether a tree of the files and aliases has that directory.
func (t *taker) makes(dir string) bool {
	for p := range t.files {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	for p := range t.aliases {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// taken is what was recorded, in bytewise path order.
func (t *taker) taken() ([]RuntimeFile, []Alias) {
	var files []RuntimeFile
	for _, f := range t.files {
		files = append(files, f)
	}
	var aliases []Alias
	for p, target := range t.aliases {
		aliases = append(aliases, Alias{p, target})
	}
	slices.SortFunc(files, func(a, b RuntimeFile) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(aliases, func(a, b Alias) int { return strings.Compare(a.Path, b.Path) })
	return files, aliases
}

// launchers takes what starts Node, in the order given.
func (t *taker) launchers(all []Launcher) ([]RuntimeFile, error) {
	var taken []RuntimeFile
	for _, one := range all {
		file, err := t.launcher(one)
		if err != nil {
			return nil, err
		}
		taken = append(taken, file)
	}
	return taken, nil
}

func (t *taker) launcher(one Launcher) (RuntimeFile, error) {
	if problem := pathProblem(one.Path); problem != "" {
		return RuntimeFile{}, &UnavailableError{one.Path, problem, "install confined under another path"}
	}
	if one.File == nil {
		return t.launcherAt(one.Path)
	}
	id, err := regularFile(one.Path, one.File)
	if err != nil {
		return RuntimeFile{}, err
	}
	if file, known := t.known.launcherIs(id); known {
		return file, nil
	}
	return takeFile(t.ctx, one.Path, one.File, nil)
}

// launcherAt takes a launcher that is executed by its path.
func (t *taker) launcherAt(path string) (RuntimeFile, error) {
	f, err := openNoSymlinks(path)
	if err != nil {
		return RuntimeFile{}, refusal(path, err, cureInstall())
	}
	defer f.Close()
	if err := spelledRight(f, path); err != nil {
		return RuntimeFile{}, err
	}
	return takeFile(t.ctx, path, f, nil)
}
