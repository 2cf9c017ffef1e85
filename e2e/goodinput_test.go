package e2e

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// usedID is the id of a run that was. A request that carries it is judged whole
// before it is refused for it: that is how these tests see, without a run, that
// nothing else was wrong.
const usedID = "used"

// mustAccept fails unless nothing but its id is wrong with a request.
func mustAccept(t *testing.T, d *daemon, r *http.Request) {
	t.Helper()
	if p := d.ask(t, r).problem(t); p.Status != 409 || p.Code != "run-id-used" || p.RunID != usedID {
		t.Errorf("%d %s, want 409 run-id-used: %s %v", p.Status, p.Code, p.Detail, p.Errors)
	}
}

// TestGoodInput: what is just within the rules is accepted, in every way that a
// client may write it. It is the control of TestBadInput, in the same terms.
func TestGoodInput(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := goodRun(t, d)
	r.id = usedID
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	before := d.traces(t)
	for _, row := range append(goodDocuments(), goodForms()...) {
		t.Run(row.name, func(t *testing.T) {
			change := row.change
			row.change = func(doc map[string]any) {
				doc["id"] = usedID
				if change != nil {
					change(doc)
				}
			}
			mustAccept(t, d, row.request(t, d))
		})
	}
	d.mustLeaveNothing(t, before)
}

// goodDocuments: values at their bounds, and other ways to write the same.
func goodDocuments() []bad {
	long := strings.Repeat("é", 2048)
	rows := []bad{
		{name: "no arguments", change: without("/program/args")},
		{name: "64 arguments", change: set("/program/args", make([]string, 64))},
		{name: "the longest argument", change: set("/program/args", []string{long})},
		{name: "white space", rewrite: func(doc string) string { return " \t\r\n" + strings.ReplaceAll(doc, `":`, "\" :\n ") }},
		{name: "escaped names and letters", rewrite: func(doc string) string {
			return strings.NewReplacer(`"timeoutMs"`, `"timeout\u004ds"`, `"one"`, `"\ud83d\ude00\/\b\f\n\r\t"`).Replace(doc)
		}},
	}
	for field, values := range map[string][]int{"timeoutMs": {1, 600_000}, "maxOutputBytes": {0, 16 << 20}, "cpuSeconds": {1, 600}, "maxDescriptors": {32}} {
		for _, v := range values {
			rows = append(rows, bad{name: fmt.Sprint(field, " ", v), change: set("/"+field, v)})
		}
	}
	return rows
}

// filesAre makes these the program and the input of a row, entry the entry.
func filesAre(entry string, program, input files) (func(map[string]any), func([]file) []file) {
	change := func(doc map[string]any) {
		doc["program"] = map[string]any{"digest": program.digest(), "entry": entry}
		doc["input"] = map[string]any{"digest": input.digest()}
	}
	reorder := func(parts []file) []file {
		return append(parts[:1], runRequest{program: program, input: input}.files()...)
	}
	return change, reorder
}

// goodForms: trees at their bounds, and other ways to send the same.
func goodForms() []bad {
	const second = "\r\nContent-Disposition: form-data; name=\"program/main.mjs\"\r\n"
	rows := []bad{
		{name: "the files in another order", reorder: func(p []file) []file { return append([]file{p[0], p[3], p[2]}, p[1]) }},
		{name: "file names and types", body: func(b string) string {
			return strings.Replace(b, second, "\r\ncontent-disposition: form-data; filename=\"../../etc/passwd\"; name=\"program/main.mjs\"\r\nContent-Type: text/javascript; charset=x\r\nX-More: 1\r\n", 1)
		}},
		{name: "a preamble and an epilogue", body: func(b string) string { return "before\r\n" + b + "after\r\n--" + bound + "--\r\n" }},
		{name: "a type in other letters", head: func(h http.Header) { h.Set("Content-Type", `Multipart/Form-Data; charset=utf-8; Boundary="`+bound+`"`) }},
	}
	for _, accept := range []string{"*/*", "application/json", "application/*;q=0.1, text/html", "text/html, */*;q=0.8", "application/json; charset=utf-8"} {
		rows = append(rows, bad{name: "Accept " + accept, head: func(h http.Header) { h.Set("Accept", accept) }})
	}
	add := func(name, entry string, program, input files) {
		row := bad{name: name}
		row.change, row.reorder = filesAre(entry, program, input)
		rows = append(rows, row)
	}
	for _, ending := range []string{"mjs", "cjs", "js", "mts", "cts", "ts"} {
		add("an entry that ends in ."+ending, "a."+ending, files{"a." + ending: ""}, nil)
	}
	longest := strings.Repeat("n", 252) + ".mjs"
	deepest := strings.Repeat("d/", 15) + "f.js"
	add("the longest path", longest, files{longest: ""}, files{longest: ""})
	add("the deepest path", deepest, files{deepest: ""}, files{deepest: ""})
	add("every character of a path", "Az09._-@+/..a/-.mjs", files{"Az09._-@+/..a/-.mjs": "", ".hidden": "", "...": ""}, nil)
	add("one name in both trees, in two cases", "A.mjs", files{"A.mjs": ""}, files{"a.mjs": ""})
	many := files{}
	for i := range 10_000 {
		many[fmt.Sprintf("d%d/f%d", i%7, i)] = ""
	}
	add("10,000 files", "a.mjs", files{"a.mjs": ""}, many)
	return rows
}

