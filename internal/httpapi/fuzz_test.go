package httpapi

import (
	"archive/tar"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"confined/internal/exec"
	"confined/internal/pins"
)

// The seeds are in the code, so that they cannot vanish.

func requestSeeds() []string {
	seeds := []string{
		requestWith(nil), `{}`, `[]`, `null`, `{"id":"a","id":"b"}`, `{"a":{"b":[1,2.5e-3,"\ud83d\ude00"]}}`, "\ufeff{}", `"\ud800"`, `{"timeoutMs":1e3}`, `-0`,
		`{"program":null,"input":[]}`, strings.Repeat("[", 33),
	}
	return append(seeds, requestWith(func(m object) { m["id"] = "é"; program(m)["args"] = []any{"\x00", 1} }))
}

func formSeeds() []string {
	whole := raw(rawRequest(), rawProgram())
	return []string{
		whole, whole[:len(whole)/2], "", "--b--", "--b\n" + rawRequest() + "\n--b--\n", raw(rawProgram(), rawRequest()), raw(rawRequest(), rawPart("input/../x", "\xff")),
		raw(rawRequest(), "Content-Transfer-Encoding: base64\r\n"+rawPart("input/a", "eA==")), raw(rawRequest(), rawPart("", "")), raw(endMark + ": 1\r\n\r\n"),
		raw(rawRequest(), rawPart("Input/a", ""), rawPart("input/a", ""), rawPart("input/A", "")), strings.ReplaceAll(whole, "\r\n", "\n"),
	}
}

func tarSeeds() []string {
	some := rawFile("a", "x") + rawFile("b/c", strings.Repeat("y", 600))
	return []string{
		some + tarEnd, some, some + tarEnd[:512], "", tarEnd, some + tarEnd + "x", rawFile("./a", "") + rawMember(tar.TypeDir, "d/", "", "") + tarEnd, global("comment", "x") + some + tarEnd,
		rawMember(tar.TypeXHeader, "x", "", paxRecord("path", "long")) + some + tarEnd, rawMember(tar.TypeGNULongName, "x", "", "long\x00") + some + tarEnd,
		rawMember(tar.TypeSymlink, "l", "", "") + tarEnd, sparse1("s", "9999", "1\n0\n1\n") + tarEnd, sparseOld("s", "00000001000") + tarEnd, rawFile("._a", "") + tarEnd, "\x1f\x8b",
		rawMember(tar.TypeReg, "a", "\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", "x") + tarEnd, tarHead() + tarEnd,
	}
}

func inlineSeeds() []string {
	return []string{
		`{"files":[]}`, `{"files":[` + asText("a", "é\n") + `,` + asBase64("b/c", "\xff\x00") + `,` + backwards("d", "x") + `]}`, `{}`, `[]`, ``, `{"files":null}`, `{"files":[{}]}`, ` {"files" : [ ] } `,
		`{"files":[{"content":{"data":"\ud83d\ude00","encoding":"utf-8"},"path":"\u0061"}]}`, `{"files":[{"path":"a","content":{"encoding":"base64","data":"QQ=="}}]}`, `{"files":[{"path":"a","content":{"encoding":"base64","data":"Q"}}]}`,
		`{"files":[{"path":"a","path":"b","content":{"encoding":"utf-8","data":""}}]}`, `{"files":[` + asText("a", "") + `]}x`, "{\"files\":[" + strings.Replace(asText("a", "x"), "x", "\xff", 1) + "]}", `{"files":[` + asText("a", "") + `],"x":{"y":[1.5e-3,true,null]}}`,
	}
}

func TestSeedsAreThere(t *testing.T) {
	if len(requestSeeds()) < 13 || len(formSeeds()) < 12 || len(tarSeeds()) < 17 || len(inlineSeeds()) < 15 {
		t.Error("seeds are missing")
	}
}

// FuzzRequestJSON: what is accepted has one reading, and encoding/json has the
// same; what is not gives nothing. Decoding never panics, and every pointer and
// code is one of the contract's.
func FuzzRequestJSON(f *testing.F) {
	for _, s := range requestSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		n, err := parseStrict(doc)
		if (n == nil) != (err != nil) {
			t.Fatalf("%v and %v", n, err)
		}
		if err != nil {
			mustHaveReason(t, string(doc), err.Error())
			return
		}
		var want any
		d := json.NewDecoder(strings.NewReader(string(doc)))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if got := plain(n); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", doc, got, want)
		}
		var found faults
		spec := decodeRequest(n, false, &found)
		_, rest := exec.NewRequest(spec, math.MaxInt64)
		found.ofRequest(rest)
		seen := map[string]bool{}
		for _, fault := range found.list {
			if seen[fault.Pointer] || fault.Detail == "" || fault.Pointer != "" && fault.Pointer[0] != '/' {
				t.Fatalf("%+v", found.list)
			}
			seen[fault.Pointer] = true
		}
	})
}

