package main

import (
	"bytes"
	"testing"
)

func TestFormFile(t *testing.T) {
	for path, want := range map[string]string{
		"/a/main.mjs":      "@/a/main.mjs",
		"/a b/c":           "@/a b/c",
		"/a,b;type=x/c":    `@"/a,b;type=x/c"`,
		`/a"b\c`:           `@"/a\"b\\c"`,
		"/trailing space ": `@"/trailing space "`,
	} {
		if got := formFile(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

func TestPrintRequestRefuses(t *testing.T) {
	var out bytes.Buffer
	o := runOptions{program: fromStdin}
	job, err := o.job(surroundings{stdin: bytes.NewBufferString("1")})
	if err == nil {
		err = printRequest(o, job, surroundings{stdout: &out})
	}
	if err == nil || out.Len() > 0 {
		t.Errorf("a program from stdin: %v, %q", err, &out)
	}
}
