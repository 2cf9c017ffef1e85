package e2e

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bad is one row: what is wrong with a request to POST /v1/runs, and the
// problem it must get. Exactly one of the first fields says how the good
// request of goodRun is spoilt.
type bad struct {
	name     string
	change   func(doc map[string]any)  // the document, as a tree
	rewrite  func(doc string) string   // the document, as text
	reorder  func(parts []file) []file // the parts
	body     func(body string) string  // the body as a whole; its boundary is bound
	head     func(h http.Header)       // the head of the request
	status   int                       // 422 and invalid-request when 0
	code     string
	faults   []string // exactly these, as "code pointer"
	mentions []string // each of these in the detail or that of a fault
}

// bound is the boundary of the bodies that rows change as a whole.
const bound = "bound"

// goodRun is a request with nothing wrong in it.
func goodRun(t testing.TB, d *daemon) runRequest {
	t.Helper()
	r := d.script(t, "console.log('hi')\n", "one", "two")
	r.input = files{"data.txt": "1\n", "more/data.txt": "22\n"}
	return r
}

// request makes the HTTP request of a row.
func (b bad) request(t *testing.T, d *daemon) *http.Request {
	t.Helper()
	good := goodRun(t, d)
	doc := good.document()
	if b.change != nil {
		b.change(doc)
	}
	parts := good.parts(t)
	parts[0].content = text(t, doc)
	if b.rewrite != nil {
		parts[0].content = b.rewrite(parts[0].content)
	}
	if b.reorder != nil {
		parts = b.reorder(parts)
	}
	body := rawForm(parts)
	if b.body != nil {
		body = b.body(body)
	}
	r := d.newRequest(t, http.MethodPost, "/v1/runs", strings.NewReader(body))
	r.Header.Set("Content-Type", "multipart/form-data; boundary="+bound)
	if b.head != nil {
		b.head(r.Header)
	}
	return r
}

// rawForm is a form as text. Names are written as they are.
func rawForm(parts []file) string {
	var out strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", bound, p.path, p.content)
	}
	return out.String() + "--" + bound + "--\r\n"
}

func (b bad) check(t *testing.T, d *daemon) {
	a := d.ask(t, b.request(t, d))
	p := a.problem(t)
	status, code := b.status, b.code
	if status == 0 {
		status, code = 422, "invalid-request"
	}
	if p.Status != status || p.Code != code {
		t.Errorf("answered %d %s, want %d %s: %s", p.Status, p.Code, status, code, p.Detail)
	}
	var got []string
	all := p.Detail
	for _, f := range p.Errors {
		got = append(got, f.Code+" "+f.Pointer)
		all += "\n" + f.Detail
	}
	want := slices.Clone(b.faults)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q", got, want)
	}
	for _, word := range b.mentions {
		if !strings.Contains(all, word) {
			t.Errorf("%q is not mentioned in: %s", word, all)
		}
	}
}

// TestBadInput: every kind of bad input gets its problem, with its code and its
// pointers, and leaves nothing behind.
func TestBadInput(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	mustRun(t, d)
	before := d.traces(t)
	rows := slices.Concat(badFields(), badValues(), badDocuments(), badPaths(), badTrees(), badForms(), badHeads(), manyFaults())
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { row.check(t, d) })
	}
	d.mustLeaveNothing(t, before)
	if n := d.metric(t, `confined_runs_total{reason="",status="observed"}`); n != 1 {
		t.Errorf("%v runs were observed, want the one that was good", n)
	}
	mustRun(t, d)
}

// mustRun fails unless the daemon runs a good program.
func mustRun(t testing.TB, d *daemon) {
	t.Helper()
	r := goodRun(t, d)
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	if o := d.outcome(t, got); o.stdout != "hi\n" || o.code != 0 {
		t.Errorf("a good program: %s", o)
	}
}

// traces are what requests could leave behind in a daemon and around it.
type traces struct {
	files                   []string // of root, state and the socket's folder
	goroutines, descriptors float64
}

