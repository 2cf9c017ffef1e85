package httpapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"confined/internal/exec"
	"confined/internal/pins"
)

// decodeRequest reads the fields of a RunRequest into a Spec and records in f
// every field that is unknown, missing or of another type. Ranges and forms are
// exec's to judge. An InlineRunRequest also has the files, which are somebody
// else's to read. Preconditions: doc comes from a jsonReader.
func decodeRequest(doc *node, inline bool, f *faults) exec.Spec {
	d := decoder{f}
	top := d.object(doc, "", []string{"runtime", "profile", "program", "input", "timeoutMs", "maxOutputBytes", "cpuSeconds", "maxDescriptors"}, "id")
	ofProgram, ofInput := []string{"digest", "entry"}, []string{"digest"}
	if inline {
		ofProgram, ofInput = append(ofProgram, "files"), append(ofInput, "files")
	}
	program := top.object("program", ofProgram, "args")
	input := top.object("input", ofInput)
	program.list("files")
	input.list("files")
	return exec.Spec{
		RunID:         top.text("id"),
		Runtime:       pins.Digest(top.text("runtime")),
		Profile:       pins.Digest(top.text("profile")),
		ProgramDigest: pins.Digest(program.text("digest")),
		Entry:         program.text("entry"),
		Args:          program.texts("args"),
		InputDigest:   pins.Digest(input.text("digest")),
		Bounds: exec.Bounds{
			TimeoutMs:      top.integer("timeoutMs"),
			MaxOutputBytes: top.integer("maxOutputBytes"),
			CPUSeconds:     top.integer("cpuSeconds"),
			MaxDescriptors: top.integer("maxDescriptors"),
		},
	}
}

type decoder struct{ faults *faults }

// fields are the members of one object that may be there. Reading one that is
// not there gives the zero value: its absence was recorded already, or it is
// optional.
type fields struct {
	decoder
	pointer string
	values  map[string]*node
}

func (d decoder) wrongType(n *node, pointer string, want kind) {
	hint := adviseInline(pointer)
	if n.kind == kindNull {
		hint = "; leave an optional field out instead"
	}
	d.faults.add(FaultCodeWrongType, pointer, fmt.Sprintf("this is %s and must be %s%s", n.kind, want, hint))
}

// object establishes which of the required and optional fields n has.
func (d decoder) object(n *node, pointer string, required []string, optional ...string) fields {
	out := fields{decoder: d, pointer: pointer, values: map[string]*node{}}
	if n.kind != kindObject {
		d.wrongType(n, pointer, kindObject)
		return out
	}
	known := slices.Concat(required, optional)
	for _, m := range n.members {
		if slices.Contains(known, m.name) {
			out.values[m.name] = m.value
			continue
		}
		d.faults.add(FaultCodeUnknownField, pointer+"/"+escapePointer(m.name), unknownField(m.name, known))
	}
	for _, name := range required {
		if out.values[name] == nil {
			d.faults.add(FaultCodeMissingField, pointer+"/"+name, "this field is required"+adviseInline(pointer+"/"+name))
		}
	}
	return out
}

func unknownField(name string, known []string) string {
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return fmt.Sprintf("there is no such field; names are exact, this one is spelt %s", k)
		}
	}
	if name == "files" {
		return "there is no such field in this form; each file is sent beside this document, named program/<path> or input/<path>"
	}
	return "there is no such field; known here: " + strings.Join(known, ", ")
}

func (f fields) object(name string, required []string, optional ...string) fields {
	if f.values[name] == nil {
		return fields{decoder: f.decoder}
	}
	return f.decoder.object(f.values[name], f.pointer+"/"+name, required, optional...)
}

func (f fields) text(name string) string {
	n := f.values[name]
	if n == nil {
		return ""
	}
	return f.asText(n, f.pointer+"/"+name)
}

func (d decoder) asText(n *node, pointer string) string {
	if n.kind != kindString {
		d.wrongType(n, pointer, kindString)
		return ""
	}
	return n.text
}

// list is an array, or nil where there is none.
func (f fields) list(name string) *node {
	n := f.values[name]
	if n != nil && n.kind != kindArray {
		f.wrongType(n, f.pointer+"/"+name, kindArray)
		return nil
	}
	return n
}

func (f fields) texts(name string) []string {
	n, pointer := f.list(name), f.pointer+"/"+name
	if n == nil {
		return nil
	}
	if len(n.items) > exec.MaxArgs {
		f.faults.add(FaultCodeOutOfRange, pointer, fmt.Sprintf("%d items; at most %d", len(n.items), exec.MaxArgs))
		return nil
	}
	out := make([]string, len(n.items))
	for i, item := range n.items {
		out[i] = f.asText(item, pointer+"/"+strconv.Itoa(i))
	}
	return out
}

// integer reads a number without fraction and exponent.
func (f fields) integer(name string) int64 {
	n, pointer := f.values[name], f.pointer+"/"+name
	switch {
	case n == nil:
		return 0
	case n.kind != kindNumber:
		f.wrongType(n, pointer, "an integer")
		return 0
	case strings.ContainsAny(n.text, ".eE"):
		f.faults.add(FaultCodeWrongType, pointer, "this must be an integer, written without fraction and exponent")
		return 0
	}
	v, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil {
		f.faults.add(FaultCodeOutOfRange, pointer, "this number is far outside what the field allows")
	}
	return v
}
