package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDefaultEntry(t *testing.T) {
	for files, want := range map[string]string{
		"main.mjs":                     "main.mjs",
		"main.ts lib/main.mjs":         "main.ts",
		"main.cjs index.js":            "main.cjs",
		"index.mts other.mjs":          "index.mts",
		"main.mjs main.ts":             "! main.mjs and main.ts",
		"index.js index.cts index.mjs": "! index.mjs and index.js and index.cts",
		"main.mjs main.js index.mjs":   "! main.mjs and main.js",
		"lib/main.mjs":                 "! no main.*",
		"Main.mjs main.json":           "! mjs, cjs, js, mts, cts, ts",
		"":                             "! --entry",
	} {
		has := func(path string) bool { return slices.Contains(strings.Fields(files), path) }
		got, err := defaultEntry(has)
		if problem, wrong := strings.CutPrefix(want, "! "); wrong {
			if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), "--entry") {
				t.Errorf("%q: %q, %v; want an error with %q", files, got, err, problem)
			}
		} else if got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", files, got, err, want)
		}
	}
}
