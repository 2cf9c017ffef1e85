package pins

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestCheckPath(t *testing.T) {
	segments := func(n int) string { return strings.Repeat("a/", n-1) + "a" }
	good := []string{
		"a", "A", "0", ".a", "a.", "...", "-", "_", "@", "+", "main.mjs", "node_modules/@a/b+c/index.js", "..a/b..",
		strings.Repeat("a", MaxPathLength), segments(MaxPathSegments),
	}
	for _, p := range good {
		if err := CheckPath(p); err != nil {
			t.Errorf("CheckPath(%q) = %v", p, err)
		}
	}
	bad := map[string]string{ // what the message must say
		"": "empty", "/": "segment 1 is empty", "/a": "segment 1 is empty", "a/": "segment 2 is empty", "a//b": "segment 2 is empty",
		".": `segment 1 is "."`, "..": `segment 1 is ".."`, "a/./b": `segment 2 is "."`, "a/../b": `segment 2 is ".."`, "a/..": `segment 2 is ".."`,
		"a b": `" " at byte 1`, "a\tb": `"\t" at byte 1`, "a\nb": `"\n"`, "a\x00": `"\x00"`, "a\\b": `"\\"`, "a:b": `":"`, "ä": `"ä" at byte 0`,
		"a\xff": `"\xff" at byte 1`, "a\x7f": `"\x7f"`, "a,b": `","`, "\u212a": "\u212a", // the Kelvin sign folds to k in Unicode
		strings.Repeat("a", MaxPathLength+1): "257 characters", segments(MaxPathSegments + 1): "17 segments",
	}
	for p, want := range bad {
		if err := CheckPath(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckPath(%.40q) = %v, want it to say %s", p, err, want)
		}
	}
}

func pathSeeds() []string {
	return []string{"", "a", "a/b", "../a", "a//b", "/a", "a/", "node_modules/@a/b+c/index.js", "a\x00b", "ä", strings.Repeat("a/", 16) + "a", strings.Repeat("x", 257)}
}

func TestPathSeeds(t *testing.T) {
	if len(pathSeeds()) == 0 {
		t.Fatal("FuzzCheckPath has no seeds")
	}
}

// FuzzCheckPath compares the rules with a second statement of them, as a regular expression.
func FuzzCheckPath(f *testing.F) {
	for _, p := range pathSeeds() {
		f.Add(p)
	}
	whole := regexp.MustCompile(`\A[A-Za-z0-9._@+-]+(/[A-Za-z0-9._@+-]+){0,15}\z`)
	f.Fuzz(func(t *testing.T, p string) {
		segments := strings.Split(p, "/")
		want := whole.MatchString(p) && len(p) <= 256 && !slices.Contains(segments, ".") && !slices.Contains(segments, "..")
		if err := CheckPath(p); (err == nil) != want {
			t.Errorf("CheckPath(%q) = %v, want it accepted: %v", p, err, want)
		}
	})
}
