package httpapi

import (
	"strings"
	"testing"
)

func TestAdviseName(t *testing.T) {
	for _, row := range []struct{ name, filename, want string }{
		{"program", "main.mjs", "as in program/main.mjs (curl: -F program/main.mjs=@main.mjs)"},
		{"input/", "a b", "as in input/main.mjs ("},
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

// TestNotFoundSaysThePath: as it was sent, so that it holds nothing strange.
func TestNotFoundSaysThePath(t *testing.T) {
	p := problemOf(t, newRig(t, nil).get(t, "/%1b%5B2J"))
	if p.Code != ProblemCodeNotFound || !strings.HasPrefix(p.Detail, "there is nothing at /%1b%5B2J; there is ") {
		t.Errorf("%+v", p)
	}
}
