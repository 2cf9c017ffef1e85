package exec

import (
	"testing"

	"confined/internal/pins"
)

// TestContentIsAllButTheID: every field of a request moves its content, and its
// id does not.
func TestContentIsAllButTheID(t *testing.T) {
	files := map[string]string{"main.mjs": "1\n", "other.mjs": "2\n"}
	content := func(change func(*Spec)) pins.Digest {
		s := goodSpec(t, files)
		s.Args = []string{"a", "b"}
		change(&s)
		r, faults := NewRequest(s, MaxDescriptors)
		if faults != nil {
			t.Fatal(faults)
		}
		return r.Content()
	}
	plain := content(func(*Spec) {})
	if again := content(func(s *Spec) { s.RunID = "another" }); again != plain {
		t.Errorf("the id moved it from %s to %s", plain, again)
	}
	seen := map[pins.Digest]string{plain: "nothing"}
	for name, change := range map[string]func(*Spec){
		"runtime": func(s *Spec) { s.Runtime = s.ProgramDigest },
		"profile": func(s *Spec) { s.Profile = s.ProgramDigest },
		"program": func(s *Spec) {
			s.Program = snapshotOf(t, map[string]string{"main.mjs": "3\n"})
			s.ProgramDigest = s.Program.Digest()
		},
		"entry":       func(s *Spec) { s.Entry = "other.mjs" },
		"input":       func(s *Spec) { s.Input = s.Program; s.InputDigest = s.ProgramDigest },
		"no args":     func(s *Spec) { s.Args = nil },
		"empty arg":   func(s *Spec) { s.Args = []string{""} },
		"one arg":     func(s *Spec) { s.Args = []string{"ab"} },
		"args":        func(s *Spec) { s.Args = []string{"b", "a"} },
		"timeout":     func(s *Spec) { s.TimeoutMs++ },
		"output":      func(s *Spec) { s.MaxOutputBytes++ },
		"cpu":         func(s *Spec) { s.CPUSeconds++ },
		"descriptors": func(s *Spec) { s.MaxDescriptors++ },
	} {
		got := content(change)
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the content of %s", name, other)
		}
		seen[got] = name
	}
}
