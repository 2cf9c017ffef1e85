package httpapi

import (
	"fmt"
	"io"
	"strings"

	"confined/internal/pins"
)

// packed is a form that holds its files one after the other, the request
// document first: the parts of multipart/form-data, the members of an archive.
type packed struct {
	pieces
	whole, one string             // what the form and a piece of it are called
	document   string             // name of the request document
	first      string             // how that is put first
	advise     func(piece) string // what a piece must be called that is no file here
}

// pieces are what a packed form consists of.
type pieces interface {
	// next is the next piece, whose content can be read until another is asked
	// for, or io.EOF once the whole body was read: only then does the server
	// notice when the client goes away.
	next() (piece, error)
	// unreadable is what an error of a piece's content says to the client.
	unreadable(err error) error
}

// piece is one name with its content.
type piece struct {
	name     string
	filename string // beside the name; it means nothing, and may explain a wrong name
	content  io.Reader
	unfit    string // why it can be no file, with the cure; empty where it can
}

func (p packed) run(in *intake) (*node, bool, error) {
	doc, err := p.readDocument(in)
	if err == nil {
		err = p.files(in, p.document)
	}
	return doc, false, err
}

func (p packed) snapshot(in *intake) error { return p.files(in, "") }

// files reads every piece that is left. taken is the name of the request
// document that was read already.
func (p packed) files(in *intake, taken string) error {
	for {
		one, err := p.counted(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if taken != "" && one.name == taken {
			return refuse(ProblemCodeMalformedRequest, "there are two %ss %q; which of them is meant cannot be known", p.one, taken)
		}
		if err := p.file(in, one); err != nil {
			return p.unreadable(err)
		}
	}
}

func (p packed) counted(in *intake) (piece, error) {
	one, err := p.next()
	if err == nil {
		err = in.count()
	}
	return one, err
}

// file puts a piece where its name says. Its error is that of the content. What
// is no file is not read: the content of a sparse one is as long as its head
// says.
func (p packed) file(in *intake, one piece) error {
	t, path := in.at(one.name)
	switch {
	case t != nil && one.unfit == "":
		return t.add(path, one.content)
	case t != nil:
		t.refuse(FaultCodeWrongType, t.pointer+"/"+escapePointer(path), one.unfit)
	case one.unfit != "":
		in.faults.add(FaultCodeUnknownField, "/"+escapePointer(one.name), one.unfit)
	default:
		in.faults.add(FaultCodeUnknownField, "/"+escapePointer(one.name), "there is no such "+p.one+"; "+p.advise(one))
	}
	return nil
}

// readDocument reads the piece that must come first, and parses it.
func (p packed) readDocument(in *intake) (*node, error) {
	one, err := p.counted(in)
	switch {
	case err == io.EOF:
		return nil, refuse(ProblemCodeMalformedRequest, "the %s has no %s; the first must be named %q", p.whole, p.one, p.document)
	case err != nil:
		return nil, err
	case one.name != p.document:
		return nil, p.notFirst(one)
	case one.unfit != "":
		return nil, refuse(ProblemCodeMalformedRequest, "the %s %q: %s", p.one, p.document, one.unfit)
	}
	text, err := io.ReadAll(io.LimitReader(one.content, maxRequestBytes+1))
	switch {
	case err != nil:
		return nil, p.unreadable(err)
	case len(text) > maxRequestBytes:
		return nil, refuse(ProblemCodeTooLarge, "the %s %q exceeds %d bytes", p.one, p.document, maxRequestBytes)
	}
	doc, err := parseStrict(text)
	if advice := adviseDocument(text); err != nil && advice != "" {
		return nil, refuse(ProblemCodeMalformedRequest, "the %s %q is not JSON: %s", p.one, p.document, advice)
	}
	if err != nil {
		return nil, notJSON(fmt.Sprintf("the %s %q", p.one, p.document), err)
	}
	return doc, nil
}

func (p packed) notFirst(one piece) error {
	detail := fmt.Sprintf("the first %s is %.300q and must be %q; put that one first (%s)", p.one, one.name, p.document, p.first)
	switch folder, inside := strings.CutSuffix(one.name, "/"+p.document); {
	case one.unfit != "":
		detail += ". " + one.unfit
	case inside && pins.CheckPath(folder) == nil:
		detail += fmt.Sprintf(". It is in a folder: tar -C %s … leaves that out", folder)
	}
	return refuse(ProblemCodeMalformedRequest, "%s", detail)
}

// notJSON is the refusal of a document that parseStrict refuses.
func notJSON(what string, err error) *refusal {
	return refuse(ProblemCodeMalformedRequest, "%s is not JSON with one reading: %s", what, printable(fmt.Sprint(err), maxDetailBytes))
}
