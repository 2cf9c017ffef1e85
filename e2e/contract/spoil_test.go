package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// spoilt are all ways to spoil one field of text, and the text after each.
func spoilt(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	s := spoiler{t: t, out: map[string][]byte{}}
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatal(err)
	}
	s.walk("", s.root)
	return s.out
}

type spoiler struct {
	t    *testing.T
	root any
	out  map[string][]byte
}

// note keeps the whole document as it is now.
func (s *spoiler) note(name string) {
	b, err := json.Marshal(s.root)
	if err != nil {
		s.t.Fatal(err)
	}
	s.out[name] = b
}

func (s *spoiler) walk(at string, node any) {
	switch node := node.(type) {
	case map[string]any:
		node["unheardOf"] = 1
		s.note("a field more in " + at)
		delete(node, "unheardOf")
		for _, key := range slices.Collect(maps.Keys(node)) {
			value, here := node[key], at+"/"+key
			delete(node, key)
			s.note("without " + here)
			node[key+"X"] = value
			s.note("renamed " + here)
			delete(node, key+"X")
			s.replace(here, value, func(v any) { node[key] = v })
			s.walk(here, value)
		}
	case []any:
		for i, value := range node {
			here := fmt.Sprintf("%s/%d", at, i)
			s.replace(here, value, func(v any) { node[i] = v })
			s.walk(here, value)
		}
	}
}

// replace puts a value of every type in the place of one.
func (s *spoiler) replace(at string, value any, put func(any)) {
	for name, other := range map[string]any{"a number": -3.5, "a string": "no such word\x00", "a boolean": true, "an object": map[string]any{}, "an array": []any{nil}, "null": nil} {
		if _, same := value.(bool); same && name == "a boolean" || value == nil && name == "null" {
			continue
		}
		put(other)
		s.note(name + " at " + at)
	}
	put(value)
}
