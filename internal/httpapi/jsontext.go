package httpapi

import (
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText is the content of one string of a JSON text, decoded while it is
// read: valid UTF-8, and never altered. It ends with io.EOF behind the closing
// quote, and the jsonReader goes on there.
type jsonText struct {
	r       *jsonReader
	pending []byte // of one character, decoded and not yet read
	buf     [utf8.UTFMax]byte
	done    bool
	err     error
}

// text reads a string, whose opening quote is next.
func (r *jsonReader) text() *jsonText {
	r.skip(1)
	return &jsonText{r: r}
}

// Read implements io.Reader.
func (t *jsonText) Read(p []byte) (n int, err error) {
	for n < len(p) && t.err == nil {
		switch {
		case len(t.pending) > 0:
			k := copy(p[n:], t.pending)
			t.pending = t.pending[k:]
			n += k
		case t.done:
			t.err = io.EOF
		default:
			k := t.plain(p[n:])
			if n += k; k == 0 {
				t.err = t.special()
			}
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, t.err
}

// plain copies whole characters that stand for themselves, as far as they are
// at hand and there is room.
func (t *jsonText) plain(p []byte) int {
	at, _ := t.r.src.Peek(max(t.r.src.Buffered(), 1))
	at = at[:min(len(at), len(p))]
	n := 0
	for n < len(at) && at[n] >= ' ' && at[n] != '"' && at[n] != '\\' {
		if at[n] < utf8.RuneSelf {
			n++
			continue
		}
		c, size := utf8.DecodeRune(at[n:])
		if c == utf8.RuneError && size == 1 {
			break // cut off here, or invalid: special sees which
		}
		n += size
	}
	copy(p, at[:n])
	t.r.skip(n)
	return n
}

// special reads what plain does not: the closing quote, an escape, a character
// that is not at hand whole, or what may not be there.
func (t *jsonText) special() error {
	next, err := t.r.src.Peek(utf8.UTFMax)
	switch {
	case len(next) == 0:
		return t.r.ended(err, 0, "in string literal")
	case next[0] == '"':
		t.r.skip(1)
		t.done = true
		return nil
	case next[0] == '\\':
		return t.escape()
	case next[0] < ' ':
		return t.r.bad(0, "in string literal")
	}
	c, size := utf8.DecodeRune(next)
	if c == utf8.RuneError && size == 1 {
		return t.r.fail(0, "it is not valid UTF-8")
	}
	t.pending = t.buf[:copy(t.buf[:], next[:size])]
	t.r.skip(size)
	return nil
}

// escape reads an escape sequence.
func (t *jsonText) escape() error {
	const letters, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	next, _ := t.r.src.Peek(2)
	if len(next) == 2 && next[1] == 'u' {
		return t.unicode()
	}
	i := -1
	if len(next) == 2 {
		i = strings.IndexByte(letters, next[1])
	}
	if i < 0 {
		return t.r.bad(1, "in string escape code")
	}
	t.pending = append(t.buf[:0], meanings[i])
	t.r.skip(2)
	return nil
}

// unicode reads \uXXXX, or the two of them that are a surrogate pair. Half a
// pair is refused: no reader agrees with another about what it is.
func (t *jsonText) unicode() error {
	c, err := t.r.hex4(2)
	if err != nil {
		return err
	}
	size := 6
	if utf16.IsSurrogate(c) {
		low := rune(0)
		if next, _ := t.r.src.Peek(8); len(next) == 8 && next[6] == '\\' && next[7] == 'u' {
			if low, err = t.r.hex4(8); err != nil {
				return err
			}
		}
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			return t.r.fail(0, "half a surrogate pair stands for no character")
		}
		size = 12
	}
	t.pending = utf8.AppendRune(t.buf[:0], c)
	t.r.skip(size)
	return nil
}

// hex4 is the value of the four hexadecimal digits that many bytes ahead.
func (r *jsonReader) hex4(ahead int) (rune, error) {
	next, _ := r.src.Peek(ahead + 4)
	value := rune(0)
	for i := ahead; i < ahead+4; i++ {
		digit := -1
		if i < len(next) {
			digit = strings.IndexByte("0123456789abcdefABCDEF", next[i])
		}
		if digit < 0 {
			return 0, r.bad(i, `in \u hexadecimal character escape`)
		}
		if digit >= 16 {
			digit -= 6 // a capital
		}
		value = value<<4 | rune(digit)
	}
	return value, nil
}
