package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// raw is a body between boundaries "b", each part as it is written.
func raw(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--b\r\n" + p + "\r\n")
	}
	return b.String() + "--b--\r\n"
}

func rawPart(name, content string) string {
	return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + content
}

const rawType = "multipart/form-data; boundary=b"

func rawRequest() string { return rawPart("request", requestWith(nil)) }
func rawProgram() string { return rawPart("program/main.mjs", helloSource) }

// TestMalformedForms: what cannot be read is refused with its status and a cure.
func TestMalformedForms(t *testing.T) {
	whole := raw(rawRequest(), rawProgram())
	cut := func(after string) string { return whole[:strings.LastIndex(whole, after)+len(after)] }
	many := strings.Repeat("--b\r\n"+rawPart("input/x", "")+"\r\n", maxFiles+1)
	for name, c := range map[string]struct {
		body, contentType string
		code              ProblemCode
		want              string // in the detail
	}{
		"no type":               {whole, "", "unsupported-media-type", "there is no Content-Type; send multipart/form-data"},
		"text":                  {"{}", "text/plain", "unsupported-media-type", "application/x-tar"},
		"urlencoded":            {"a=b", "application/x-www-form-urlencoded", "unsupported-media-type", "curl: -F"},
		"mixed":                 {whole, "multipart/mixed; boundary=b", "unsupported-media-type", "multipart/mixed"},
		"unreadable type":       {whole, "a b c", "unsupported-media-type", ""},
		"no boundary":           {whole, "multipart/form-data", "malformed-request", "boundary"},
		"empty body":            {"", rawType, "malformed-request", "before its last boundary"},
		"no parts":              {"--b--\r\n", rawType, "malformed-request", "no part"},
		"other boundary":        {strings.ReplaceAll(whole, "--b", "--c"), rawType, "malformed-request", "before its last boundary"},
		"cut in content":        {cut("console.log"), rawType, "malformed-request", "before its last boundary"},
		"cut in a head":         {cut("Content-Disposition: form-data; na"), rawType, "malformed-request", ""},
		"cut after a head line": {cut("name=\"program/main.mjs\"\r\n"), rawType, "malformed-request", "before its last boundary"},
		"cut after a boundary":  {cut("--b\r\n"), rawType, "malformed-request", "Content-Disposition"},
		"cut at the end":        {strings.TrimSuffix(whole, "--b--\r\n"), rawType, "malformed-request", "before its last boundary"},
		"request not first":     {raw(rawProgram(), rawRequest()), rawType, "malformed-request", "put that one first"},
		"request twice":         {raw(rawRequest(), rawRequest()), rawType, "malformed-request", "two parts"},
		"request in capitals":   {raw(rawPart("Request", "{}")), rawType, "malformed-request", "Request"},
		"request not JSON":      {raw(rawPart("request", "{")), rawType, "malformed-request", "line 1"},
		"duplicate key":         {raw(rawPart("request", `{"id":"a","id":"b"}`)), rawType, "malformed-request", "/id is there twice"},
		"trailing data":         {raw(rawPart("request", requestWith(nil)+"x")), rawType, "malformed-request", "after top-level value"},
		"lone surrogate":        {raw(rawPart("request", `{"id":"\ud800"}`)), rawType, "malformed-request", "surrogate"},
		"request too large":     {raw(rawPart("request", strings.Repeat(" ", maxRequestBytes+1))), rawType, "too-large", "1048576"},
		"an encoded name":       {raw("Content-Disposition: form-data; name=\"request\"; name*=utf-8''other\r\n\r\n{}"), rawType, "malformed-request", "whose name is encoded"},
		"a name in pieces":      {raw("Content-Disposition: form-data; Name*0=req; name*1=uest\r\n\r\n{}"), rawType, "malformed-request", "whose name is encoded"},
		"no disposition":        {raw("X: y\r\n\r\n{}"), rawType, "malformed-request", "0 Content-Disposition"},
		"two dispositions":      {raw("Content-Disposition: form-data; name=\"a\"\r\n" + rawRequest()), rawType, "malformed-request", "2 Content-Disposition"},
		"attachment":            {raw("Content-Disposition: attachment; name=\"request\"\r\n\r\n{}"), rawType, "malformed-request", "form-data"},
		"no name":               {raw("Content-Disposition: form-data; filename=\"request\"\r\n\r\n{}"), rawType, "malformed-request", "no name"},
		"two names":             {raw("Content-Disposition: form-data; name=\"request\"; name=\"x\"\r\n\r\n{}"), rawType, "malformed-request", "in quotes"},
		"name without quotes":   {raw(rawRequest(), "Content-Disposition: form-data; name=program/main.mjs\r\n\r\n"), rawType, "malformed-request", "in quotes"},
		"transfer encoding":     {raw(rawRequest(), "Content-Transfer-Encoding: base64\r\n"+rawProgram()), rawType, "malformed-request", "as they are"},
		"nested":                {raw(rawRequest(), "Content-Type: Multipart/mixed; boundary=c\r\n"+rawPart("program/a,b", "--c--")), rawType, "malformed-request", "a part of its own"},
		"head too large":        {raw(rawRequest(), "X: "+strings.Repeat("x", 11<<20)+"\r\n"+rawProgram()), rawType, "too-large", "head of a part"},
		"too many parts":        {"--b\r\n" + rawRequest() + "\r\n" + many + "--b--", rawType, "too-large", "100000 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil).post(t, "/v1/runs", c.body, c.contentType)
			if p := problemOf(t, w); p.Code != c.code || !strings.Contains(p.Detail, c.want) || len(p.Errors) > 0 {
				t.Errorf("got %s: %s", p.Code, p.Detail)
			}
		})
	}
}

