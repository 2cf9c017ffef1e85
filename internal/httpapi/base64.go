package httpapi

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// base64Reader decodes what src holds as RFC 4648 §4 has it, padded, and
// nothing else: the standard decoders skip line breaks, and the streaming one
// takes several texts in a row for one. Its errors are src's. Text that is not
// base64 is read to its end all the same; problem then says why it is not, and
// what was decoded is worth nothing.
type base64Reader struct {
	src     io.Reader
	text    [4 << 10]byte
	out     [3 << 10]byte
	ready   []byte // of out: decoded and not yet read
	read    int    // bytes of text before this piece
	ended   bool   // by padding: nothing may follow
	problem string
}

// reset makes it read another text.
func (b *base64Reader) reset(src io.Reader) {
	b.src, b.ready, b.read, b.ended, b.problem = src, nil, 0, false, ""
}

// Read implements io.Reader.
func (b *base64Reader) Read(p []byte) (int, error) {
	for len(b.ready) == 0 {
		n, err := fill(b.text[:], b.src)
		if b.decode(b.text[:n]); err != nil && len(b.ready) == 0 {
			return 0, err
		}
		b.read += n
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// decode decodes a piece: every one but the last is a multiple of 4 long.
func (b *base64Reader) decode(text []byte) {
	if b.problem != "" || len(text) == 0 {
		return
	}
	n, err := base64.StdEncoding.Strict().Decode(b.out[:], text)
	broken := bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0
	switch {
	case b.ended:
		b.problem = "something follows the padding"
	case err != nil || broken:
		b.problem = b.why(text, err)
	default:
		b.ready, b.ended = b.out[:n], text[len(text)-1] == '='
	}
}

// why says what is wrong with text, which does not decode.
func (b *base64Reader) why(text []byte, err error) string {
	if i := bytes.IndexFunc(text, notBase64); i >= 0 {
		c, _ := utf8.DecodeRune(text[i:])
		return fmt.Sprintf("character %d is %q", b.read+i+1, c)
	}
	if len(text)%4 != 0 {
		return "it ends too early, or its padding is missing: the length must be a multiple of 4"
	}
	var corrupt base64.CorruptInputError
	errors.As(err, &corrupt)
	return fmt.Sprintf("what follows character %d stands for no bytes", b.read+int(corrupt))
}

func notBase64(c rune) bool {
	return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", c)
}

// fill reads until p is full. Its error is r's own: io.ReadFull could not tell
// a reader that ended from one that says io.ErrUnexpectedEOF, which is one that
// was cut short.
func fill(p []byte, r io.Reader) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	return n, err
}