// TestUnknownLength: a body that comes in chunks is a body.
func TestUnknownLength(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := goodRun(t, d)
	r.args = nil
	contentType, body := form(t, r.parts(t))
	request := d.newRequest(t, http.MethodPost, "/v1/runs", io.MultiReader(strings.NewReader(string(body[:100])), strings.NewReader(string(body[100:]))))
	request.Header.Set("Content-Type", contentType)
	got := d.ask(t, request).result(t)
	r.args = []string{} // what a result says of arguments that were left out
	d.mustBeRight(t, r, got)
}

// TestBadSnapshots: POST /v1/snapshots judges paths and forms as a run does.
func TestBadSnapshots(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for _, row := range []struct {
		body   string
		status int
		faults string
	}{
		{rawForm([]file{{"a", ""}, {"../b", ""}, {"", ""}}), 422, "bad-path /files/..~1b bad-path /files/"},
		{rawForm([]file{{"a", ""}, {"a", ""}, {"A", ""}, {"a/b", ""}}), 422, "duplicate-path /files/a path-clash /files/A path-clash /files/a~1b"},
		{rawForm([]file{{"a", ""}})[:60], 400, ""},
		{"", 400, ""},
		{strings.Replace(rawForm([]file{{"a", ""}}), "name=", "title=", 1), 400, ""},
	} {
		r := d.newRequest(t, http.MethodPost, "/v1/snapshots", strings.NewReader(row.body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+bound)
		p := d.ask(t, r).problem(t)
		var got []string
		for _, f := range p.Errors {
			got = append(got, f.Code+" "+f.Pointer)
		}
		if p.Status != row.status || strings.Join(got, " ") != row.faults {
			t.Errorf("%d %q, want %d %q", p.Status, got, row.status, row.faults)
		}
	}
	r := d.newRequest(t, http.MethodPost, "/v1/snapshots", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "text/plain")
	if p := d.ask(t, r).problem(t); p.Status != 415 {
		t.Errorf("%+v", p)
	}
}

// TestDescriptorsAndWatches: epoll watches are counted for each user, and an
// ordinary daemon shares its user with its programs. It refuses descriptors
// with which all slots together could make more than half of them; under root
// each slot has a user of its own.
func TestDescriptorsAndWatches(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--max-retained=64", "--workers=1"))
	all, err := os.ReadFile("/proc/sys/fs/epoll/max_user_watches")
	if err != nil {
		t.Fatal(err)
	}
	watches, err := strconv.ParseFloat(strings.TrimSpace(string(all)), 64)
	if err != nil {
		t.Fatal(err)
	}
	most := min(4096, 2*int64(math.Sqrt(watches/2/64)))
	if os.Geteuid() == 0 {
		most = 4096
	}
	r := goodRun(t, d)
	r.maxDescriptors = most
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	r.maxDescriptors = most + 2
	p := d.post(t, r).problem(t)
	if p.Status != 422 || len(p.Errors) != 1 || p.Errors[0].Code != "out-of-range" || p.Errors[0].Pointer != "/maxDescriptors" {
		t.Errorf("%d descriptors: %+v", r.maxDescriptors, p)
	}
}
