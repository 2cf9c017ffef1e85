package httpapi

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"strings"
)

// openMultipart is the form multipart/form-data.
func openMultipart(b *body, params map[string]string) (form, error) {
	boundary := params["boundary"]
	if boundary == "" {
		return nil, refuse(ProblemCodeMalformedRequest, "the Content-Type names no boundary between the parts")
	}
	b.bound(maxMultipart)
	b.end = formEnd(boundary)
	return packed{
		pieces: parts{multipart.NewReader(b, boundary), b}, whole: "form", one: "part",
		document: "request", first: "curl: -F request=@request.json before the files",
		advise: func(p piece) string { return adviseName(p.name, p.filename) },
	}, nil
}

// parts reads a multipart body part by part. All it looks at of a part is its
// name and its content: file names and content types are ignored.
type parts struct {
	*multipart.Reader
	body *body
}

func (f parts) next() (piece, error) {
	p, err := f.NextRawPart()
	switch {
	case err == io.EOF:
		return piece{}, f.epilogue()
	case err != nil:
		return piece{}, f.unreadable(err)
	case p.Header.Get(endMark) != "":
		return piece{}, f.unreadable(errors.New("it ends before its last boundary"))
	}
	name, err := partName(p)
	return piece{name: name, filename: filename(p), content: p}, err
}

var (
	quotedText   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	extendedName = regexp.MustCompile(`(?i);\s*name\*`)
)

// hasExtendedName tells of name* and name*0 (RFC 2231): the mime package makes a
// name of them, even beside a plain one, and other readers do not.
func hasExtendedName(disposition string) bool {
	return extendedName.MatchString(quotedText.ReplaceAllString(disposition, `""`))
}

// filename is the part's as it stands there.
func filename(p *multipart.Part) string {
	_, params, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	return params["filename"]
}

// endMark is the field of a part that formEnd makes.
const endMark = "X-Confined-End"

// formEnd is what a body with this boundary is read as ending with. Behind the
// last boundary nobody sees it. In a body that is cut short anywhere it becomes
// a part of its own: mime/multipart alone takes the end of a part's head for the
// end of the form.
func formEnd(boundary string) string {
	return "\r\n--" + boundary + "\r\n" + endMark + ": 1\r\n\r\n"
}

// epilogue reads what follows the last boundary.
func (f parts) epilogue() error {
	if _, err := io.Copy(io.Discard, f.body); err != nil {
		return f.unreadable(err)
	}
	return io.EOF
}

func (f parts) unreadable(err error) error {
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
	if hasExtendedName(dispositions[0]) {
		return "", refuse(ProblemCodeMalformedRequest, "a part has the Content-Disposition %.300q, whose name is encoded; write it as name=\"…\" (RFC 7578)", dispositions[0])
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
