package httpapi

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// openTar is the form application/x-tar.
func openTar(b *body, _ map[string]string) (form, error) {
	b.bound(maxTar)
	src := &tarSource{Reader: bufio.NewReaderSize(b, 32<<10)}
	return packed{
		pieces: &archive{tar: tar.NewReader(src), src: src, body: b}, whole: "archive", one: "member",
		document: "request.json", first: "tar -cf - request.json program input",
		advise: func(piece) string { return treeNames },
	}, nil
}

// archive reads a tar archive member by member. What may be no file of a
// snapshot is never read as one: links, devices, and sparse files, whose size
// is whatever their header says.
type archive struct {
	tar    *tar.Reader
	src    *tarSource
	body   *body
	opened bool
}

func (a *archive) next() (piece, error) {
	if !a.opened {
		a.opened = true
		if packer := a.packer(); packer != "" {
			return piece{}, refuse(ProblemCodeUnsupportedMediaType, "the archive is compressed (%s); send it plain, as tar -cf - makes it", packer)
		}
	}
	for {
		h, err := a.tar.Next()
		switch {
		case err == io.EOF:
			return piece{}, a.trailer()
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // paths are judged where all are
			return piece{}, a.unreadable(err)
		case h.Typeflag == tar.TypeXGlobalHeader:
			if err := globalHeader(h); err != nil {
				return piece{}, err
			}
		case h.Typeflag != tar.TypeDir:
			return piece{name: strings.TrimPrefix(h.Name, "./"), content: a.tar, unfit: unfit(h)}, nil
		}
	}
}

// packer names what the body was compressed with, by the first bytes of it.
func (a *archive) packer() string {
	start, _ := a.src.Peek(6)
	for _, known := range []struct{ magic, name string }{
		{"\x1f\x8b", "gzip"}, {"BZh", "bzip2"}, {"\xfd7zXZ\x00", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"\x04\x22\x4d\x18", "lz4"}, {"PK\x03\x04", "zip"},
	} {
		if bytes.HasPrefix(start, []byte(known.magic)) {
			return known.name
		}
	}
	return ""
}

// trailer establishes that the archive really ended, and that nothing follows:
// archive/tar takes the end of the body for the end of the archive too, and
// another tar would read on behind it.
func (a *archive) trailer() error {
	if a.src.ended {
		return a.unreadable(errors.New("it ends before the two empty blocks that end an archive"))
	}
	zeros, buf := make([]byte, 4<<10), make([]byte, 4<<10)
	for {
		n, err := a.src.Read(buf)
		if !bytes.Equal(buf[:n], zeros[:n]) {
			return refuse(ProblemCodeMalformedRequest, "something follows the end of the archive; send one archive, as one call of tar makes it")
		}
		if err == io.EOF {
			return io.EOF
		}
		if err != nil {
			return a.unreadable(err)
		}
	}
}

func (a *archive) unreadable(err error) error {
	if a.body.failed() == nil && errors.Is(err, tar.ErrFieldTooLong) {
		return refuse(ProblemCodeTooLarge, "the head of a member is too large")
	}
	if a.body.failed() == nil && (errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF)) {
		err = fmt.Errorf("%w (curl's -d leaves out line ends: send an archive with --data-binary)", err)
	}
	return a.body.refusal(err)
}

// globalHeader refuses a header for all members that says where or how large
// they are: some readers obey it, archive/tar does not. Any other is ignored.
func globalHeader(h *tar.Header) error {
	for key := range h.PAXRecords {
		if key == "path" || key == "linkpath" || key == "size" || strings.HasPrefix(key, "GNU.sparse.") {
			return refuse(ProblemCodeMalformedRequest, "a global header of the archive sets %q for all its members; leave that out", key)
		}
	}
	return nil
}

// unfit is why a member can be no file of a snapshot, with the cure; empty
// where it can.
func unfit(h *tar.Header) string {
	if strings.HasPrefix(path.Base(h.Name), "._") {
		return "a file of macOS's own, not yours: make the archive with COPYFILE_DISABLE=1 tar …, or with tar --no-mac-metadata …"
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return isSparse
		}
	}
	switch h.Typeflag {
	case tar.TypeReg:
		return ""
	case tar.TypeGNUSparse:
		return isSparse
	case tar.TypeSymlink:
		return fmt.Sprintf("this is a symbolic link to %.300q and must be a regular file: leave it out, or have tar store what it points to (tar -h)", h.Linkname)
	case tar.TypeLink:
		return fmt.Sprintf("this is a hard link to %.300q and must be a regular file: have tar store its content (GNU tar: --hard-dereference)", h.Linkname)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return "this is a device or a pipe and must be a regular file: leave it out"
	}
	return fmt.Sprintf("this is a member of type %q and must be a regular file: leave it out", h.Typeflag)
}

const isSparse = "this is stored as a sparse file and must be stored whole: leave out tar's -S, and give bsdtar --no-read-sparse"

// tarSource notes when a read finds the end of the body.
type tarSource struct {
	*bufio.Reader
	ended bool
}

func (s *tarSource) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		s.ended = true
	}
	return n, err
}
