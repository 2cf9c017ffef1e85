package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// upload is a body of one form around one large file: what comes before it, the
// file as that form writes it, and what comes behind.
type upload struct {
	contentType           string
	before, large, behind string
}

func (u upload) reader() io.Reader {
	return io.MultiReader(strings.NewReader(u.before), strings.NewReader(u.large), strings.NewReader(u.behind))
}

func (u upload) size() int64 { return int64(len(u.before) + len(u.large) + len(u.behind)) }

// placeOfBig stands for the large file until the rest of a body is written.
const placeOfBig = "WHERE-THE-LARGE-FILE-GOES"

// uploadOf writes a run with one file of input, "big", down in one form.
func uploadOf(t testing.TB, r runRequest, media string) upload {
	t.Helper()
	big := r.input["big"]
	r.input, r.inputDigest = files{"big": placeOfBig}, r.input.digest()
	around := func(contentType, whole, large string) upload {
		before, behind, found := strings.Cut(whole, placeOfBig)
		if !found {
			t.Fatal("the place of the large file is not there")
		}
		return upload{contentType, before, large, behind}
	}
	switch media {
	case "multipart":
		contentType, parts := form(t, r.parts(t))
		return around(contentType, string(parts), big)
	case "JSON":
		return around("application/json", text(t, r.inline()), base64.StdEncoding.EncodeToString([]byte(big)))
	}
	return tarAround(t, r, big)
}

// inline is the document of r with its files in it.
func (r runRequest) inline() map[string]any {
	doc := r.document()
	for name, tree := range map[string]files{"program": r.program, "input": r.input} {
		entries := []any{}
		for _, f := range tree.list() {
			encoding, data := "utf-8", f.content
			switch {
			case data == placeOfBig:
				encoding = "base64"
			case !utf8.ValidString(data):
				encoding, data = "base64", base64.StdEncoding.EncodeToString([]byte(data))
			}
			entries = append(entries, map[string]any{"path": f.path, "content": map[string]any{"encoding": encoding, "data": data}})
		}
		doc[name].(map[string]any)["files"] = entries
	}
	return doc
}

// tarAround is the archive of r, whose only file of input is big.
func tarAround(t testing.TB, r runRequest, big string) upload {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	member := func(name string, size int, content string) {
		err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(size)})
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range append([]file{{"request.json", text(t, r.document())}}, r.program.under("program/")...) {
		member(p.path, len(p.content), p.content)
	}
	_ = w.Flush()
	member("input/big", len(big), "")
	padding := (512 - len(big)%512) % 512
	return upload{"application/x-tar", b.String(), big, strings.Repeat("\x00", padding+1024)}
}

// under is the list of f with a prefix before each path.
func (f files) under(prefix string) []file {
	list := f.list()
	for i := range list {
		list[i].path = prefix + list[i].path
	}
	return list
}
