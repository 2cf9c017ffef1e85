package main

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// kit is the mixture, in the order in which it is sent, over and over.
type kit struct {
	targets []vegeta.Target
	runs    []vegeta.Target // those of targets that start a program when they are accepted
}

// requests is how many requests a second offer that many runs a second.
func (k kit) requests(runs float64) float64 {
	return runs * float64(len(k.targets)) / float64(len(k.runs))
}

// Where runs go, and where requests go that must be refused with a status: the
// daemon takes no notice of a query, the record keeps it.
const (
	runsURL      = "http://confined/v1/runs"
	malformedURL = runsURL + "?must=400"
	invalidURL   = runsURL + "?must=422"
)

// program is what a run of the mixture does.
type program struct {
	source    string
	timeoutMs int
	output    int
}

var (
	hello  = program{source: "import {readFileSync} from 'node:fs'; console.log(readFileSync('data.txt', 'utf8').length)", timeoutMs: 60_000, output: 1 << 20}
	flood  = program{source: "process.stdout.write('x'.repeat(1 << 20))", timeoutMs: 60_000, output: 1 << 20}
	spin   = program{source: "for (;;);", timeoutMs: 200, output: 1 << 20}
	crash  = program{source: "throw new Error('meant')", timeoutMs: 60_000, output: 1 << 20}
	broken = program{source: "this is no JavaScript", timeoutMs: 60_000, output: 1 << 20}
)

// mixture is every kind of request, weighted: three runs in four requests.
func (m maker) mixture() (kit, error) {
	var k kit
	small, large := []byte("a little data\n"), bytes.Repeat([]byte("0123456789abcdef"), 16<<10)
	for _, r := range []struct {
		program program
		input   []byte
		form    func(program, []byte) (vegeta.Target, error)
	}{
		{hello, small, m.multipart}, {hello, small, m.inline}, {hello, small, m.tar}, {hello, large, m.multipart},
		{crash, small, m.multipart}, {hello, small, m.stream}, {hello, large, m.inline}, {flood, small, m.multipart},
		{hello, large, m.tar}, {spin, small, m.multipart}, {hello, small, m.multipart}, {broken, small, m.inline},
	} {
		t, err := r.form(r.program, r.input)
		if err != nil {
			return kit{}, err
		}
		k.runs = append(k.runs, t)
	}
	others := []vegeta.Target{get("/v1/status"), get("/v1/runs"), get("/v1/slots"), m.snapshot(large), malformed(), m.invalid()}
	for i, t := range k.runs {
		k.targets = append(k.targets, t)
		if i%2 == 1 {
			k.targets = append(k.targets, others[i/2])
		}
	}
	return k, nil
}

func get(path string) vegeta.Target {
	return vegeta.Target{Method: http.MethodGet, URL: "http://confined" + path}
}

func post(url, contentType string, body []byte) vegeta.Target {
	return vegeta.Target{Method: http.MethodPost, URL: url, Body: body, Header: http.Header{"Content-Type": {contentType}}}
}

func malformed() vegeta.Target {
	return post(malformedURL, "application/json", []byte(`{"runtime":`))
}

// maker makes requests that a daemon with these pins accepts.
type maker struct {
	runtime, profile string
	digest           func(name string, content []byte) (string, error)
}

// document is the request without its files.
func (m maker) document(p program, input []byte) (map[string]any, error) {
	programDigest, err := m.digest("main.mjs", []byte(p.source))
	if err != nil {
		return nil, err
	}
	inputDigest, err := m.digest("data.txt", input)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"runtime": m.runtime, "profile": m.profile,
		"program":   map[string]any{"digest": programDigest, "entry": "main.mjs"},
		"input":     map[string]any{"digest": inputDigest},
		"timeoutMs": p.timeoutMs, "maxOutputBytes": p.output, "cpuSeconds": 60, "maxDescriptors": 64,
	}, nil
}

func (m maker) multipart(p program, input []byte) (vegeta.Target, error) {
	doc, err := m.document(p, input)
	if err != nil {
		return vegeta.Target{}, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return vegeta.Target{}, err
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, part := range []struct {
		name    string
		content []byte
	}{{"request", text}, {"program/main.mjs", []byte(p.source)}, {"input/data.txt", input}} {
		to, err := w.CreateFormField(part.name)
		if err != nil {
			return vegeta.Target{}, err
		}
		if _, err := to.Write(part.content); err != nil {
			return vegeta.Target{}, err
		}
	}
	if err := w.Close(); err != nil {
		return vegeta.Target{}, err
	}
	return post(runsURL, w.FormDataContentType(), body.Bytes()), nil
}

func (m maker) stream(p program, input []byte) (vegeta.Target, error) {
	t, err := m.multipart(p, input)
	if err == nil {
		t.Header.Set("Accept", "application/x-ndjson")
	}
	return t, err
}

func (m maker) inline(p program, input []byte) (vegeta.Target, error) {
	doc, err := m.document(p, input)
	if err != nil {
		return vegeta.Target{}, err
	}
	doc["program"].(map[string]any)["files"] = []any{inlineFile("main.mjs", []byte(p.source))}
	doc["input"].(map[string]any)["files"] = []any{inlineFile("data.txt", input)}
	text, err := json.Marshal(doc)
	return post(runsURL, "application/json", text), err
}

func inlineFile(path string, content []byte) map[string]any {
	return map[string]any{"path": path, "content": map[string]any{"encoding": "base64", "data": base64.StdEncoding.EncodeToString(content)}}
}

func (m maker) tar(p program, input []byte) (vegeta.Target, error) {
	doc, err := m.document(p, input)
	if err != nil {
		return vegeta.Target{}, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return vegeta.Target{}, err
	}
	body, err := archive("request.json", text, "program/main.mjs", []byte(p.source), "input/data.txt", input)
	return post(runsURL, "application/x-tar", body), err
}

// archive is a tar of names and contents, one after the other.
func archive(pairs ...any) ([]byte, error) {
	var body bytes.Buffer
	w := tar.NewWriter(&body)
	for i := 0; i < len(pairs); i += 2 {
		content := pairs[i+1].([]byte)
		if err := w.WriteHeader(&tar.Header{Name: pairs[i].(string), Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return body.Bytes(), err
}

func (m maker) snapshot(content []byte) vegeta.Target {
	body, err := archive("data.txt", content)
	if err != nil {
		panic(fmt.Sprintf("load: bug: %v", err))
	}
	return post("http://confined/v1/snapshots", "application/x-tar", body)
}

// invalid can be read and is wrong: its digests are none of its files'.
func (m maker) invalid() vegeta.Target {
	text := fmt.Sprintf(`{"runtime":%q,"profile":%q,"program":{"digest":%q,"entry":"main.mjs","files":[]},"input":{"digest":%q,"files":[]},`+
		`"timeoutMs":1,"maxOutputBytes":0,"cpuSeconds":1,"maxDescriptors":64}`, m.runtime, m.profile, zeroDigest, zeroDigest)
	return post(invalidURL, "application/json", []byte(text))
}

var zeroDigest = "sha256:" + strings.Repeat("0", 64)
