package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
)

// answer is one whole HTTP response.
type answer struct {
	method, path string
	status       int
	header       http.Header
	body         []byte
}

// newRequest is a request to this daemon, which ends when the test does.
func (d *daemon) newRequest(t testing.TB, method, path string, body io.Reader) *http.Request {
	t.Helper()
	return d.newRequestIn(t, t.Context(), method, path, body)
}

func (d *daemon) newRequestIn(t testing.TB, ctx context.Context, method, path string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://confined"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exchange sends r and reads the whole answer. It may be called from any
// goroutine; what the contract has against the answer is told at the next ask.
func (d *daemon) exchange(r *http.Request) (answer, error) {
	response, err := d.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{r.Method, r.URL.Path, response.StatusCode, response.Header, body}, err
}

// ask is exchange, which must end in an answer that fits the contract.
func (d *daemon) ask(t testing.TB, r *http.Request) answer {
	t.Helper()
	a, err := d.exchange(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	d.mustFitContract(t)
	return a
}

// get is the checked answer to a GET.
func (d *daemon) get(t testing.TB, path string) answer {
	t.Helper()
	return d.ask(t, d.newRequest(t, http.MethodGet, path, nil))
}

// file is one entry of a snapshot.
type file struct{ path, content string }

// files is a snapshot as a test writes it: paths and contents.
type files map[string]string

// list is the files in bytewise order of their paths.
func (f files) list() []file {
	out := make([]file, 0, len(f))
	for path, content := range f {
		out = append(out, file{path, content})
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return out
}

// digest is the identity of a snapshot, from the words of the design and not
// from the product: a first line with the protocol, then a line for each file.
func (f files) digest() string {
	protocol, lines := "sf-confined-snapshot/1", strings.Builder{}
	for _, one := range f.list() {
		if strings.ContainsAny(one.path, "@+") {
			protocol = "sf-confined-snapshot/2"
		}
		sum := sha256.Sum256([]byte(one.content))
		fmt.Fprintf(&lines, "%s\t%d\t%s\n", one.path, len(one.content), hex.EncodeToString(sum[:]))
	}
	return digestOf([]byte(protocol + "\n" + lines.String()))
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// runRequest is what a test asks for: a program, an input and the bounds.
// Digests that are left empty are filled in rightly.
type runRequest struct {
	id                         string
	program, input             files
	entry                      string
	args                       []string
	timeoutMs, maxOutputBytes  int64
	cpuSeconds, maxDescriptors int64
	runtime, profile           string
	programDigest, inputDigest string
}

// run is a request for one program with roomy bounds.
func (d *daemon) run(t testing.TB, program files, entry string, args ...string) runRequest {
	t.Helper()
	d.pins(t)
	return runRequest{
		program: program, entry: entry, args: args, timeoutMs: 60_000, maxOutputBytes: 8 << 20,
		cpuSeconds: 60, maxDescriptors: 512, runtime: d.runtime, profile: d.profile,
	}
}

// script is run for a program of one ES module.
func (d *daemon) script(t testing.TB, source string, args ...string) runRequest {
	t.Helper()
	return d.run(t, files{"main.mjs": source}, "main.mjs", args...)
}

// pins fetches the digests of runtime and profile, once.
func (d *daemon) pins(t testing.TB) (runtime, profile string) {
	t.Helper()
	d.pinned.Do(func() {
		d.runtime = decode[struct{ Digest string }](t, d.get(t, "/v1/runtime").body).Digest
		d.profile = decode[struct{ Digest string }](t, d.get(t, "/v1/profile").body).Digest
	})
	return d.runtime, d.profile
}

// decode reads JSON into a T and ignores what T does not have.
func decode[T any](t testing.TB, body []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %.500s", err, body)
	}
	return v
}

// document is the part `request` of r, as a tree that a test may still change.
func (r runRequest) document() map[string]any {
	program := map[string]any{"digest": orElse(r.programDigest, r.program.digest()), "entry": r.entry}
	if r.args != nil {
		program["args"] = r.args
	}
	doc := map[string]any{
		"runtime": r.runtime, "profile": r.profile, "program": program,
		"input":     map[string]any{"digest": orElse(r.inputDigest, r.input.digest())},
		"timeoutMs": r.timeoutMs, "maxOutputBytes": r.maxOutputBytes,
		"cpuSeconds": r.cpuSeconds, "maxDescriptors": r.maxDescriptors,
	}
	if r.id != "" {
		doc["id"] = r.id
	}
	return doc
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// text is v as JSON.
func text(t testing.TB, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// parts is the body of r: the document first, then program and input.
func (r runRequest) parts(t testing.TB) []file {
	t.Helper()
	return append([]file{{"request", text(t, r.document())}}, r.files()...)
}

// files is the parts of program and input.
func (r runRequest) files() []file {
	var out []file
	for _, f := range r.program.list() {
		out = append(out, file{"program/" + f.path, f.content})
	}
	for _, f := range r.input.list() {
		out = append(out, file{"input/" + f.path, f.content})
	}
	return out
}

// form is a multipart/form-data body of these parts, in this order.
func form(t testing.TB, parts []file) (contentType string, body []byte) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q", p.path)}}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(part, p.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), buf.Bytes()
}

// newRun is the HTTP request for r, which ends with ctx.
func (d *daemon) newRun(t testing.TB, ctx context.Context, r runRequest) *http.Request {
	t.Helper()
	contentType, body := form(t, r.parts(t))
	request := d.newRequestIn(t, ctx, http.MethodPost, "/v1/runs", bytes.NewReader(body))
	request.Header.Set("Content-Type", contentType)
	return request
}

// post sends r and returns its checked answer, whatever it is.
func (d *daemon) post(t testing.TB, r runRequest) answer {
	t.Helper()
	return d.ask(t, d.newRun(t, t.Context(), r))
}

// postRun sends r, which must be answered with a result.
func (d *daemon) postRun(t testing.TB, r runRequest) (result, []byte, http.Header) {
	t.Helper()
	a := d.post(t, r)
	return a.result(t), a.body, a.header
}

// pending is a run on its way.
type pending struct {
	done chan struct{}
	a    answer
	err  error
}

// launch sends r without waiting for the answer. Cancelling ctx drops the connection.
func (d *daemon) launch(t testing.TB, ctx context.Context, r runRequest) *pending {
	t.Helper()
	request, p := d.newRun(t, ctx, r), &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.a, p.err = d.exchange(request)
	}()
	return p
}

// over says whether the run was answered.
func (p *pending) over() bool { return isClosed(p.done) }

// answer waits for it, which must fit the contract.
func (p *pending) answer(t testing.TB, d *daemon) answer {
	t.Helper()
	poll(t, p.over, func() string { return "a run is not answered" })
	if p.err != nil {
		t.Fatal(p.err)
	}
	d.mustFitContract(t)
	return p.a
}

// octets is a program's output as results hold it.
type octets struct{ Encoding, Data string }

// plain is the bytes themselves.
func (o octets) plain(t testing.TB) string {
	t.Helper()
	switch o.Encoding {
	case "utf-8":
		return o.Data
	case "base64":
		b, err := base64.StdEncoding.DecodeString(o.Data)
		if err != nil {
			t.Fatalf("output: %v", err)
		}
		return string(b)
	}
	t.Fatalf("output has the encoding %q", o.Encoding)
	return ""
}
