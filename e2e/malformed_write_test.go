package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// writer writes JSON: the order of names, white space and escapes are as its
// random numbers will have them.
type writer struct {
	strings.Builder
	r *rand.Rand
}

func (w *writer) space() {
	if w.r.IntN(8) == 0 {
		w.WriteString([]string{" ", "\n", "\t", "\r\n  "}[w.r.IntN(4)])
	}
}

func (w *writer) lexeme(s string) {
	w.space()
	w.WriteString(s)
	w.space()
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		w.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		w.lexeme("{")
		for i, name := range names {
			if i > 0 {
				w.lexeme(",")
			}
			w.value(name)
			w.lexeme(":")
			w.value(v[name])
		}
		w.lexeme("}")
	case []any:
		w.lexeme("[")
		for i, item := range v {
			if i > 0 {
				w.lexeme(",")
			}
			w.value(item)
		}
		w.lexeme("]")
	case string:
		w.text(v)
	default:
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		w.lexeme(string(b))
	}
}

// text writes a string, sometimes with an escape that nobody needs.
func (w *writer) text(s string) {
	w.space()
	w.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			w.WriteString(`\` + string(c))
		case c < ' ' || c < utf8.RuneSelf && w.r.IntN(40) == 0:
			fmt.Fprintf(w, `\u%04x`, c)
		default:
			w.WriteRune(c)
		}
	}
	w.WriteByte('"')
	w.space()
}

// inline is content as a JSON request has it.
func inline(content string) map[string]any {
	if utf8.ValidString(content) {
		return map[string]any{"encoding": "utf-8", "data": content}
	}
	return map[string]any{"encoding": "base64", "data": base64.StdEncoding.EncodeToString([]byte(content))}
}

// formOf is a form with the boundary bound. Names are written as they are.
func formOf(list []entry) string {
	var out strings.Builder
	for _, e := range list {
		head := e.head
		if head == "" {
			head = `Content-Disposition: form-data; name="` + e.path + "\"\r\n"
		}
		out.WriteString("--" + bound + "\r\n" + head + "\r\n" + e.content + "\r\n")
	}
	return out.String() + "--" + bound + "--\r\n"
}

// archiveOf is a tar archive.
func archiveOf(t *testing.T, list []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range list {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.path, Size: int64(len(e.content)), Mode: 0o600}
		if e.change != nil {
			e.change(h)
		}
		err := w.WriteHeader(h)
		if err == nil && h.Size > 0 {
			_, err = w.Write([]byte(e.content))
		}
		if err != nil {
			t.Fatalf("tar: %q: %v", e.path, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
