package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"confined/internal/pins"
)

const (
	maxParts        = 100_000 // enough to count what is too much for two snapshots
	maxRequestBytes = 1 << 20 // of the part `request`
	partRequest     = "request"
)

// checkForm judges the head of a request that must carry a form, before
// anything of its body is read.
func checkForm(r *http.Request) error {
	types := r.Header.Values("Content-Type")
	if len(types) != 1 {
		return refuse(ProblemCodeUnsupportedMediaType, "%d Content-Type fields; send one, multipart/form-data (curl: -F)", len(types))
	}
	media, params, err := mime.ParseMediaType(types[0])
	if err != nil && media == "" {
		return refuse(ProblemCodeUnsupportedMediaType, "the Content-Type %.200q cannot be read; send multipart/form-data (curl: -F)", types[0])
	}
	if advice := adviseMedia(media); advice != "" {
		return refuse(ProblemCodeUnsupportedMediaType, "the body is %.200q; %s", media, advice)
	}
	if media != "multipart/form-data" {
		return refuse(ProblemCodeUnsupportedMediaType, "the body is %.200q and must be multipart/form-data (curl: -F)", media)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse(ProblemCodeUnsupportedMediaType, "the body is encoded with %.200q; send it as it is", coding)
	}
	if params["boundary"] == "" {
		return http.ErrMissingBoundary
	}
	callOf(r.Context()).boundary = params["boundary"]
	return nil
}

// form reads a multipart body part by part. All it looks at of a part is its
// name and its content: file names and content types are ignored.
type form struct {
	parts  *multipart.Reader
	body   *body
	count  int
	faults faults
}

// part is one part of a form, to be read before the next is asked for.
type part struct {
	name string
	*multipart.Part
}

// next is the next part, or io.EOF once the whole body was read: only then does
// the server notice when the client goes away.
func (f *form) next() (part, error) {
	p, err := f.parts.NextRawPart()
	switch {
	case err == io.EOF:
		return part{}, f.epilogue()
	case err != nil:
		return part{}, f.unreadable(err)
	case p.Header.Get(endMark) != "":
		return part{}, f.unreadable(errors.New("it ends before its last boundary"))
	}
	if f.count++; f.count > maxParts {
		return part{}, refuse(ProblemCodeTooLarge, "the form has more than %d parts", maxParts)
	}
	name, err := partName(p)
	return part{name, p}, err
}

// endMark is the field of a part that formEnd makes.
const endMark = "X-Confined-End"

// formEnd is what a body with this boundary is read as ending with. Behind the
// last boundary nobody sees it. In a body that is cut short anywhere it becomes
// a part of its own: mime/multipart alone takes the end of a part's head for the
// end of the form.
func formEnd(r *http.Request) string {
	_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return "\r\n--" + params["boundary"] + "\r\n" + endMark + ": 1\r\n\r\n"
}

// epilogue reads what follows the last boundary.
func (f *form) epilogue() error {
	if _, err := io.Copy(io.Discard, f.body); err != nil {
		return f.unreadable(err)
	}
	return io.EOF
}

// unreadable is why the body cannot be read on.
func (f *form) unreadable(err error) error {
	if f.body.failed() == nil && errors.Is(err, multipart.ErrMessageTooLarge) {
		return refuse(ProblemCodeTooLarge, "the head of a part is too large")
	}
	return f.body.refusal(err)
}

// partName takes the name from the Content-Disposition as it stands there.
func partName(p *multipart.Part) (string, error) {
	dispositions := p.Header.Values("Content-Disposition")
	if len(dispositions) != 1 {
		return "", refuse(ProblemCodeMalformedRequest, "a part has %d Content-Disposition fields and must have one", len(dispositions))
	}
	media, params, err := mime.ParseMediaType(dispositions[0])
	if err != nil || media != "form-data" {
		return "", refuse(ProblemCodeMalformedRequest, "a part has the Content-Disposition %.300q, which must be form-data with a name in quotes", dispositions[0])
	}
	name, ok := params["name"]
	if !ok {
		return "", refuse(ProblemCodeMalformedRequest, "a part has no name: its Content-Disposition is %.300q", dispositions[0])
	}
	if coding := p.Header.Get("Content-Transfer-Encoding"); coding != "" {
		return "", refuse(ProblemCodeMalformedRequest, "the part %.300q has a Content-Transfer-Encoding (%.100q); send its bytes as they are, without that field", name, coding)
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(p.Header.Get("Content-Type"))), "multipart/") {
		return "", refuse(ProblemCodeMalformedRequest, "the part %.300q holds several files in one (curl does that for -F 'x=@a,b'); send each file as a part of its own", name)
	}
	return name, nil
}

// document reads the part that must come first, and parses it.
func (f *form) document() (*node, error) {
	p, err := f.next()
	switch {
	case err == io.EOF:
		return nil, refuse(ProblemCodeMalformedRequest, "the form has no part; the first must be named %q", partRequest)
	case err != nil:
		return nil, err
	case p.name != partRequest:
		return nil, refuse(ProblemCodeMalformedRequest, "the first part is %.300q and must be %q; put that one first (curl: -F request=@request.json before the files)", p.name, partRequest)
	}
	text, err := io.ReadAll(io.LimitReader(p, maxRequestBytes+1))
	switch {
	case err != nil:
		return nil, f.unreadable(err)
	case len(text) > maxRequestBytes:
		return nil, refuse(ProblemCodeTooLarge, "the part %q exceeds %d bytes", partRequest, maxRequestBytes)
	}
	doc, err := parseStrict(text)
	if advice := adviseDocument(text); err != nil && advice != "" {
		return nil, refuse(ProblemCodeMalformedRequest, "the part %q is not JSON: %s", partRequest, advice)
	}
	if err != nil {
		return nil, refuse(ProblemCodeMalformedRequest, "the part %q is not JSON with one reading: %s", partRequest, printable(fmt.Sprint(err), maxDetailBytes))
	}
	return doc, nil
}

// add reads a part into a snapshot that is being built.
func (f *form) add(b *pins.Builder, path string, p part) error {
	if err := b.Add(path, p); err != nil {
		return f.unreadable(err)
	}
	return nil
}

// stray reads past a part whose name means nothing here.
func (f *form) stray(p part) error {
	f.faults.add(FaultCodeUnknownField, "/"+escapePointer(p.name), "there is no such part; "+adviseName(p.name, p.filename()))
	if _, err := io.Copy(io.Discard, p); err != nil {
		return f.unreadable(err)
	}
	return nil
}

// filename is the part's as it stands there. It means nothing, and may explain a
// wrong name.
func (p part) filename() string {
	_, params, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	return params["filename"]
}

// snapshot finishes b, whose files are at tree in the request.
func (f *form) snapshot(b *pins.Builder, tree string) pins.Snapshot {
	s, found := b.Snapshot()
	f.faults.ofSnapshot(tree, found)
	return s
}
