package pins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
)

// sharedBuiltin is in process.config, and so in the binary or the library that holds it, of every Node that was configured
// with --shared-builtin-…: such a Node loads parts of itself as JavaScript from files, as Debian's does from
// /usr/share/nodejs. Those files are no part of the closure.
const sharedBuiltin = "NODE_SHARED_BUILTIN_"

// spotter looks for sharedBuiltin in the chunks of a file. V8 would keep a process.config that is not Latin-1 in two
// bytes a character, and be missed: such a Node fails to start where the files it loads are not.
type spotter struct{ found bool }

func (s *spotter) look(chunk []byte) {
	s.found = s.found || bytes.Contains(chunk, []byte(sharedBuiltin))
}

// hasSharedBuiltins reads once more what file was taken from.
func hasSharedBuiltins(ctx context.Context, r io.ReaderAt, file RuntimeFile) (bool, error) {
	var s spotter
	hash := sha256.New()
	_, err := readAll(ctx, file.Path, r, func(chunk []byte, fresh int) {
		hash.Write(chunk[len(chunk)-fresh:])
		s.look(chunk)
	})
	if err == nil && [sha256.Size]byte(hash.Sum(nil)) != file.SHA256 {
		err = &UnavailableError{file.Path, "changes while it is read", cureStable}
	}
	return s.found, err
}

// dirSpotter looks for the default directories that a loader was built with. glibc keeps them in one array of
// NUL-terminated strings, each with a slash at its end, and each distribution has its own.
type dirSpotter struct {
	candidates []string
	found      map[string]bool
}

func (s *dirSpotter) look(chunk []byte) {
	for _, dir := range s.candidates {
		s.found[dir] = s.found[dir] || holdsDir(chunk, dir)
	}
}

// dirs are the candidates that were found, in their order.
func (s *dirSpotter) dirs() []string {
	var dirs []string
	for _, dir := range s.candidates {
		if s.found[dir] {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// holdsDir reports whether chunk holds dir as such, and not only as the end of /usr and dir. Whatever else stands before
// the first directory of the array is chance. What begins in the first four bytes was seen whole in the chunk before.
func holdsDir(chunk []byte, dir string) bool {
	text := []byte(dir + "/\x00")
	for from := 0; ; {
		i := bytes.Index(chunk[from:], text)
		if i < 0 {
			return false
		}
		at := from + i
		if at >= 4 && string(chunk[at-4:at]) != "/usr" {
			return true
		}
		from = at + 1
	}
}
