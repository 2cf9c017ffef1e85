package client

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"confined/internal/pins"
)

// take reads the files that were listed.
func (w *walk) take() pins.Snapshot {
	var b pins.Builder
	room := int64(pins.MaxSnapshotBytes)
	for _, f := range w.files {
		n, err := w.takeFile(&b, f.path, room)
		if err != nil {
			w.fault(Unreadable, f.path, "%.300q cannot be read: %v", f.path, reason(err))
			b, room = pins.Builder{}, pins.MaxSnapshotBytes // what was taken is let go: only faults are looked for now
			continue
		}
		if room -= n; room < 0 {
			break
		}
	}
	taken, faults := b.Snapshot()
	w.faults = append(w.faults, treeFaults(faults)...)
	return taken
}

// takeFile adds a file, as far as one byte beyond room, and returns how many
// bytes that were.
func (w *walk) takeFile(b *pins.Builder, path string, room int64) (int64, error) {
	f, err := w.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe by now
	if err != nil {
		return 0, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return 0, err
	}
	there, err := w.root.Lstat(path)
	if err != nil {
		return 0, err
	}
	if !opened.Mode().IsRegular() || !os.SameFile(opened, there) {
		return 0, errReplaced
	}
	content := &io.LimitedReader{R: f, N: room + 1}
	err = b.Add(path, content)
	return room + 1 - content.N, err
}

var errReplaced = errors.New("it was replaced while the tree was read")

// reason is err without the operation and the path, which the reader knows.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
