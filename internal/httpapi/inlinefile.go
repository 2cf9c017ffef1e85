package httpapi

import (
	"fmt"
	"io"
	"strings"
)

// entry is one file of a JSON request on its way, in whatever order its names
// come: {"path": …, "content": {"encoding": …, "data": …}}.
type entry struct {
	json    *jsonReader
	decoder *base64Reader // for its data, when it is base64
	tree    *tree
	pointer string

	path     text
	encoding text
	held     *spool // data that came before what says where it belongs and how it is encoded
	added    bool
}

// text is a field that must be a string.
type text struct {
	value      string
	known, bad bool // neither until it was read
}

// read reads the entry, which is next. What is wrong with it goes to the tree.
func (e *entry) read(depth int) error {
	err := e.object(e.pointer, depth, []fieldReader{
		{"path", func(at string, depth int) (err error) { e.path, err = e.text(at, depth); return err }},
		{"content", e.content},
	})
	switch {
	case err != nil || e.added || !e.path.known:
		return err
	case e.held != nil && e.encoding.known:
		return e.add(e.held)
	}
	return e.tree.add(e.path.value, strings.NewReader("")) // only for what is wrong with the path
}

func (e *entry) content(at string, depth int) error {
	return e.object(at, depth, []fieldReader{{"encoding", e.readEncoding}, {"data", e.data}})
}

func (e *entry) readEncoding(at string, depth int) (err error) {
	e.encoding, err = e.text(at, depth)
	if e.encoding.known && e.encoding.value != string(BytesEncodingUTF8) && e.encoding.value != string(BytesEncodingBase64) {
		e.encoding = text{bad: true}
		e.tree.refuse(FaultCodeOutOfRange, at, `this must be "utf-8" or "base64"`)
	}
	return err
}

// data reads what the file holds: into the tree at once, where it is known by
// now what to make of it.
func (e *entry) data(at string, depth int) (err error) {
	if c, err := e.json.peek(); err != nil || c != '"' {
		return e.wrongType(at, depth, kindString)
	}
	data := e.json.text()
	switch {
	case e.path.bad || e.encoding.bad:
		_, err = io.Copy(io.Discard, data)
	case e.path.known && e.encoding.known:
		err = e.add(data)
	default:
		e.held, err = newSpool(data)
	}
	return err
}

// add makes the file, which holds what data says.
func (e *entry) add(data io.Reader) error {
	e.added = true
	if e.encoding.value != string(BytesEncodingBase64) {
		return e.tree.add(e.path.value, data)
	}
	e.decoder.reset(data)
	err := e.tree.add(e.path.value, e.decoder)
	if err == nil && e.decoder.problem != "" {
		e.tree.refuse(FaultCodeWrongType, e.pointer+"/content/data", "this is not base64 (A-Z a-z 0-9 + /, padded with =, no line breaks): "+e.decoder.problem)
	}
	return err
}

// text reads a value that must be a string.
func (e *entry) text(at string, depth int) (text, error) {
	if c, err := e.json.peek(); err != nil || c != '"' {
		return text{bad: true}, e.wrongType(at, depth, kindString)
	}
	value, err := e.json.string()
	return text{value: value, known: true}, err
}

// fieldReader reads the value of one field.
type fieldReader struct {
	name string
	read func(at string, depth int) error
}

// object reads what must be an object with exactly these fields.
func (e *entry) object(at string, depth int, fields []fieldReader) error {
	if c, err := e.json.peek(); err != nil || c != '{' {
		return e.wrongType(at, depth, kindObject)
	}
	seen := map[string]bool{}
	err := e.json.object(at, func(name, inner string) error {
		seen[name] = true
		for _, f := range fields {
			if f.name == name {
				return f.read(inner, depth+1)
			}
		}
		_, err := e.json.node(inner, depth+1)
		e.tree.refuse(FaultCodeUnknownField, inner, fmt.Sprintf("there is no such field; known here: %s, %s", fields[0].name, fields[1].name))
		return err
	})
	for _, f := range fields {
		if err == nil && !seen[f.name] {
			e.tree.refuse(FaultCodeMissingField, at+"/"+f.name, "this field is required")
		}
	}
	return err
}

// wrongType reads a value that is not of the kind it must be.
func (e *entry) wrongType(at string, depth int, want kind) error {
	n, err := e.json.node(at, depth)
	if err == nil {
		e.tree.refuse(FaultCodeWrongType, at, fmt.Sprintf("this is %s and must be %s%s", n.kind, want, adviseInline(at)))
	}
	return err
}

// spool keeps text until it is known what to make of it. Reading it gives the
// memory back piece by piece, so that what is made of it can take its place.
type spool struct{ pieces [][]byte }

const (
	leastSpool = 1 << 10
	mostSpool  = 64 << 10
)

func newSpool(src io.Reader) (*spool, error) {
	var s spool
	for size := 0; ; {
		piece := make([]byte, min(max(size, leastSpool), mostSpool))
		n, err := fill(piece, src)
		s.pieces = append(s.pieces, piece[:n])
		size += n
		if err == io.EOF {
			return &s, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Read implements io.Reader.
func (s *spool) Read(p []byte) (int, error) {
	for len(s.pieces) > 0 && len(s.pieces[0]) == 0 {
		s.pieces[0] = nil
		s.pieces = s.pieces[1:]
	}
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	s.pieces[0] = s.pieces[0][n:]
	return n, nil
}