func (d *daemon) traces(t testing.TB) traces {
	t.Helper()
	d.client.CloseIdleConnections()
	var out traces
	err := filepath.WalkDir(d.dir, func(path string, _ fs.DirEntry, err error) error {
		out.files = append(out.files, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out.goroutines, out.descriptors = d.metric(t, "go_goroutines"), d.metric(t, "process_open_fds")
	return out
}

// mustLeaveNothing fails unless the daemon gets back to what it was before.
func (d *daemon) mustLeaveNothing(t testing.TB, before traces) {
	t.Helper()
	var now traces
	poll(t, func() bool {
		now = d.traces(t)
		return slices.Equal(now.files, before.files) && now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	}, func() string { return fmt.Sprintf("something was left behind: %+v, before %+v", now, before) })
	if children := childrenOf(d.cmd.Process.Pid); len(children) > 0 {
		t.Errorf("processes are left: %v", children)
	}
}

// TestManyFaults: more than a problem can list are counted all the same.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	row := bad{reorder: func(parts []file) []file {
		for i := range 200 {
			parts = append(parts, file{fmt.Sprintf("input/bad name %d", i), ""})
		}
		return parts
	}}
	p := d.ask(t, row.request(t, d)).problem(t)
	if p.Status != 422 || len(p.Errors) != 64 || !strings.Contains(p.Detail, "faults") {
		t.Errorf("%d, %d faults listed: %s", p.Status, len(p.Errors), p.Detail)
	}
}

// TestTooLarge: what is too large is refused whole, as fast as it can be read,
// and the next request finds the memory free again.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--upload-memory=200MiB"))
	mustRun(t, d)
	before := d.traces(t)
	const most = 64 << 20
	big := strings.Repeat("0123456789abcdef", most/16)
	full := d.script(t, `import fs from 'node:fs'; console.log(fs.statSync('a').size + fs.statSync('b').size)`)
	full.input = files{"a": big[:most/2], "b": big[most/2:]} // the control: exactly 64 MiB
	got, _, _ := d.postRun(t, full)
	d.mustBeRight(t, full, got)
	if o := d.outcome(t, got); o.stdout != "67108864\n" {
		t.Errorf("64 MiB: %s", o)
	}
	full.input["c"] = "."
	p := d.post(t, full).problem(t)
	if p.Status != 422 || len(p.Errors) != 1 || p.Errors[0].Code != "snapshot-too-large" || p.Errors[0].Pointer != "/input/files/c" {
		t.Errorf("a byte more: %+v", p)
	}
	// No two snapshots are that large.
	whole := d.newRequest(t, http.MethodPost, "/v1/runs", io.MultiReader(strings.NewReader(big), strings.NewReader(big), strings.NewReader(big)))
	whole.ContentLength = 3 * most
	whole.Header.Set("Content-Type", "multipart/form-data; boundary="+bound)
	if p := d.ask(t, whole).problem(t); p.Status != 413 || p.Code != "too-large" {
		t.Errorf("192 MiB: %+v", p)
	}
	snapshot := d.newRequest(t, http.MethodPost, "/v1/snapshots", bytes.NewReader([]byte(rawForm([]file{{"a", big}, {"b", "."}}))))
	snapshot.Header.Set("Content-Type", "multipart/form-data; boundary="+bound)
	if p := d.ask(t, snapshot).problem(t); p.Status != 422 || len(p.Errors) != 1 || p.Errors[0].Pointer != "/files/b" {
		t.Errorf("POST /v1/snapshots, a byte more: %+v", p)
	}
	d.mustLeaveNothing(t, before)
}

// TestRunIDs: an id runs once in the life of a daemon; one that never started
// is free.
func TestRunIDs(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := goodRun(t, d)
	r.id = "Mine.1_2-3"
	wrong := r
	wrong.entry = "absent.mjs"
	if p := d.post(t, wrong).problem(t); p.Status != 422 {
		t.Errorf("%+v", p)
	}
	stale := r
	stale.runtime = "sha256:" + strings.Repeat("0", 64)
	if got, _, _ := d.postRun(t, stale); got.Status != "not-started" || got.Reason != "runtime-mismatch" || got.Namespace != nil || got.RunID != r.id {
		t.Errorf("%+v", got)
	}
	got, _, _ := d.postRun(t, r) // still free
	d.mustBeRight(t, r, got)
	p := d.post(t, r).problem(t)
	if p.Status != 409 || p.Code != "run-id-used" || p.RunID != r.id {
		t.Errorf("used again: %+v", p)
	}
	r.id = strings.Repeat("x", 64)
	got, _, _ = d.postRun(t, r)
	d.mustBeRight(t, r, got)
	r.id = ""
	first, _, _ := d.postRun(t, r)
	second, _, _ := d.postRun(t, r)
	if first.RunID == second.RunID || first.RunID[14] != '7' || first.RunID > second.RunID {
		t.Errorf("made ids are to be UUIDs of version 7: %s, %s", first.RunID, second.RunID)
	}
}