// TestInvalidFiles: what can be read and is no snapshot.
func TestInvalidFiles(t *testing.T) {
	for name, c := range map[string]struct {
		files []file
		want  string
	}{
		"bad paths": {
			[]file{{name: "program/../x"}, {name: "program//a"}, {name: "input/"}, {name: "input/ü"}, {name: "program/a~b"}, {name: "input/%22"}},
			"bad-path /program/files/..~1x, bad-path /program/files/~1a, bad-path /program/files/a~0b, bad-path /input/files/, bad-path /input/files/ü, bad-path /input/files/%22",
		},
		"duplicate":     {[]file{{name: "input/a"}, {name: "input/a"}, {name: "input/A"}}, "duplicate-path /input/files/a, path-clash /input/files/A"},
		"clash":         {[]file{{name: "program/main.mjs/x.mjs"}}, "path-clash /program/files/main.mjs~1x.mjs"},
		"unknown parts": {[]file{{name: "Program/x"}, {name: "program"}, {name: ""}, {name: "files/a"}, {name: "programs/a"}}, "unknown-field /Program~1x, unknown-field /program, unknown-field /, unknown-field /files~1a, unknown-field /programs~1a"},
		"too large":     {[]file{{name: "input/big", content: strings.Repeat("x", 64<<20+1)}}, "snapshot-too-large /input/files/big"},
		"too many":      {manyFiles("input/", 10_001), "too-many-files /input/files/10000"},
		"not UTF-8":     {[]file{{name: "input/\xff"}}, "bad-path /input/files/\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			parts := append([]file{{name: "request", content: requestWith(nil)}, {name: "program/main.mjs", content: helloSource}}, c.files...)
			body, contentType := formOf(parts...)
			p := problemOf(t, newRig(t, nil).post(t, "/v1/runs", body, contentType))
			if p.Code != ProblemCodeInvalidRequest || faultLine(p) != c.want {
				t.Errorf("got  %s\nwant %s", faultLine(p), c.want)
			}
		})
	}
}

func manyFiles(prefix string, n int) []file {
	var list []file
	for i := range n {
		list = append(list, file{name: fmt.Sprintf("%s%05d", prefix, i)})
	}
	return list
}

