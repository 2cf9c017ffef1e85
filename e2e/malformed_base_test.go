package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const (
	formType = "multipart/form-data"
	jsonType = "application/json"
	tarType  = "application/x-tar"
)

// base is a request with nothing wrong in it.
type base struct {
	name         string
	operation    string
	template     string // of the path
	method, path string
	good         int    // status of its answer
	media        string // of its body; empty: it has none
	schema       string // pointer to that of its document; empty: it has none
	document     map[string]any
	files        []file // named as among the parts of a form
}

// basesOf are both operations with a body in all forms, and every other
// operation, asked about what is not there.
func basesOf(t *testing.T, d *daemon) []*base {
	t.Helper()
	r := goodRun(t, d)
	r.id = "malformed"
	var document map[string]any
	if err := json.Unmarshal([]byte(text(t, r.document())), &document); err != nil {
		t.Fatal(err)
	}
	var out []*base
	const schemas = "/components/schemas/"
	for _, media := range []string{formType, jsonType, tarType} {
		run := &base{operation: "createRun", template: "/v1/runs", method: "POST", path: "/v1/runs", good: 200, media: media, schema: schemas + "RunRequest", document: document, files: r.files()}
		digest := &base{operation: "describeSnapshot", template: "/v1/snapshots", method: "POST", path: "/v1/snapshots", good: 200, media: media, files: []file{{"a.txt", "one\n"}, {"more/b+c.bin", everyByte()}}}
		if media == jsonType {
			run.schema, digest.schema, digest.document = schemas+"InlineRunRequest", schemas+"InlineSnapshot", map[string]any{}
		}
		out = append(out, run, digest)
	}
	for path, item := range shared.contract.Doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody != nil {
				continue
			}
			b := &base{operation: operation.OperationID, template: path, method: method, path: filledIn.Replace(path), good: 200}
			if b.path != path {
				b.good = 404
			}
			out = append(out, b)
		}
	}
	for _, b := range out {
		b.name = strings.TrimSpace(b.operation + " " + b.media)
	}
	slices.SortFunc(out, func(a, b *base) int { return strings.Compare(a.name, b.name) })
	return out
}

// passes says why the base itself, under an id of its own, is not answered as it
// should be.
func (b *base) passes(t *testing.T, d *daemon, n uint64) error {
	draft := b.draft()
	if b.document["id"] != nil {
		draft.tree = func(doc map[string]any) { doc["id"] = fmt.Sprint("good-", n) }
	}
	r, _ := draft.request(t, d, n)
	a, err := d.exchange(r)
	if err == nil && a.status != b.good {
		err = fmt.Errorf("answered %d, want %d: %.500s", a.status, b.good, a.body)
	}
	return err
}

// draft is a request of a base with the changes of a defect. It is written
// down in layers, each of which can be changed: the files; the document, with
// the files in it where the form is JSON; its text; the entries of a form or
// archive; the body. nil changes nothing.
type draft struct {
	*base
	method, path string
	header       http.Header
	files        []file
	tree         func(map[string]any)
	text         func(string) string
	entries      func([]entry) []entry
	body         func([]byte) []byte
}

// entry is one part of a form, or one member of an archive.
type entry struct {
	file
	head   string            // of a part, in the place of the usual one
	change func(*tar.Header) // of a member
}

func (b *base) draft() *draft {
	d := &draft{base: b, method: b.method, path: b.path, files: slices.Clone(b.files), header: http.Header{}}
	if b.media != "" {
		d.header.Set("Content-Type", b.media)
	}
	if b.operation == "releaseSlot" {
		d.header.Set("If-Match", `"an old one"`)
	}
	if b.media == formType {
		d.header.Set("Content-Type", formType+"; boundary="+bound)
	}
	return d
}

// request makes the request and returns its body too. The same seed writes the
// same down in the same way.
func (d *draft) request(t *testing.T, to *daemon, seed uint64) (*http.Request, []byte) {
	t.Helper()
	body := d.packed(t, seed)
	if d.body != nil {
		body = d.body(body)
	}
	r := to.newRequest(t, d.method, d.path, bytes.NewReader(body))
	if d.media == "" && len(body) == 0 {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	maps.Copy(r.Header, d.header)
	return r, body
}

func (d *draft) packed(t *testing.T, seed uint64) []byte {
	switch d.media {
	case jsonType:
		return []byte(d.written(seed))
	case formType:
		return []byte(formOf(d.listed(seed, "request")))
	case tarType:
		return archiveOf(t, d.listed(seed, "request.json"))
	}
	return nil
}

// listed are the entries: the document first, where there is one.
func (d *draft) listed(seed uint64, name string) []entry {
	var list []entry
	if d.document != nil {
		list = append(list, entry{file: file{name, d.written(seed)}})
	}
	for _, f := range d.files {
		list = append(list, entry{file: f})
	}
	if d.entries != nil {
		list = d.entries(list)
	}
	return list
}

// written is the text of the document, in an order and with white space that
// the seed decides.
func (d *draft) written(seed uint64) string {
	doc := clone(d.document)
	if d.media == jsonType {
		d.addFiles(doc)
	}
	if d.tree != nil {
		d.tree(doc)
	}
	w := writer{r: rand.New(rand.NewPCG(seed, 1))}
	w.value(doc)
	if d.text != nil {
		return d.text(w.String())
	}
	return w.String()
}

// addFiles puts the files into the document.
func (d *draft) addFiles(doc map[string]any) {
	put := func(in map[string]any, prefix string) {
		list := []any{}
		for _, f := range d.files {
			if path, ours := strings.CutPrefix(f.path, prefix); ours {
				list = append(list, map[string]any{"path": path, "content": inline(f.content)})
			}
		}
		in["files"] = list
	}
	if doc["program"] == nil {
		put(doc, "")
		return
	}
	put(doc["program"].(map[string]any), "program/")
	put(doc["input"].(map[string]any), "input/")
}

// clone is a deep copy of a document.
func clone(doc map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range doc {
		if inner, ok := value.(map[string]any); ok {
			value = clone(inner)
		} else if list, ok := value.([]any); ok {
			value = slices.Clone(list)
		}
		out[name] = value
	}
	return out
}
