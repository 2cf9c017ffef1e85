package httpapi

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

const jsonType = "application/json"

// inlineWith is a valid run whose document holds entries as the input's files.
func inlineWith(entries ...string) string {
	return strings.Replace(inlineOf(nil, asText, file{name: "program/main.mjs", content: helloSource}), `"files":[]`, `"files":[`+strings.Join(entries, ",")+`]`, 1)
}

// TestMalformedInline: what is not JSON with one reading, wherever it is.
func TestMalformedInline(t *testing.T) {
	entry := func(data string) string { return `{"path":"a","content":{"encoding":"utf-8","data":` + data + `}}` }
	long := strings.Repeat("x", 40<<10) // beyond the reader's buffer
	for name, c := range map[string]struct {
		body string
		code ProblemCode
		want string // in the detail
	}{
		"nothing":               {"", "malformed-request", "unexpected end"},
		"white space":           {" \n\t", "malformed-request", "line 2, byte 2: unexpected end"},
		"a form":                {raw(rawRequest(), rawProgram()), "malformed-request", "in numeric literal"},
		"gzip":                  {"\x1f\x8b\x08\x00", "malformed-request", "looking for beginning of value"},
		"two documents":         {inlineWith() + "{}", "malformed-request", "after top-level value"},
		"a byte order mark":     {"\ufeff" + inlineWith(), "malformed-request", "byte order mark"},
		"UTF-16":                {"\xff\xfe{\x00}\x00", "malformed-request", "UTF-8"},
		"files twice":           {strings.Replace(inlineWith(), `"files":[]`, `"files":[],"files":[]`, 1), "malformed-request", "/input/files is there twice"},
		"a path twice":          {inlineWith(`{"path":"a","path":"a"}`), "malformed-request", "/input/files/0/path is there twice"},
		"data twice":            {inlineWith(asText("a", ""), `{"path":"b","content":{"encoding":"utf-8","data":"","data":""}}`), "malformed-request", "/input/files/1/content/data is there twice"},
		"an unknown name twice": {inlineWith(`{"path":"a","x":1,"x":1}`), "malformed-request", "/input/files/0/x is there twice"},
		"half a pair in data":   {inlineWith(entry(`"` + long + `\ud800"`)), "malformed-request", "half a surrogate pair"},
		"half a pair in a path": {inlineWith(asText("a", ""), `{"path":"\udfff"}`), "malformed-request", "half a surrogate pair"},
		"not UTF-8 in data":     {inlineWith(entry("\"" + long + "\xff\"")), "malformed-request", "not valid UTF-8"},
		"a character cut off":   {inlineWith(entry("\"" + long + "\xe2\x82\"")), "malformed-request", "not valid UTF-8"},
		"a newline in data":     {inlineWith(entry("\"a\nb\"")), "malformed-request", `invalid character '\n' in string literal`},
		"an unknown escape":     {inlineWith(entry(`"\x41"`)), "malformed-request", "in string escape code"},
		"a comma too many":      {inlineWith(asText("a", ""), ""), "malformed-request", "looking for beginning of value"},
		"no comma":              {inlineWith(asText("a", "") + asText("b", "")), "malformed-request", "after array element"},
		"deep":                  {inlineWith(strings.Repeat("[", 40) + strings.Repeat("]", 40)), "malformed-request", "levels of nesting"},
		"many values":           {strings.Replace(inlineWith(), `"files":[]`, `"more":[`+strings.Repeat("0,", maxValues)+`0]`, 1), "malformed-request", "one value more"},
		"many values in a file": {inlineWith(`{"path":[` + strings.Repeat("0,", maxValues) + `0]}`), "malformed-request", "one value more"},
		"much text":             {strings.Replace(inlineWith(), `"files":[]`, `"more":"`+strings.Repeat(long, 30)+`"`, 1), "too-large", "1048576 bytes of names"},
		"a long name":           {strings.Replace(inlineWith(), `"files":[]`, `"`+strings.Repeat(long, 30)+`":1`, 1), "too-large", "1048576 bytes of names"},
		"a long number":         {strings.Replace(inlineWith(), `"files":[]`, `"more":1`+strings.Repeat("0", 2<<20), 1), "too-large", "1048576 bytes of names"},
		"a long path":           {inlineWith(`{"path":"` + strings.Repeat(long, 30) + `"}`), "too-large", "1048576 bytes of names"},
		"a hundred thousand":    {inlineWith(strings.Repeat("{},", maxFiles) + "{}"), "too-large", "100000"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := problemOf(t, r.post(t, "/v1/runs", c.body, jsonType))
			if p.Code != c.code || !strings.Contains(p.Detail, c.want) || len(p.Errors) > 0 {
				t.Errorf("got %s: %s", p.Code, p.Detail)
			}
			if got := r.memory.used.Load(); got != 0 {
				t.Errorf("%d bytes are still held", got)
			}
		})
	}
}