// TestFaultsOfAllSources come together in one problem.
func TestFaultsOfAllSources(t *testing.T) {
	body, contentType := formOf(file{name: "request", content: requestWith(func(m object) { m["x"] = 1; m["timeoutMs"] = 0 })},
		file{name: "program/main.mjs", content: "other"}, file{name: "stray"}, file{name: "input/.."})
	p := problemOf(t, newRig(t, nil).post(t, "/v1/runs", body, contentType))
	want := "unknown-field /x, unknown-field /stray, bad-path /input/files/.., digest-mismatch /program/digest, out-of-range /timeoutMs"
	if faultLine(p) != want || !strings.HasPrefix(p.Detail, "5 faults; the first: /x: ") {
		t.Errorf("got  %s\nwant %s\n%s", faultLine(p), want, p.Detail)
	}
}

// TestAcceptedForms: the same run in every shape that clients send.
func TestAcceptedForms(t *testing.T) {
	typed := "Content-Type: text/javascript\r\n"
	for name, c := range map[string]struct{ body, contentType string }{
		"plain":                 {raw(rawRequest(), rawProgram()), rawType},
		"type in capitals":      {raw(rawRequest(), rawProgram()), "Multipart/Form-Data; boundary=b"},
		"quoted boundary":       {raw(rawRequest(), rawProgram()), `multipart/form-data; charset=utf-8; boundary="b"`},
		"part types":            {raw(typed+rawRequest(), typed+rawProgram()), rawType},
		"file names":            {raw(rawRequest(), strings.Replace(rawProgram(), "\"\r\n", "\"; filename=\"../../etc/passwd\"\r\n", 1)), rawType},
		"encoded file name":     {raw(rawRequest(), "Content-Disposition: form-data; name=\"program/main.mjs\"; filename*=utf-8''name*.mjs; filename=\"; name*=x\"\r\n\r\n"+helloSource), rawType},
		"preamble":              {"to be ignored\r\n" + raw(rawRequest(), rawProgram()), rawType},
		"epilogue":              {raw(rawRequest(), rawProgram()) + strings.Repeat("to be ignored\r\n", 10_000), rawType},
		"no newline at the end": {strings.TrimSuffix(raw(rawRequest(), rawProgram()), "\r\n"), rawType},
	} {
		t.Run(name, func(t *testing.T) {
			if w := newRig(t, nil).post(t, "/v1/runs", c.body, c.contentType); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

func TestSnapshots(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for want, parts := range map[string][]file{
		"sha256:c0043fe4568bd869827ca5681438f9dbf6deb6c9070e7b18d59f18cc69c1be61": nil,
		"sha256:375d22506ae6cd2056ecc6e588f8679fc3fa697a7027399d97dfa77f203bdbf7": {{name: "main.mjs", content: helloSource}},
		"sha256:3317aab87a5603e966da3fc10a0eff96ae777f1251722a1fc5a25740df9ef0bb": {{name: "b/x.js"}, {name: "a.txt", content: "hello\n"}, {name: "B.txt", content: string(all)}},
		"sha256:28dde3b61accdde26535befe581773ec1bea2fa20f4f7085de0a87dc92741fc4": {{name: "node_modules/@a/b+c/index.js", content: "1\n"}},
	} {
		body, contentType := formOf(parts...)
		if parts == nil {
			body, contentType = "--b--", rawType
		}
		w := newRig(t, nil).post(t, "/v1/snapshots", body, contentType)
		var s Snapshot
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 || s.Digest != want || len(s.Files) != len(parts) {
			t.Errorf("%d %s, want %s (%v)", w.Code, w.Body, want, err)
		}
	}
}

func TestInvalidSnapshots(t *testing.T) {
	body, contentType := formOf(file{name: "a"}, file{name: "/b"}, file{name: "A"}, file{name: ""})
	p := problemOf(t, newRig(t, nil).post(t, "/v1/snapshots", body, contentType))
	if want := "bad-path /files/~1b, path-clash /files/A, bad-path /files/"; faultLine(p) != want {
		t.Errorf("got %s, want %s", faultLine(p), want)
	}
	whole, contentType := formOf(file{name: "a", content: "x"})
	for cut := range len(whole) - 4 {
		if w := newRig(t, nil).post(t, "/v1/snapshots", whole[:cut], contentType); w.Code != 400 {
			t.Fatalf("cut at %d of %d: %d %s", cut, len(whole), w.Code, w.Body)
		}
	}
}
