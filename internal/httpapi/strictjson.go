package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxDepth  = 32     // levels of nesting; a request needs three
	maxValues = 10_000 // a request needs about a hundred; a node is many times as large as a short value in the document
)

// kind is what a JSON value is, in the words a fault uses.
type kind string

const (
	kindObject kind = "an object"
	kindArray  kind = "an array"
	kindString kind = "a string"
	kindNumber kind = "a number"
	kindBool   kind = "a boolean"
	kindNull   kind = "null"
)

// node is one value of a parsed document.
type node struct {
	kind    kind
	text    string // of a string: decoded; of anything else that is not composed: as it was written
	items   []*node
	members []member // in the order of the document, no name twice
}

type member struct {
	name  string
	value *node
}

// parseStrict reads one JSON document and refuses everything that two readers
// could understand differently: invalid UTF-8, half a surrogate pair, a name
// that an object has twice, anything after the end. It establishes that the
// document has exactly one reading; whether that reading makes sense is for
// others.
func parseStrict(doc []byte) (*node, error) {
	if err := checkText(doc); err != nil {
		return nil, err
	}
	r := reader{Decoder: json.NewDecoder(bytes.NewReader(doc))}
	r.UseNumber()
	return r.node("", 0)
}

// checkText establishes that doc is one JSON document whose strings are text.
func checkText(doc []byte) error {
	if !utf8.Valid(doc) {
		return errors.New("it is not valid UTF-8")
	}
	if bytes.HasPrefix(doc, []byte("\ufeff")) {
		return errors.New("it starts with a byte order mark; leave that out")
	}
	var whole json.RawMessage
	err := json.Unmarshal(doc, &whole)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return at(doc, syntax.Offset, syntax.Error())
	}
	if err != nil {
		return err
	}
	return checkSurrogates(doc)
}

// at words a problem with its place in the document.
func at(doc []byte, offset int64, problem string) error {
	before := doc[:min(offset, int64(len(doc)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("line %d, byte %d: %s", line, column, problem)
}

// checkSurrogates refuses the escapes that encoding/json would replace by
// U+FFFD, so that no string is altered. doc is valid JSON: a backslash starts an
// escape sequence, and only that.
func checkSurrogates(doc []byte) error {
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' {
			continue
		}
		switch r, next := hex4(doc[i:]), hex4(doc[min(i+6, len(doc)):]); {
		case !utf16.IsSurrogate(r):
			i++ // over the character that is escaped; what follows a \uXXXX is no backslash
		case utf16.DecodeRune(r, next) == utf8.RuneError:
			return at(doc, int64(i), "half a surrogate pair stands for no character")
		default:
			i += len(`\uXXXX\uXXXX`) - 1
		}
	}
	return nil
}

// hex4 is the value of a \uXXXX that text starts with, or 0.
func hex4(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// reader reads a document whose syntax is known to be right.
type reader struct {
	*json.Decoder
	values int // read so far
}

func (r *reader) node(pointer string, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s has more than %d levels of nesting", pointer, maxDepth)
	}
	if r.values++; r.values > maxValues {
		return nil, fmt.Errorf("%s is one value more than the %d that a document may have", pointer, maxValues)
	}
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(pointer, depth)
		}
		return r.array(pointer, depth)
	case string:
		return &node{kind: kindString, text: t}, nil
	case json.Number:
		return &node{kind: kindNumber, text: t.String()}, nil
	case bool:
		return &node{kind: kindBool, text: strconv.FormatBool(t)}, nil
	}
	return &node{kind: kindNull, text: "null"}, nil
}

func (r *reader) object(pointer string, depth int) (*node, error) {
	n, seen := &node{kind: kindObject}, map[string]bool{}
	for r.More() {
		token, err := r.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // the syntax is right
		inner := pointer + "/" + escapePointer(name)
		if seen[name] {
			return nil, fmt.Errorf("%s is there twice; which of the two is meant cannot be known", inner)
		}
		seen[name] = true
		v, err := r.node(inner, depth+1)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member{name, v})
	}
	_, err := r.Token()
	return n, err
}

func (r *reader) array(pointer string, depth int) (*node, error) {
	n := &node{kind: kindArray}
	for r.More() {
		v, err := r.node(pointer+"/"+strconv.Itoa(len(n.items)), depth+1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, v)
	}
	_, err := r.Token()
	return n, err
}

// escapePointer makes one reference token of RFC 6901.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