// TestInvalidInline: what has one reading and is no request.
func TestInvalidInline(t *testing.T) {
	withFiles := func(value string) string { return strings.Replace(inlineWith(), `"files":[]`, value, 1) }
	for name, c := range map[string]struct{ body, want, detail string }{
		"no object":           {`[]`, "wrong-type ", "an array"},
		"null":                {`null`, "wrong-type ", "null"},
		"no files":            {withFiles(`"other":1`), "unknown-field /input/other, missing-field /input/files", "known here: digest, files"},
		"files in capitals":   {withFiles(`"Files":[]`), "unknown-field /input/Files, missing-field /input/files", "spelt files"},
		"files null":          {withFiles(`"files":null`), "wrong-type /input/files", "null"},
		"files an object":     {withFiles(`"files":{"a":"x"}`), "wrong-type /input/files", `each file is {"path": "data.csv", `},
		"trees no objects":    {`{"program":[{"files":[{}]}],"input":7}`, "missing-field /runtime, missing-field /profile, missing-field /timeoutMs, missing-field /maxOutputBytes, missing-field /cpuSeconds, missing-field /maxDescriptors, wrong-type /program, wrong-type /input", ""},
		"a file a string":     {inlineWith(`"a"`), "wrong-type /input/files/0", "a string and must be an object"},
		"a file null":         {inlineWith(asText("a", ""), `null`), "wrong-type /input/files/1", "null"},
		"an empty file":       {inlineWith(`{}`), "missing-field /input/files/0/path, missing-field /input/files/0/content", "required"},
		"no path":             {inlineWith(`{"content":{"encoding":"utf-8","data":"x"}}`), "missing-field /input/files/0/path", ""},
		"a path null":         {inlineWith(`{"path":null,"content":{"encoding":"utf-8","data":"x"}}`), "wrong-type /input/files/0/path", ""},
		"a path too late":     {inlineWith(`{"content":{"data":"x","encoding":"utf-8"},"path":7}`), "wrong-type /input/files/0/path", ""},
		"no content":          {inlineWith(`{"path":"../a"}`), "missing-field /input/files/0/content, bad-path /input/files/..~1a", ""},
		"content a string":    {inlineWith(`{"path":"a","content":"x"}`), "wrong-type /input/files/0/content", "an object"},
		"no data":             {inlineWith(`{"path":"a","content":{"encoding":"utf-8"}}`), "missing-field /input/files/0/content/data", ""},
		"data an array":       {inlineWith(`{"path":"a","content":{"encoding":"utf-8","data":[1,"x"]}}`), "wrong-type /input/files/0/content/data", "an array"},
		"no encoding":         {inlineWith(`{"path":"a","content":{"data":"x"}}`), "missing-field /input/files/0/content/encoding", ""},
		"encoding null":       {inlineWith(`{"path":"a","content":{"data":"x","encoding":null}}`), "wrong-type /input/files/0/content/encoding", ""},
		"another encoding":    {inlineWith(`{"path":"a","content":{"encoding":"hex","data":"00"}}`), "out-of-range /input/files/0/content/encoding", `"utf-8" or "base64"`},
		"encoding, capitals":  {inlineWith(`{"path":"a","content":{"data":"x","encoding":"UTF-8"}}`), "out-of-range /input/files/0/content/encoding", `"utf-8" or "base64"`},
		"no base64":           {inlineWith(`{"path":"a","content":{"encoding":"base64","data":"QUJ"}}`), "wrong-type /input/files/0/content/data", "multiple of 4"},
		"no base64, late":     {inlineWith(`{"content":{"data":"QU\nJD","encoding":"base64"},"path":"a"}`), "wrong-type /input/files/0/content/data", `character 3 is '\n'`},
		"an unknown field":    {inlineWith(`{"path":"a","mode":420,"content":{"encoding":"utf-8","data":"","x":{"y":[]}}}`), "unknown-field /input/files/0/mode, unknown-field /input/files/0/content/x", "path, content"},
		"names of the fields": {inlineWith(`{"Path":"a","content":{"encoding":"utf-8","data":""}}`), "unknown-field /input/files/0/Path, missing-field /input/files/0/path", ""},
		"all at once":         {inlineWith(asText("a", ""), `7`, asText("a", ""), `{"path":"b"}`, asText("A", ""), asText("..", "")), "wrong-type /input/files/1, missing-field /input/files/3/content, duplicate-path /input/files/a, path-clash /input/files/A, bad-path /input/files/..", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			p := problemOf(t, r.post(t, "/v1/runs", c.body, jsonType))
			if p.Code != ProblemCodeInvalidRequest || faultLine(p) != c.want || !strings.Contains(fmt.Sprint(p.Errors), c.detail) {
				t.Errorf("got  %s\nwant %s\n%s", faultLine(p), c.want, p.Detail)
			}
			if got := r.memory.used.Load(); got != 0 {
				t.Errorf("%d bytes are still held", got)
			}
		})
	}
	if p := problemOf(t, newRig(t, nil).post(t, "/v1/runs", inlineWith(strings.Repeat("0,", 999)+"0"), jsonType)); len(p.Errors) != maxFaults {
		t.Errorf("%d faults", len(p.Errors))
	}
	for body, want := range map[string]string{`{}`: "missing-field /files", `{"files":{}}`: "wrong-type /files", `{"files":[],"x":1}`: "unknown-field /x", `7`: "wrong-type ", `{"files":[{}]}`: "missing-field /files/0/path, missing-field /files/0/content"} {
		if p := problemOf(t, newRig(t, nil).post(t, "/v1/snapshots", body, jsonType)); faultLine(p) != want {
			t.Errorf("%s: %s, want %s", body, faultLine(p), want)
		}
	}
}

// TestOrderInInline: every order of names gives the same file.
func TestOrderInInline(t *testing.T) {
	content := strings.Repeat("some text, é\n", 20_000) // more than any buffer holds
	encoded := base64.StdEncoding.EncodeToString([]byte(content))
	body := func(entry string) string { return `{"files":[` + asText("first", "1") + `,` + entry + `]}` }
	r := newRig(t, nil)
	want := r.post(t, "/v1/snapshots", body(asText("a", content)), jsonType).Body.String()
	if !strings.Contains(want, fmt.Sprintf(`"size":%d`, len(content))) {
		t.Fatal(want)
	}
	for _, data := range []struct{ encoding, data string }{{"utf-8", quoted(content)}, {"base64", quoted(encoded)}} {
		encoding, text := `"encoding":"`+data.encoding+`"`, `"data":`+data.data
		for _, inner := range []string{encoding + "," + text, text + "," + encoding} {
			for _, entry := range []string{`{"path":"a","content":{` + inner + `}}`, `{"content":{` + inner + `},"path":"a"}`} {
				if got := r.post(t, "/v1/snapshots", body(entry), jsonType).Body.String(); got != want {
					t.Errorf("%.80s…: %s", entry, got)
				}
			}
		}
	}
}
