package client

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"sync"
)

// form is a job as a multipart body. The files in it are those of the trees,
// not copies, so that a job costs no memory beyond its trees. It can be read
// once: net/http has no way to send it again.
//
// The daemon does nothing before it has read a body whole. A form that was not
// handed over to its last byte therefore started nothing.
type form struct {
	contentType string
	size        int64

	mu       sync.Mutex
	segments [][]byte // what is left to read; none of them is empty
	sealed   bool     // nothing more is handed over
}

// newForm makes the body of a request document and the two trees of its job.
func newForm(document []byte, program, input Tree) *form {
	var head bytes.Buffer
	writer := multipart.NewWriter(&head)
	f := &form{contentType: writer.FormDataContentType()}
	part := func(name string, content ...[]byte) {
		_, _ = writer.CreateFormField(name) // a Buffer takes everything
		f.add(bytes.Clone(head.Bytes()))
		f.add(content...)
		head.Reset()
	}
	part("request", document)
	for entry, content := range program.snapshot().All() {
		part("program/"+entry.Path, content...)
	}
	for entry, content := range input.snapshot().All() {
		part("input/"+entry.Path, content...)
	}
	_ = writer.Close()
	f.add(head.Bytes())
	return f
}

func (f *form) add(segments ...[]byte) {
	for _, segment := range segments {
		if len(segment) > 0 {
			f.segments = append(f.segments, segment)
			f.size += int64(len(segment))
		}
	}
}

var errSealed = errors.New("the body is closed")

// Read implements io.Reader.
func (f *form) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.segments) == 0:
		return 0, io.EOF
	case f.sealed:
		return 0, errSealed
	}
	n := copy(p, f.segments[0])
	f.segments[0] = f.segments[0][n:]
	if len(f.segments[0]) == 0 {
		f.segments = f.segments[1:]
	}
	return n, nil
}

// Close implements io.Closer.
func (f *form) Close() error {
	f.seal()
	return nil
}

// seal ends the reading, and reports whether everything had been read by then.
// The transport may still be at it in another goroutine when it gives up on a
// request: after seal the answer cannot change any more.
func (f *form) seal() (whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sealed = true
	return len(f.segments) == 0
}
