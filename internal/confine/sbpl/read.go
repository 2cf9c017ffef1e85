package sbpl

import (
	"fmt"
	"strings"
)

// The bounds of a text, all ours. sandbox-exec takes the profile as an argument, and all arguments and variables together share
// kern.argmax, which is 1 MiB (ARG_MAX of sys/syslimits.h).
const (
	maxText   = 256 << 10 // bytes of a text
	maxString = 1024      // bytes of a string; PATH_MAX of Darwin
	maxDepth  = 8         // lists within lists; a rule needs two
)

// Read reads expressions. It accepts less than Apple's reader: printable ASCII, spaces and newlines, `;` comments, lists, symbols that
// begin with a letter or `$`, decimal numbers without sign or leading zero, and strings on one line whose only escapes are `\"` and `\\`. A
// raw string (#"...") or a quoted expression is refused. So a text that both read means the same to both. Errors name the line.
func Read(text string) ([]Node, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("sbpl: a text of %d bytes, more than %d", len(text), maxText)
	}
	for i := range len(text) {
		if c := text[i]; c != '\n' && !printable(c) {
			return nil, wrong(1+strings.Count(text[:i], "\n"), "byte %#02x is not printable ASCII", c)
		}
	}
	r := &reader{rest: text, line: 1}
	return r.members(0, 0)
}

func printable(c byte) bool { return c >= ' ' && c <= '~' }

// wrong is an error of a line.
func wrong(line int, format string, args ...any) error {
	return fmt.Errorf("sbpl: line %d: %s", line, fmt.Sprintf(format, args...))
}

type reader struct {
	rest string
	line int
}

// members reads expressions up to the parenthesis that closes the list, which opened on the given line, or at depth 0 to the end.
func (r *reader) members(depth, opened int) ([]Node, error) {
	var nodes []Node
	for {
		r.skip()
		switch {
		case r.rest == "" && depth == 0:
			return nodes, nil
		case r.rest == "":
			return nil, wrong(opened, "a parenthesis is not closed")
		case r.rest[0] == ')' && depth == 0:
			return nil, wrong(r.line, "a parenthesis closes nothing")
		case r.rest[0] == ')':
			r.rest = r.rest[1:]
			return nodes, nil
		}
		n, err := r.node(depth)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
}

// skip leaves spaces, newlines and comments behind.
func (r *reader) skip() {
	for r.rest != "" {
		switch r.rest[0] {
		case '\n':
			r.line++
			r.rest = r.rest[1:]
		case ' ':
			r.rest = r.rest[1:]
		case ';':
			end := strings.IndexByte(r.rest+"\n", '\n')
			r.rest = r.rest[end:]
		default:
			return
		}
	}
}

func (r *reader) node(depth int) (Node, error) {
	line := r.line
	switch c := r.rest[0]; {
	case c == '(' && depth == maxDepth:
		return Node{}, wrong(line, "more than %d lists within lists", maxDepth)
	case c == '(':
		r.rest = r.rest[1:]
		list, err := r.members(depth+1, line)
		return Node{Kind: List, List: list, Line: line}, err
	case c == '"':
		text, err := r.string()
		return Node{Kind: String, Text: text, Line: line}, err
	default:
		return r.atom()
	}
}

// string reads from quote to quote.
func (r *reader) string() (string, error) {
	var b strings.Builder
	for i := 1; i < len(r.rest) && r.rest[i] != '\n'; i++ {
		switch c := r.rest[i]; {
		case c == '"':
			r.rest = r.rest[i+1:]
			return b.String(), r.checkString(b.String())
		case c == '\\' && i+1 < len(r.rest) && strings.IndexByte(`"\`, r.rest[i+1]) >= 0:
			i++
			b.WriteByte(r.rest[i])
		case c == '\\':
			return "", wrong(r.line, `a string has an escape other than \" and \\`)
		default:
			b.WriteByte(c)
		}
	}
	return "", wrong(r.line, "a string does not end on its line")
}

func (r *reader) checkString(text string) error {
	if err := checkString(text); err != nil {
		return wrong(r.line, "%v", err)
	}
	if r.rest != "" && strings.IndexByte(" \n);", r.rest[0]) < 0 {
		return wrong(r.line, "%q follows a string without a space", r.rest[:1])
	}
	return nil
}

// checkString judges what a string holds, wherever it comes from.
func checkString(text string) error {
	if text == "" || len(text) > maxString {
		return fmt.Errorf("a string of %d bytes, not 1 to %d", len(text), maxString)
	}
	for i := range len(text) {
		if !printable(text[i]) {
			return fmt.Errorf("%q holds byte %#02x, which is not printable ASCII", text, text[i])
		}
	}
	return nil
}

func (r *reader) atom() (Node, error) {
	end := 0
	for end < len(r.rest) && strings.IndexByte(" \n();", r.rest[end]) < 0 {
		end++
	}
	n := Node{Kind: Symbol, Text: r.rest[:end], Line: r.line}
	r.rest = r.rest[end:]
	switch {
	case isNumber(n.Text):
		n.Kind = Number
	case !isSymbol(n.Text):
		return Node{}, wrong(r.line, "%q is neither a symbol nor a number", n.Text)
	}
	return n, nil
}

func isNumber(text string) bool {
	return strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0') && len(text) <= 15
}

func isSymbol(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		later := c >= '0' && c <= '9' || strings.IndexByte("-_*?", c) >= 0
		if !letter && !(i == 0 && c == '$') && !(i > 0 && later) {
			return false
		}
	}
	return true
}
