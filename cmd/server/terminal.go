package main

import (
	"fmt"
	"io"
	"os"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// isTerminal says whether what is written to, or read from, is a terminal: it
// has a size. The null device, a character device too, has none.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// visible is a writer that lets nothing through to a terminal but text: what
// would move the cursor, change its colours or reverse the order of letters is
// spelt out, as less does it. Newlines and tabs stay.
type visible struct {
	to   io.Writer
	held []byte // the beginning of a rune whose rest has not come
}

func (v *visible) Write(p []byte) (int, error) {
	text := append(v.held, p...)
	whole := len(text) - partialRune(text)
	v.held = append([]byte(nil), text[whole:]...)
	if _, err := v.to.Write(spell(text[:whole])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is left of a rune that never became whole.
func (v *visible) Flush() error {
	rest := v.held
	v.held = nil
	_, err := v.to.Write(spell(rest))
	return err
}

// partialRune is how many bytes at the end of text may be the beginning of a
// rune.
func partialRune(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// spell writes controls as ^[, <U+009B> or <U+202E>, and bytes that are no
// UTF-8 as <FF>.
func spell(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, "<%02X>", text[0])
		case r == '\n' || r == '\t':
			out = append(out, byte(r))
		case r < ' ' || r == 0x7f:
			out = append(out, '^', byte(r)^0x40)
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			out = fmt.Appendf(out, "<U+%04X>", r)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

// oneLine is text for a line of our own, whoever wrote it.
func oneLine(text string) string {
	out := make([]byte, 0, len(text))
	for _, b := range spell([]byte(text)) {
		if b == '\n' || b == '\t' {
			b = ' '
		}
		out = append(out, b)
	}
	return string(out)
}
