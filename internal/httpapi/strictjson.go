package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	maxDepth  = 32     // levels of nesting; a request needs five
	maxValues = 10_000 // a request needs about a hundred; a node is many times as large as a short value in the document
	maxText   = 1 << 20
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
	return newJSONReader(bytes.NewReader(doc), int64(len(doc))).document(nil)
}

// taker reads one item of an array, which is next, in place of keeping it.
type taker func(pointer string, depth int) error

// document reads the one value that a JSON text is, to the end of the text.
// Arrays that takers names by their pointers are handed to them item by item,
// and their nodes have no items.
func (r *jsonReader) document(takers map[string]taker) (*node, error) {
	if err := r.start(); err != nil {
		return nil, err
	}
	r.takers = takers
	n, err := r.node("", 0)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// node reads the value that is next.
func (r *jsonReader) node(pointer string, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s has more than %d levels of nesting", pointer, maxDepth)
	}
	if r.values++; r.values > maxValues {
		return nil, fmt.Errorf("%s is one value more than the %d that a document may have", pointer, maxValues)
	}
	c, err := r.peek()
	if err != nil {
		return nil, err
	}
	n := &node{}
	switch c {
	case '{':
		n.kind, err = kindObject, r.members(n, pointer, depth)
	case '[':
		n.kind, err = kindArray, r.items(n, pointer, depth)
	case '"':
		n.kind = kindString
		n.text, err = r.string()
	case 't':
		n.kind, n.text, err = kindBool, "true", r.literal("true")
	case 'f':
		n.kind, n.text, err = kindBool, "false", r.literal("false")
	case 'n':
		n.kind, n.text, err = kindNull, "null", r.literal("null")
	default:
		n.kind = kindNumber
		n.text, err = r.number()
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (r *jsonReader) members(n *node, pointer string, depth int) error {
	return r.object(pointer, func(name, inner string) error {
		v, err := r.node(inner, depth+1)
		n.members = append(n.members, member{name, v})
		return err
	})
}

func (r *jsonReader) items(n *node, pointer string, depth int) error {
	take := r.takers[pointer]
	if take == nil {
		take = func(inner string, depth int) error {
			v, err := r.node(inner, depth)
			n.items = append(n.items, v)
			return err
		}
	}
	return r.array(pointer, func(inner string) error { return take(inner, depth+1) })
}

// object reads an object, which is next, and calls each for every name once its
// value is next.
func (r *jsonReader) object(pointer string, each func(name, inner string) error) error {
	seen := map[string]bool{}
	r.skip(1)
	for {
		more, err := r.more(len(seen) == 0, '}', "after object key:value pair")
		if err != nil || !more {
			return err
		}
		name, err := r.name()
		if err != nil {
			return err
		}
		inner := pointer + "/" + escapePointer(name)
		if seen[name] {
			return fmt.Errorf("%s is there twice; which of the two is meant cannot be known", inner)
		}
		seen[name] = true
		if err := each(name, inner); err != nil {
			return err
		}
	}
}

// name reads a name and the colon behind it.
func (r *jsonReader) name() (string, error) {
	c, err := r.peek()
	if err != nil {
		return "", err
	}
	if c != '"' {
		return "", r.bad(0, "looking for beginning of object key string")
	}
	name, err := r.string()
	if err != nil {
		return "", err
	}
	c, err = r.peek()
	if err != nil {
		return "", err
	}
	if c != ':' {
		return "", r.bad(0, "after object key")
	}
	r.skip(1)
	return name, nil
}

// array reads an array, which is next, and calls each for every item once that
// is next.
func (r *jsonReader) array(pointer string, each func(inner string) error) error {
	r.skip(1)
	for i := 0; ; i++ {
		more, err := r.more(i == 0, ']', "after array element")
		if err != nil || !more {
			return err
		}
		if err := each(pointer + "/" + strconv.Itoa(i)); err != nil {
			return err
		}
	}
}

// more says whether another item follows in what ends with last, and reads the
// comma before it.
func (r *jsonReader) more(first bool, last byte, after string) (bool, error) {
	c, err := r.peek()
	switch {
	case err != nil:
		return false, err
	case c == last:
		r.skip(1)
		return false, nil
	case first:
		return true, nil
	case c != ',':
		return false, r.bad(0, after)
	}
	r.skip(1)
	return true, nil
}

// string reads a string, which is next, and keeps it.
func (r *jsonReader) string() (string, error) {
	var s strings.Builder
	text := r.text()
	var buf [512]byte
	for {
		n, err := text.Read(buf[:])
		s.Write(buf[:n])
		if keep := r.keep(n); keep != nil {
			return "", keep
		}
		if err == io.EOF {
			return s.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// keep counts text that stays in memory until the document is read.
func (r *jsonReader) keep(n int) error {
	if r.kept += n; r.kept > maxText {
		return refuse(ProblemCodeTooLarge, "the document has more than %d bytes of names and values, apart from what files hold", maxText)
	}
	return nil
}

// pointerEscapes is made once: it is large, and is asked for every name.
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escapePointer makes one reference token of RFC 6901.
func escapePointer(name string) string { return pointerEscapes.Replace(name) }
