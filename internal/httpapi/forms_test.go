package httpapi

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"confined/internal/exec"
)

// sending is a body and what its Content-Type says.
type sending struct{ body, contentType string }

// inEveryForm writes one request down in every form. files are named
// program/<path> and input/<path>.
func inEveryForm(edit func(m object), files ...file) map[string]sending {
	form, boundary := formOf(append([]file{{name: "request", content: requestWith(edit)}}, files...)...)
	return map[string]sending{
		"multipart":        {form, boundary},
		"tar":              {tarOf(append([]file{{name: "request.json", content: requestWith(edit)}}, files...)...), "application/x-tar"},
		"JSON":             {inlineOf(edit, asText, files...), "application/json"},
		"JSON in base64":   {inlineOf(edit, asBase64, files...), "application/json"},
		"JSON, keys first": {inlineOf(edit, backwards, files...), "application/json; charset=utf-8"},
	}
}

// tarOf is an archive of regular files.
func tarOf(files ...file) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if strings.HasSuffix(f.name, "/") { // the writer refuses that
			_ = w.Flush()
			b.WriteString(rawMember(tar.TypeReg, f.name, "", f.content))
			continue
		}
		writeMember(w, &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.content))}, f.content)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func writeMember(w *tar.Writer, h *tar.Header, content string) {
	if err := w.WriteHeader(h); err != nil {
		panic(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		panic(err)
	}
}

// rawMember is a member as the ustar format has it, with a size field of its
// own where one is given.
func rawMember(kind byte, name, size, content string) string {
	if size == "" {
		size = fmt.Sprintf("%011o", len(content))
	}
	head := make([]byte, 512)
	copy(head, name)
	copy(head[100:], "0000644\x000000000\x000000000\x00")
	copy(head[124:136], size)
	copy(head[136:], "00000000000\x00        ")
	head[156] = kind
	copy(head[257:], "ustar\x0000")
	sum := 0
	for _, c := range head {
		sum += int(c)
	}
	copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
	return string(head) + content + strings.Repeat("\x00", (512-len(content)%512)%512)
}

// inlineOf is a request with its files in it, each written by entry.
func inlineOf(edit func(m object), entry func(path, content string) string, files ...file) string {
	return requestWith(func(m object) {
		trees := map[string]object{"program": program(m), "input": input(m)}
		for name, tree := range trees {
			list := []json.RawMessage{}
			for _, f := range files {
				if path, ok := strings.CutPrefix(f.name, name+"/"); ok {
					list = append(list, json.RawMessage(entry(path, f.content)))
				}
			}
			tree["files"] = list
		}
		if edit != nil {
			edit(m)
		}
	})
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// asText is an entry in utf-8 where that is possible.
func asText(path, content string) string {
	if !utf8.ValidString(content) {
		return asBase64(path, content)
	}
	return fmt.Sprintf(`{"path":%s,"content":{"encoding":"utf-8","data":%s}}`, quoted(path), quoted(content))
}

func asBase64(path, content string) string {
	return fmt.Sprintf(`{"path":%s,"content":{"encoding":"base64","data":%q}}`, quoted(path), base64.StdEncoding.EncodeToString([]byte(content)))
}

// backwards has every name after what needs it.
func backwards(path, content string) string {
	return fmt.Sprintf(`{"content":{"data":%q,"encoding":"base64"},"path":%s}`, base64.StdEncoding.EncodeToString([]byte(content)), quoted(path))
}

// outcome is what came of a request, as far as it may not depend on the form.
func outcome(t *testing.T, r *rig, s sending) string {
	t.Helper()
	var got string
	r.executor.run = func(_ context.Context, req exec.Request) exec.Result {
		got = fmt.Sprint(req.RunID(), req.Program(), req.Entry(), req.Bounds())
		return observedResult(req.RunID())
	}
	w := r.post(t, "/v1/runs", s.body, s.contentType)
	if w.Code != 200 {
		p := problemOf(t, w)
		got = fmt.Sprintf("%s: %s\n%+v", p.Code, p.Detail, p.Errors)
	}
	if r.memory.used.Load() != 0 {
		t.Errorf("%d bytes are still held", r.memory.used.Load())
	}
	return got
}

// TestFormsAreJudgedAlike: the same request gets the same answer in every form,
// to the letter.
func TestFormsAreJudgedAlike(t *testing.T) {
	hello := file{name: "program/main.mjs", content: helloSource}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	const digestOfAll = "sha256:3317aab87a5603e966da3fc10a0eff96ae777f1251722a1fc5a25740df9ef0bb" // of b/x.js, a.txt and B.txt below
	fixed := func(edit func(m object)) func(m object) {
		return func(m object) {
			m["id"] = "fixed"
			if edit != nil {
				edit(m)
			}
		}
	}
	for name, c := range map[string]struct {
		edit  func(m object)
		files []file
		want  string // in the outcome
	}{
		"a program":       {nil, []file{hello}, "main.mjs{1000 1000 1 64}"},
		"with input":      {func(m object) { input(m)["digest"] = digestOfAll }, []file{hello, {name: "input/b/x.js"}, {name: "input/a.txt", content: "hello\n"}, {name: "input/B.txt", content: string(all)}}, "main.mjs"},
		"input first":     {func(m object) { input(m)["digest"] = digestOfAll }, []file{{name: "input/B.txt", content: string(all)}, {name: "input/a.txt", content: "hello\n"}, {name: "input/b/x.js"}, hello}, "main.mjs"},
		"arguments":       {func(m object) { program(m)["args"] = []any{"é", "", "\x01"} }, []file{hello}, "main.mjs"},
		"nothing":         {nil, nil, "0 files"},
		"another content": {nil, []file{{name: "program/main.mjs", content: strings.Repeat("other", 50_000)}}, "digest-mismatch"},
		"bad paths":       {nil, []file{hello, {name: "program/../x"}, {name: "program//a"}, {name: "input/"}, {name: "input/ü"}, {name: "program/a~b"}, {name: "input/a/"}}, "bad-path"},
		"long paths":      {nil, []file{hello, {name: "input/" + strings.Repeat("a", 300)}, {name: "input/" + strings.Repeat("é", 3000)}}, "shorten"},
		"clashes":         {nil, []file{hello, hello, {name: "program/MAIN.mjs"}, {name: "program/main.mjs/x"}, {name: "input/a"}, {name: "input/a"}}, "duplicate-path"},
		"too many":        {nil, append(manyFiles("input/", 10_001), hello), "too-many-files"},
		"faults of all sources": {
			func(m object) {
				m["x"] = 1
				m["timeoutMs"] = 0
				delete(m, "profile")
				program(m)["entry"] = "absent.mjs"
				program(m)["args"] = []any{1}
			}, []file{hello, {name: "input/.."}}, "6 faults",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			sent := inEveryForm(fixed(c.edit), c.files...)
			want := outcome(t, r, sent["multipart"])
			if !strings.Contains(want, c.want) {
				t.Errorf("%q is not in %s", c.want, want)
			}
			for form, s := range sent {
				r.queue.ids = atMostOnce{} // the same id is to run again
				if got := outcome(t, r, s); got != want {
					t.Errorf("%s: got\n%.2000s\nwant\n%.2000s", form, got, want)
				}
			}
		})
	}
}

// TestSnapshotFormsAreAlike does the same for snapshots.
func TestSnapshotFormsAreAlike(t *testing.T) {
	for name, files := range map[string][]file{
		"none": nil, "one": {{name: "main.mjs", content: helloSource}}, "some": {{name: "b/x.js"}, {name: "a.txt", content: "hello\n"}, {name: "@a/b+c", content: "\xff\x00"}},
		"wrong": {{name: "a"}, {name: "/b"}, {name: "A"}, {name: ""}, {name: "request.json", content: "{}"}, {name: "request"}},
	} {
		r := newRig(t, nil)
		form, boundary := formOf(files...)
		if files == nil {
			form, boundary = "--b--", rawType
		}
		answers := map[string]*httptest.ResponseRecorder{
			"multipart": r.post(t, "/v1/snapshots", form, boundary), "tar": r.post(t, "/v1/snapshots", tarOf(files...), "application/x-tar"),
		}
		for form, entry := range map[string]func(path, content string) string{"text": asText, "base64": asBase64, "backwards": backwards} {
			var entries []string
			for _, f := range files {
				entries = append(entries, entry(f.name, f.content))
			}
			answers[form] = r.post(t, "/v1/snapshots", `{"files":[`+strings.Join(entries, ",")+`]}`, "Application/JSON")
		}
		want := withoutInstance(t, answers["multipart"])
		if (answers["multipart"].Code == 200) != (name != "wrong") {
			t.Errorf("%s: %s", name, answers["multipart"].Body)
		}
		for form, w := range answers {
			if got := withoutInstance(t, w); !reflect.DeepEqual(got, want) {
				t.Errorf("%s as %s: %v, want %v", name, form, got, want)
			}
		}
	}
}

func withoutInstance(t *testing.T, w *httptest.ResponseRecorder) object {
	t.Helper()
	var m object
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "instance")
	return m
}

