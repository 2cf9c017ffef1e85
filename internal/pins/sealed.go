package pins

import (
	"context"
	"errors"
	"os"
	"slices"
)

// Sealed is a closure whose Node was copied into an [Image], and what is needed to take the closure again without reading
// what cannot have changed unseen. Its methods may be called from any goroutine, Close by the last.
type Sealed struct {
	Closure
	subject subject
	memory  *memory
}

// Seal takes the closure as [TakeClosure] does, but seals a copy of Node first and reads that: whatever becomes of the file
// at its path, the closure speaks of the bytes that the image holds. Beyond TakeClosure's errors there is
// [UnsealableError]. The caller keeps the launchers' handles open, and closes what it gets.
func Seal(ctx context.Context, node string, launchers []Launcher) (*Sealed, error) {
	s, err := subjectHere(node, launchers)
	if err != nil {
		return nil, err
	}
	return s.seal(ctx)
}

func (s subject) seal(ctx context.Context) (*Sealed, error) {
	if s.elf == nil {
		return nil, &UnsealableError{"no file can be sealed on macOS", cureSealing}
	}
	m := &memory{files: map[string]memorised{}}
	c, err := s.take(ctx, nil, m)
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return &Sealed{Closure: c, subject: s, memory: m}, nil
}

// Image is the sealed copy of Node.
func (s *Sealed) Image() *Image { return s.memory.image }

// Close lets go of the image and of every file that was held.
func (s *Sealed) Close() error { return s.memory.close() }

// Again takes the closure as it is now, for [Closure.Unchanged]: the whole search for every file is done anew, so that what
// would be found first, or by another symlink, is found. A file is not read again when it is the inode it was, of the same
// size and times, and [steadfast]; nor is Node, which runs from the image. The error is one of TakeClosure's, or a
// [ChangedError] about the image.
func (s *Sealed) Again(ctx context.Context) (Closure, error) {
	if err := s.memory.image.Check(); err != nil {
		return Closure{}, &ChangedError{s.Node, "cannot be executed: " + err.Error()}
	}
	return s.subject.take(ctx, s.memory, nil)
}

// memory is what is known of the files of a closure from a reading of theirs. A nil one knows nothing and keeps nothing.
// Once the reading is done it is not changed any more.
type memory struct {
	image      *Image
	files      map[string]memorised // by canonical path
	launchers  []RuntimeFile
	systemDirs []string // the loader's default directories
}

// memorised is one file of a memory.
type memorised struct {
	file  RuntimeFile
	elf   elfFile
	held  *os.File // so that no other file is given its inode's number; nil when it is not steadfast, and for Node
	image bool     // it is Node: elf and file.SHA256 were read from the image
}

// at is what is known of the file at a canonical path, if it is still the one that was read.
func (m *memory) at(path string, v view) (memorised, bool) {
	if m == nil {
		return memorised{}, false
	}
	known, there := m.files[path]
	if !there || !known.image && known.held == nil {
		return memorised{}, false
	}
	now := v.at(path)
	if now.err != nil {
		return memorised{}, false
	}
	id, err := fileID(now.info)
	return known, err == nil && id == known.file.ID
}

// holds says whether a file of that content was good once.
func (m *memory) holds(sum [32]byte) bool {
	if m == nil {
		return false
	}
	for _, known := range m.files {
		if known.file.SHA256 == sum {
			return true
		}
	}
	return false
}

// launcherIs is what is known of a launcher by handle, which the daemon itself runs from: a file that is executed is not
// written to, and whoever could would rather write to the daemon.
func (m *memory) launcherIs(id FileID) (RuntimeFile, bool) {
	if m == nil {
		return RuntimeFile{}, false
	}
	i := slices.IndexFunc(m.launchers, func(f RuntimeFile) bool { return f.ID == id })
	if i < 0 {
		return RuntimeFile{}, false
	}
	return m.launchers[i], true
}

// seal copies the Node of a candidate, and returns it as what was read of the copy.
func (m *memory) seal(ctx context.Context, c candidate) (candidate, error) {
	image, file, err := takeImage(ctx, c.way.canonical, c.file)
	if err != nil {
		return candidate{}, err
	}
	m.image = image
	elf, err := parseELF(image.file, file.Size)
	if err != nil { // what was opened a moment ago was one
		return candidate{}, &UnavailableError{file.Path, "changes while it is read", cureStable}
	}
	return candidate{asked: c.asked, way: c.way, file: image.file, elf: elf, taken: &file}, nil
}

// note keeps what a candidate holds, and its file open where that spares reading it again.
func (m *memory) note(c candidate, file RuntimeFile) error {
	if m == nil {
		return nil
	}
	known := memorised{file: file, elf: c.elf, image: c.taken != nil}
	if !known.image {
		var err error
		if known.held, err = hold(file); err != nil {
			return err
		}
	}
	m.files[file.Path] = known
	return nil
}

// rest keeps what is known beside the files.
func (m *memory) rest(systemDirs []string, launchers []RuntimeFile) {
	if m != nil {
		m.systemDirs, m.launchers = systemDirs, slices.Clone(launchers)
	}
}

// hold opens what file was taken from, if that is steadfast; otherwise there is nothing.
func hold(file RuntimeFile) (*os.File, error) {
	f, err := openNoSymlinks(file.Path)
	if err != nil {
		return nil, refusal(file.Path, err, cureStable)
	}
	steady, err := isSteadfast(f)
	if err == nil {
		err = stillThat(file.Path, f, file.ID)
	}
	if err != nil || !steady {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (m *memory) close() error {
	var errs []error
	if m.image != nil {
		errs = append(errs, m.image.Close())
	}
	for _, known := range m.files {
		if known.held != nil {
			errs = append(errs, known.held.Close())
		}
	}
	return errors.Join(errs...)
}
