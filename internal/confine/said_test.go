package confine

import (
	"strings"
	"testing"
)

// TestOneLine: what a process said is no more than words to whoever prints it.
func TestOneLine(t *testing.T) {
	half, rest := strings.Repeat("x", 399), strings.Repeat("z", 399)
	for said, want := range map[string]string{
		"\na\r\nb\n":                  "a; b",
		"\x1b[2Ja\tb\x00\u202e\u0085": "\ufffd[2Ja\ufffdb\ufffd\ufffd\ufffd",
		"a\u2028b\u2029":              "a\ufffdb\ufffd",
		"a\xffb":                      "a\ufffdb",
		half + "yy" + rest:            half + "yy" + rest,
		half + "yay" + rest:           half + "y ... y" + rest,
		half + "\u00e9\u00e9" + rest:  half + " ... " + rest, // cut within the letters
		"caf\u00e9":                   "caf\u00e9",
	} {
		if got := oneLine(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
