package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAdviseName(t *testing.T) {
	for _, row := range []struct{ name, filename, want string }{
		{"program", "main.mjs", "as in program/main.mjs (curl: -F program/main.mjs=@main.mjs)"},
		{"input/", "a b", "as in input/data.csv ("},
		{"Program/main.mjs", "", "name this one program/main.mjs"},
		{"/program/main.mjs", "", "name this one program/main.mjs"},
		{"main.mjs", "main.mjs", "so this one program/main.mjs or input/main.mjs (curl: -F program/main.mjs=@main.mjs)"},
		{"file", "program/lib/x.mjs", "make program/lib/x.mjs the part's own name"},
		{"file", "program/../x", "so this one program/file"},
		{"a b", "", "input/<path>"},
		{"", "", "input/<path>"},
		{"..", "..", "input/<path>"},
		{"program/\x1b[2J", "program/\x1b", "input/<path>"},
	} {
		if got := adviseName(row.name, row.filename); !strings.HasSuffix(got, row.want) && !strings.Contains(got, row.want) {
			t.Errorf("%q, %q: %s", row.name, row.filename, got)
		}
	}
}

func TestAdviseDocument(t *testing.T) {
	for text, want := range map[string]string{
		"request.json": "curl: -F request=@request.json", "dir/a.json\n": "curl: -F request=@dir/a.json", " \n": "it is empty",
		`{"a":1,}`: "", "{.json": "", "a": "", strings.Repeat("a", 300) + ".json": "", "a\nb.json": "", "\x1b.json": "",
		"/home/me/a.json": "curl: -F request=@/home/me/a.json", "../a.json": "request=@../a.json",
	} {
		if got := adviseDocument([]byte(text)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%.20q: %s", text, got)
		}
	}
}

func TestAdviseMethod(t *testing.T) {
	for _, row := range []struct{ request, want string }{
		{"GET /v1/runs/x", "it has DELETE; a result goes only to whoever sent the run; GET /v1/runs lists the live ones"},
		{"POST /v1/runs/x", "it has DELETE"},
		{"PUT /v1/runs", "it has GET, HEAD, POST (curl -T sends PUT: add -X POST)"},
		{"GET /v1/snapshots", "it has POST (curl sends GET unless -F or --data-binary gives it a body)"},
	} {
		method, path, _ := strings.Cut(row.request, " ")
		p := problemOf(t, newRig(t, nil).do(t, httptest.NewRequest(method, path, nil)))
		if want := method + " is not a method of this path; " + row.want; p.Detail != want {
			t.Errorf("%s:\n got %s\nwant %s", row.request, p.Detail, want)
		}
	}
}

// TestNotFoundSaysThePath: as it was sent, so that it holds nothing strange.
func TestNotFoundSaysThePath(t *testing.T) {
	p := problemOf(t, newRig(t, nil).get(t, "/%1b%5B2J"))
	if p.Code != ProblemCodeNotFound || !strings.HasPrefix(p.Detail, "there is nothing at /%1b%5B2J; there is ") {
		t.Errorf("%+v", p)
	}
}
