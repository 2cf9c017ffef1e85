package pins

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	maxRuntimeFile = 1 << 30 // bytes of one file of the runtime; the official Node has 150 MB
	readChunk      = 1 << 20 // bytes between two looks at the context
	chunkOverlap   = 256     // bytes of the chunk before that a look sees again; no text looked for is longer
)

// takeFile reads the whole of f, a file at path, from its start and without moving its offset. look, unless nil, sees
// every chunk, with the last chunkOverlap bytes of the one before it in front.
func takeFile(ctx context.Context, path string, f *os.File, look func(chunk []byte)) (RuntimeFile, error) {
	before, err := regularFile(path, f)
	if err != nil {
		return RuntimeFile{}, err
	}
	hash := sha256.New()
	n, err := readAll(ctx, path, f, func(chunk []byte, fresh int) {
		hash.Write(chunk[len(chunk)-fresh:])
		if look != nil {
			look(chunk)
		}
	})
	if err != nil {
		return RuntimeFile{}, err
	}
	if n != before.Size {
		return RuntimeFile{}, &UnavailableError{path, "changes while it is read", cureStable}
	}
	if err := stillThat(path, f, before); err != nil {
		return RuntimeFile{}, err
	}
	return RuntimeFile{Path: path, Size: n, SHA256: [sha256.Size]byte(hash.Sum(nil)), ID: before}, nil
}

// stillThat refuses f, a file at path, when it is no longer what before said.
func stillThat(path string, f *os.File, before FileID) error {
	after, err := regularFile(path, f)
	if err == nil && after != before {
		err = &UnavailableError{path, "changes while it is read", cureStable}
	}
	return err
}

// readAll is eachChunk of a file at path, with errors that name it.
func readAll(ctx context.Context, path string, r io.ReaderAt, see func(chunk []byte, fresh int)) (int64, error) {
	n, err := eachChunk(ctx, r, see)
	if ctx.Err() != nil {
		return n, fmt.Errorf("pins: reading %s: %w", path, ctx.Err())
	}
	if err != nil {
		return n, &UnavailableError{path, "cannot be read (" + reason(err) + ")", "repair the file or its disk"}
	}
	return n, nil
}

// eachChunk calls see with the content behind r in order: the fresh bytes at the end of chunk, after an overlap. It stops
// at one byte more than maxRuntimeFile.
func eachChunk(ctx context.Context, from io.ReaderAt, see func(chunk []byte, fresh int)) (int64, error) {
	buffer := make([]byte, chunkOverlap+readChunk)
	r := io.NewSectionReader(from, 0, maxRuntimeFile+1)
	total, kept := int64(0), 0
	for ctx.Err() == nil {
		n, err := r.Read(buffer[kept : kept+readChunk])
		if n > 0 {
			see(buffer[:kept+n], n)
			total += int64(n)
			start := max(0, kept+n-chunkOverlap)
			kept = copy(buffer, buffer[start:kept+n])
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
	return total, ctx.Err()
}

// regularFile is the identity of f if it is a regular file of a size within bounds.
func regularFile(path string, f *os.File) (FileID, error) {
	info, err := f.Stat()
	if err != nil {
		return FileID{}, &UnavailableError{path, "cannot be examined (" + reason(err) + ")", "repair the file or its disk"}
	}
	if !info.Mode().IsRegular() {
		return FileID{}, &UnavailableError{path, "is no regular file (" + info.Mode().Type().String() + ")", cureExecPath()}
	}
	if info.Size() > maxRuntimeFile {
		return FileID{}, &UnavailableError{path, fmt.Sprintf("has %d bytes, more than the bound of %d", info.Size(), maxRuntimeFile), CureOfficial()}
	}
	return fileID(info)
}

// pathProblem says why a path cannot be a part of the runtime's digest, or is empty.
func pathProblem(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "is no absolute path"
	case !utf8.ValidString(path) || hasControl(path):
		return "is a path with control characters or invalid UTF-8"
	}
	return ""
}

// reason is err without the path, which the message around it names.
func reason(err error) string {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}