// TestWrongMediaTypes: the refusal names all three forms.
func TestWrongMediaTypes(t *testing.T) {
	r := newRig(t, nil)
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonl", "application/json, application/json", "application/tar", "multipart/mixed; boundary=b", ";"} {
		for _, path := range []string{"/v1/runs", "/v1/snapshots"} {
			p := problemOf(t, r.post(t, path, "x", contentType))
			if p.Code != ProblemCodeUnsupportedMediaType || !strings.Contains(p.Detail, "multipart/form-data") || !strings.Contains(p.Detail, "application/json") || !strings.Contains(p.Detail, "application/x-tar") {
				t.Errorf("%q: %+v", contentType, p)
			}
		}
	}
	for form, s := range inEveryForm(nil) {
		for _, coding := range []string{"gzip", "br, identity", "identity, gzip"} {
			if p := problemOf(t, r.post(t, "/v1/runs", s.body, s.contentType, "Content-Encoding", coding)); p.Code != ProblemCodeUnsupportedMediaType || !strings.Contains(p.Detail, "as it is") {
				t.Errorf("%s in %s: %+v", form, coding, p)
			}
		}
		if p := problemOf(t, r.post(t, "/v1/runs", s.body, s.contentType, "Content-Encoding", "Identity")); p.Code != ProblemCodeInvalidRequest {
			t.Errorf("%s as it is: %+v", form, p)
		}
	}
}

// TestEveryCutIsSeen: no beginning of a body is a request or a snapshot.
func TestEveryCutIsSeen(t *testing.T) {
	r := newRig(t, nil)
	hello := file{name: "program/main.mjs", content: helloSource}
	runs := inEveryForm(nil, hello, file{name: "input/a", content: "\x00"})
	snapshots := map[string]sending{
		"tar": {tarOf(file{name: "a", content: "x"}, file{name: "b"}), "application/x-tar"}, "JSON": {`{"files":[` + asText("a", "é") + `]}`, "application/json"},
	}
	for path, sent := range map[string]map[string]sending{"/v1/runs": runs, "/v1/snapshots": snapshots} {
		for form, s := range sent {
			whole := strings.TrimSuffix(s.body, "\r\n") // which may be missing behind the last boundary
			for cut := range whole {
				if w := r.quickly(path, whole[:cut], s.contentType); w.Code != 400 {
					t.Fatalf("%s, %s cut at %d of %d: %d %s", path, form, cut, len(s.body), w.Code, w.Body)
				}
			}
		}
	}
}