// FuzzMultipart: any body at all is either a run or a 4xx problem that fits the
// contract, and nothing is held afterwards.
func FuzzMultipart(f *testing.F) {
	for _, s := range formSeeds() {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	r := newRig(f, nil)
	f.Fuzz(func(t *testing.T, body []byte, snapshot bool) {
		path := "/v1/runs"
		if snapshot {
			path = "/v1/snapshots"
		}
		w := r.post(t, path, string(body), rawType)
		if w.Code != 200 {
			checkRefusal(t, w)
		}
		if running, waiting := r.Load(); running+waiting != 0 || r.memory.used.Load() != 0 {
			t.Fatalf("left: %d, %d, %d bytes", running, waiting, r.memory.used.Load())
		}
	})
}

func checkRefusal(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	p := problemOf(t, w)
	if w.Code < 400 || w.Code > 499 || (p.Code == ProblemCodeInvalidRequest) != (len(p.Errors) > 0) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

// mustHaveReason fails when a document that encoding/json reads was refused for
// none of the reasons that go beyond it.
func mustHaveReason(t *testing.T, doc, detail string) {
	t.Helper()
	if !json.Valid([]byte(doc)) {
		return
	}
	for _, reason := range []string{"is there twice", "levels of nesting", "one value more", "half a surrogate pair", "not valid UTF-8", "byte order mark", "bytes of names and values"} {
		if strings.Contains(detail, reason) {
			return
		}
	}
	t.Fatalf("%q was refused: %s", doc, detail)
}

// FuzzInlineJSON: a body that is accepted is what encoding/json and
// encoding/base64 make of it, no beginning of it is accepted, and one that is
// refused is a 4xx problem with a reason.
func FuzzInlineJSON(f *testing.F) {
	for _, s := range inlineSeeds() {
		f.Add(s)
	}
	r := newRig(f, silent)
	f.Fuzz(func(t *testing.T, body string) {
		w := r.quickly("/v1/snapshots", body, jsonType)
		if w.Code != 200 {
			fits(t, httptest.NewRequest(http.MethodPost, "/v1/snapshots", nil), w.Code, w.Header(), w.Body.Bytes())
			checkRefusal(t, w)
			if w.Code == 400 {
				mustHaveReason(t, body, problemOf(t, w).Detail)
			}
			return
		}
		var plain struct {
			Files []struct {
				Path    string
				Content Bytes
			}
		}
		if err := json.Unmarshal([]byte(body), &plain); err != nil {
			t.Fatal(err)
		}
		var files []file
		for _, one := range plain.Files {
			content := one.Content.Data
			if one.Content.Encoding == BytesEncodingBase64 {
				decoded, err := base64.StdEncoding.Strict().DecodeString(content)
				if err != nil || strings.ContainsAny(content, "\r\n") {
					t.Fatalf("%q is not base64: %v", content, err)
				}
				content = string(decoded)
			}
			files = append(files, file{name: one.Path, content: content})
		}
		mustBeSnapshotOf(t, w, files)
		r.mustRefuseBeginnings(t, strings.TrimRight(body, " \t\r\n"), jsonType)
	})
}

// FuzzTar: a body that is accepted holds the regular files that archive/tar
// finds in it and nothing else but directories, and no beginning of it is
// accepted as less. One that is refused is a 4xx problem.
func FuzzTar(f *testing.F) {
	for _, s := range tarSeeds() {
		f.Add(s)
	}
	r := newRig(f, silent)
	f.Fuzz(func(t *testing.T, body string) {
		w := r.quickly("/v1/snapshots", body, tarType)
		if w.Code != 200 {
			fits(t, httptest.NewRequest(http.MethodPost, "/v1/snapshots", nil), w.Code, w.Header(), w.Body.Bytes())
			checkRefusal(t, w)
			return
		}
		var files []file
		src := strings.NewReader(body)
		for members := tar.NewReader(src); ; {
			h, err := members.Next()
			if err == io.EOF {
				break
			}
			if err != nil || h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir && h.Typeflag != tar.TypeXGlobalHeader {
				t.Fatalf("%+v, %v", h, err)
			}
			content, err := io.ReadAll(members)
			if err != nil || int64(len(content)) != h.Size && h.Typeflag == tar.TypeReg {
				t.Fatalf("%+v, %v", h, err)
			}
			if h.Typeflag == tar.TypeReg {
				files = append(files, file{name: strings.TrimPrefix(h.Name, "./"), content: string(content)})
			}
		}
		mustBeSnapshotOf(t, w, files)
		r.mustRefuseBeginnings(t, body[:len(body)-src.Len()], tarType)
	})
}

// quickly is post, without a look into the contract.
func (r *rig) quickly(path, body, contentType string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

// mustBeSnapshotOf compares an answer with the digest of files.
func mustBeSnapshotOf(t *testing.T, w *httptest.ResponseRecorder, files []file) {
	t.Helper()
	var b pins.Builder
	for _, f := range files {
		_ = b.Add(f.name, strings.NewReader(f.content))
	}
	want, faults := b.Snapshot()
	var got Snapshot
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(faults) > 0 || got.Digest != string(want.Digest()) {
		t.Fatalf("%s, want %s %v (%v)", w.Body, want.Digest(), faults, err)
	}
}

// mustRefuseBeginnings cuts a whole body everywhere, or in many places of a
// long one.
func (r *rig) mustRefuseBeginnings(t *testing.T, whole, contentType string) {
	t.Helper()
	for cut := 0; cut < len(whole); cut += 1 + len(whole)/100 {
		if w := r.quickly("/v1/snapshots", whole[:cut], contentType); w.Code != 400 {
			t.Fatalf("cut at %d of %d: %d %s", cut, len(whole), w.Code, w.Body)
		}
	}
}

// silent keeps no log: a fuzzer would fill the memory with it.
func silent(o *Options) { o.Log = slog.New(slog.DiscardHandler) }
