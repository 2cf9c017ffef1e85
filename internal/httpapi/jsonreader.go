package httpapi

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonReader reads one JSON text (RFC 8259) front to back, and holds no more of
// it than it is asked to keep. Its errors are those of the reader below it, or
// say where and why the text is none.
type jsonReader struct {
	src    *bufio.Reader
	offset int64 // of the next byte in the text
	line   int   // the line it is in, from 1
	begin  int64 // offset of that line's first byte

	takers map[string]taker
	values int // read so far
	kept   int // bytes of text kept so far
}

// newJSONReader reads from src, whose length is a guess, or negative.
func newJSONReader(src io.Reader, length int64) *jsonReader {
	size := int64(32 << 10)
	if length >= 0 {
		size = min(max(length, 4<<10), size) // what is looked at ahead is never more than some bytes
	}
	return &jsonReader{src: bufio.NewReaderSize(src, int(size)), line: 1}
}

// syntaxError is where a text stops being JSON with one reading.
type syntaxError struct {
	line    int
	byte    int64 // in that line, from 1
	problem string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, byte %d: %s", e.line, e.byte, e.problem)
}

// fail is a problem with the byte that many ahead.
func (r *jsonReader) fail(ahead int, problem string) error {
	return &syntaxError{r.line, r.offset + int64(ahead) - r.begin + 1, problem}
}

// bad is that the byte that many ahead, or the end there, is none of those that
// may be where it is.
func (r *jsonReader) bad(ahead int, where string) error {
	next, err := r.src.Peek(ahead + utf8.UTFMax)
	if len(next) <= ahead {
		return r.ended(err, ahead, where)
	}
	c, size := utf8.DecodeRune(next[ahead:])
	if c == utf8.RuneError && size == 1 {
		return r.fail(ahead, "it is not valid UTF-8")
	}
	return r.fail(ahead, fmt.Sprintf("invalid character %s %s", strconv.QuoteRune(c), where))
}

// ended is that nothing can be read where something must be.
func (r *jsonReader) ended(err error, ahead int, where string) error {
	if err != io.EOF {
		return err
	}
	return r.fail(ahead, strings.TrimSpace("unexpected end of JSON input "+where))
}

func (r *jsonReader) skip(n int) {
	_, _ = r.src.Discard(n) // peeked before
	r.offset += int64(n)
}

// next is the next byte, which stays unread; 0, which is in no JSON text, where
// there is none.
func (r *jsonReader) next() byte {
	next, _ := r.src.Peek(1) // bad, or whoever reads on, gets the error
	if len(next) == 0 {
		return 0
	}
	return next[0]
}

// start establishes that no byte order mark is there.
func (r *jsonReader) start() error {
	if next, _ := r.src.Peek(3); bytes.Equal(next, []byte("\ufeff")) {
		return r.fail(0, "it starts with a byte order mark; leave that out")
	}
	return nil
}

// space reads white space.
func (r *jsonReader) space() {
	for {
		switch r.next() {
		case ' ', '\t', '\r':
			r.skip(1)
		case '\n':
			r.skip(1)
			r.line++
			r.begin = r.offset
		default:
			return
		}
	}
}

// peek reads white space and says which byte is next.
func (r *jsonReader) peek() (byte, error) {
	r.space()
	next, err := r.src.Peek(1)
	if len(next) == 0 {
		return 0, r.ended(err, 0, "")
	}
	return next[0], nil
}

// end establishes that nothing but white space follows.
func (r *jsonReader) end() error {
	r.space()
	next, err := r.src.Peek(1)
	switch {
	case len(next) > 0:
		return r.bad(0, "after top-level value")
	case err != io.EOF:
		return err
	}
	return nil
}

// literal reads a word whose first byte is next.
func (r *jsonReader) literal(word string) error {
	next, _ := r.src.Peek(len(word))
	for i := range len(word) {
		if i >= len(next) || next[i] != word[i] {
			return r.bad(i, fmt.Sprintf("in literal %s (expecting %q)", word, word[i]))
		}
	}
	r.skip(len(word))
	return nil
}

// number reads a number and keeps it as it is written. Anything else that is
// next is the beginning of no value.
func (r *jsonReader) number() (string, error) {
	var text []byte
	take := func() byte {
		text = append(text, r.next())
		r.skip(1)
		return r.next()
	}
	digits := func(where string) error {
		if !isDigit(r.next()) {
			return r.bad(0, where)
		}
		for c := r.next(); isDigit(c) && len(text) <= maxText; {
			c = take()
		}
		return nil
	}
	c, where := r.next(), "looking for beginning of value"
	if c == '-' {
		c, where = take(), "in numeric literal"
	}
	if c == '0' {
		c = take()
	} else if err := digits(where); err != nil {
		return "", err
	} else {
		c = r.next()
	}
	if c == '.' {
		take()
		if err := digits("after decimal point in numeric literal"); err != nil {
			return "", err
		}
	}
	if c := r.next(); c == 'e' || c == 'E' {
		if c := take(); c == '+' || c == '-' {
			take()
		}
		if err := digits("in exponent of numeric literal"); err != nil {
			return "", err
		}
	}
	return string(text), r.keep(len(text))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
