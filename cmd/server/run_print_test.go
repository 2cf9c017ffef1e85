package main

import (
	"bytes"
	osexec "os/exec"
	"testing"
)

// TestShellWord has sh read each word back.
func TestShellWord(t *testing.T) {
	for _, word := range []string{
		"plain", "/a/b-c_d.e@f+g=h:i,j%k", "two words", "it's", `a"b\c`, "$HOME `id` $(id)", "~", "#x", "*?[a]", "a;b&c|d>e<f", "line\nbreak", "tab\t", "ü", "-n", "!x", "{a,b}",
	} {
		out, err := osexec.Command("sh", "-c", "printf %s "+shellWord(word)).CombinedOutput()
		if err != nil || string(out) != word {
			t.Errorf("%q is written %s, which sh reads as %q (%v)", word, shellWord(word), out, err)
		}
	}
}

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
