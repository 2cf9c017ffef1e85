package httpapi

import (
	"bufio"
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"confined/internal/exec"
)

// jsonWriter writes JSON as a stream: nothing that is written is kept beyond a
// small buffer. Strings are UTF-8, escaped only where JSON demands it. The same
// calls give the same bytes. An error stays until done.
type jsonWriter struct {
	out   *bufio.Writer
	first bool // no comma before the next member or item
}

// jsonBuffer is how much is written at once.
const jsonBuffer = 32 << 10

func newJSONWriter(w io.Writer) *jsonWriter {
	return jsonWriterTo(bufio.NewWriterSize(w, jsonBuffer))
}

// jsonWriterTo is newJSONWriter with a buffer that is there already.
func jsonWriterTo(out *bufio.Writer) *jsonWriter {
	return &jsonWriter{out: out, first: true}
}

// done flushes, and returns the first error there was.
func (j *jsonWriter) done() error { return j.out.Flush() }

func (j *jsonWriter) raw(s string) { _, _ = j.out.WriteString(s) }

// comma separates what follows from what went before in the same object or array.
func (j *jsonWriter) comma() {
	if !j.first {
		j.raw(",")
	}
	j.first = false
}

func (j *jsonWriter) open(bracket string) {
	j.raw(bracket)
	j.first = true
}

func (j *jsonWriter) close(bracket string) {
	j.raw(bracket)
	j.first = false
}

// object writes an object whose members body writes.
func (j *jsonWriter) object(body func()) {
	j.open("{")
	body()
	j.close("}")
}

// key writes a member's name; its value must follow. Names are our own words.
func (j *jsonWriter) key(name string) {
	j.comma()
	j.raw(`"`)
	j.raw(name)
	j.raw(`":`)
}

// array writes n items, each of which item writes.
func (j *jsonWriter) array(n int, item func(i int)) {
	j.open("[")
	for i := range n {
		j.comma()
		item(i)
	}
	j.close("]")
}

func (j *jsonWriter) null() { j.raw("null") }

func (j *jsonWriter) bool(v bool) { j.raw(strconv.FormatBool(v)) }

func (j *jsonWriter) integer(v int64) { j.raw(strconv.FormatInt(v, 10)) }

// millis writes a duration in milliseconds, to the microsecond.
func (j *jsonWriter) millis(d time.Duration) {
	j.raw(strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64))
}

// string writes text of ours. What is not valid UTF-8 in it is replaced.
func (j *jsonWriter) string(s string) {
	j.raw(`"`)
	j.escaped([]byte(strings.ToValidUTF8(s, "\ufffd")))
	j.raw(`"`)
}

// bytes writes a Bytes: exactly these bytes, in one of two encodings.
func (j *jsonWriter) bytes(o exec.Output) {
	if isUTF8(o) {
		j.raw(`{"encoding":"utf-8","data":"`)
		for piece := range o.Pieces() {
			j.escaped(piece)
		}
	} else {
		j.raw(`{"encoding":"base64","data":"`)
		enc := base64.NewEncoder(base64.StdEncoding, j.out)
		for piece := range o.Pieces() {
			_, _ = enc.Write(piece)
		}
		_ = enc.Close()
	}
	j.raw(`"}`)
}

// isUTF8 says whether o is valid UTF-8: a character may lie in several pieces.
func isUTF8(o exec.Output) bool {
	var torn []byte // a character of which the rest is still to come
	for piece := range o.Pieces() {
		for len(torn) > 0 && len(piece) > 0 {
			torn, piece = append(torn, piece[0]), piece[1:]
			switch {
			case !utf8.FullRune(torn):
			case !utf8.Valid(torn):
				return false
			default:
				torn = torn[:0]
			}
		}
		whole := len(piece) - unfinished(piece)
		if !utf8.Valid(piece[:whole]) {
			return false
		}
		torn = append(torn, piece[whole:]...)
	}
	return len(torn) == 0
}

// unfinished is how many bytes at the end of b are the beginning of a character
// that the bytes to come could complete.
func unfinished(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return len(b) - i
			}
			break
		}
	}
	return 0
}

// escaped writes the inside of a string. Preconditions: b is part of valid UTF-8.
func (j *jsonWriter) escaped(b []byte) {
	start := 0
	for i, c := range b {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		_, _ = j.out.Write(b[start:i])
		j.raw(escapeOf(c))
		start = i + 1
	}
	_, _ = j.out.Write(b[start:])
}

func escapeOf(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	return `\u00` + string([]byte{hex[c>>4], hex[c&15]})
}
