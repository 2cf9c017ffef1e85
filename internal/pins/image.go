package pins

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
)

// Image is a copy of a file that nobody can change any more, root included: the kernel refuses every write to it, every
// change of its size and every further seal. It lives in memory, has no path, and is executed by its descriptor. What was
// hashed is therefore what runs, with nothing between check and use.
type Image struct {
	file *os.File
	look imageLook // as it was when it was hashed
}

// ImageName is what a sealed copy of Node is called, for people who look at a process.
const ImageName = "confined-node"

// imageLook is what tells one image from another, and a sealed one from one that is not.
type imageLook struct {
	dev, ino    uint64
	size        int64
	mode, seals uint32
}

// UnsealableError says why no sealed copy can be had here.
type UnsealableError struct{ Problem, Cure string }

func (e *UnsealableError) Error() string { return e.Problem + "; cure: " + e.Cure }

// cureSealing is for a kernel that has no sealed copies.
const cureSealing = "none is needed: Node is hashed before and after each run instead"

// File is the copy, until [Image.Close]; nobody else may close it. The descriptor is the one that wrote it, and open for
// writing still: it is the seals alone that make it harmless.
func (i *Image) File() *os.File { return i.file }

// ID says which inode the copy is.
func (i *Image) ID() (dev, ino uint64) { return i.look.dev, i.look.ino }

// Close lets go of the copy. The memory is free once no process executes it.
func (i *Image) Close() error { return i.file.Close() }

// Check establishes, without reading it, that the descriptor is still the sealed copy that was hashed.
func (i *Image) Check() error {
	now, err := lookAtImage(i.file)
	switch {
	case err != nil:
		return fmt.Errorf("the sealed copy cannot be examined: %w", err)
	case now != i.look:
		return fmt.Errorf("the sealed copy is not what was hashed: it was %+v, it is %+v", i.look, now)
	}
	return nil
}

// takeImage copies f, a file at path, and says what is in the copy, read through the seal. Size and ID are those of f,
// which were the same before and after the copying. The error is an [UnsealableError], or one of [takeFile]'s.
func takeImage(ctx context.Context, path string, f *os.File) (*Image, RuntimeFile, error) {
	before, err := regularFile(path, f)
	if err != nil {
		return nil, RuntimeFile{}, err
	}
	copied, err := sealedCopy(ctx, path, f, before.Size)
	if err != nil {
		return nil, RuntimeFile{}, err
	}
	image, file, err := readImage(ctx, path, copied, before)
	if err == nil {
		err = stillThat(path, f, before)
	}
	if err != nil {
		_ = copied.Close() // nothing was written that is to be kept
		return nil, RuntimeFile{}, err
	}
	return image, file, nil
}

// sealTries bounds how often a copy is begun again because somebody had it open for writing, or mapped, when it was to
// be sealed. Only a process of this user, or root, can have that, by way of /proc.
const sealTries = 3

// sealedCopy is a sealed copy of the size bytes of f.
func sealedCopy(ctx context.Context, path string, f *os.File, size int64) (*os.File, error) {
	for try := 1; ; try++ {
		copied, err := newImageFile(size)
		if err != nil {
			return nil, err
		}
		if err = copyTo(ctx, copied, path, f, size); err == nil {
			err = sealImageFile(copied)
		}
		if err == nil {
			return copied, nil
		}
		_ = copied.Close()
		if err != errInUse || try == sealTries {
			return nil, err
		}
	}
}

// errInUse: a copy has writers, so that it cannot be sealed.
var errInUse = &UnsealableError{"another process keeps the copy of Node open for writing while it is made", "find out which, and end it"}

// copyTo writes what is in f to an empty file.
func copyTo(ctx context.Context, to *os.File, path string, f *os.File, size int64) error {
	var full error
	n, err := readAll(ctx, path, f, func(chunk []byte, fresh int) {
		if full == nil {
			_, full = to.Write(chunk[len(chunk)-fresh:])
		}
	})
	switch {
	case err != nil:
		return err
	case full != nil:
		return &UnsealableError{"there is no memory for a copy of Node (" + reason(full) + ")", fmt.Sprintf("give the daemon %d MiB more", size>>20+1)}
	case n != size:
		return &UnavailableError{path, "changes while it is read", cureStable}
	}
	return nil
}

// readImage hashes a sealed copy of the file at path that id was said about.
func readImage(ctx context.Context, path string, copied *os.File, id FileID) (*Image, RuntimeFile, error) {
	look, err := lookAtImage(copied)
	if err != nil {
		return nil, RuntimeFile{}, &UnsealableError{"a sealed copy cannot be examined: " + reason(err), cureSealing}
	}
	hash := sha256.New()
	err = eachMapped(ctx, copied, id.Size, func(piece []byte) { hash.Write(piece) })
	if ctx.Err() != nil {
		return nil, RuntimeFile{}, fmt.Errorf("pins: reading %s: %w", path, ctx.Err())
	}
	if err != nil {
		return nil, RuntimeFile{}, &UnsealableError{"a sealed copy cannot be mapped: " + reason(err), cureSealing}
	}
	file := RuntimeFile{Path: path, Size: id.Size, SHA256: [sha256.Size]byte(hash.Sum(nil)), ID: id}
	return &Image{file: copied, look: look}, file, nil
}
