package httpapi

import (
	"mime"
	"net/http"
	"strings"
)

// form is one of the ways in which a request with its files is written down.
// What is read of it goes to an intake, which judges all of them alike.
type form interface {
	// run reads the whole body of a run, adds its files to in and returns the
	// request document. With inline the files are fields of that document.
	run(in *intake) (doc *node, inline bool, err error)
	// snapshot reads the whole body of a snapshot, and adds its files to in.
	snapshot(in *intake) error
}

const (
	maxFiles        = 100_000 // enough to count what is too much for two snapshots
	maxRequestBytes = 1 << 20 // of the request document, where it is not the whole body
)

// The bounds of a body: two snapshots, and beside their content, for each file,
// what comes with two long names in it.
const (
	maxContent   = 2 * 64 << 20
	maxMultipart = maxContent + 32<<20
	maxTar       = maxContent + 64<<20         // blocks of headers, of long names and of padding
	maxInline    = (maxContent+2)/3*4 + 32<<20 // whose content may be base64
)

// theForms is what a client is told that sends none of them.
const theForms = "multipart/form-data (curl: -F), application/json or application/x-tar (curl: -H 'Content-Type: …' --data-binary @file)"

// checkForm judges the head of a request that must carry a form, before
// anything of its body is read, and decides which it is.
func checkForm(r *http.Request) error {
	types := r.Header.Values("Content-Type")
	switch {
	case strings.Join(types, "") == "":
		return refuse(ProblemCodeUnsupportedMediaType, "there is no Content-Type; send %s", theForms)
	case len(types) > 1:
		return refuse(ProblemCodeUnsupportedMediaType, "%d Content-Type fields; send one, %s", len(types), theForms)
	}
	media, params, err := mime.ParseMediaType(types[0])
	if err != nil && media == "" {
		return refuse(ProblemCodeUnsupportedMediaType, "the Content-Type %.200q cannot be read; send %s", types[0], theForms)
	}
	if advice := adviseMedia(media); advice != "" {
		return refuse(ProblemCodeUnsupportedMediaType, "the body is %.200q; %s", media, advice)
	}
	open := formReaders()[media]
	if open == nil {
		return refuse(ProblemCodeUnsupportedMediaType, "the body is %.200q and must be %s", media, theForms)
	}
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse(ProblemCodeUnsupportedMediaType, "the body is encoded with %.200q; send it as it is", coding)
	}
	c := callOf(r.Context())
	c.form, err = open(c.body, params)
	return err
}

// formReaders are the forms by their media types.
func formReaders() map[string]func(*body, map[string]string) (form, error) {
	return map[string]func(*body, map[string]string) (form, error){
		"multipart/form-data": openMultipart,
		"application/json":    openInline,
		"application/x-tar":   openTar,
	}
}
