package exec

import (
	"slices"
	"strings"
	"testing"

	"confined/internal/pins"
)

func snapshotOf(t testing.TB, files map[string]string) pins.Snapshot {
	t.Helper()
	var b pins.Builder
	for path, content := range files {
		if err := b.Add(path, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	s, faults := b.Snapshot()
	if faults != nil {
		t.Fatal(faults)
	}
	return s
}

// unpinned is what goodSpec pins in place of a runtime and a profile.
var unpinned = pins.Digest("sha256:" + strings.Repeat("0", 64))

func goodSpec(t testing.TB, files map[string]string) Spec {
	t.Helper()
	program, input := snapshotOf(t, files), snapshotOf(t, map[string]string{"in.txt": "input\n"})
	return Spec{
		RunID: "run-1", Runtime: unpinned, Profile: unpinned,
		Program: program, ProgramDigest: program.Digest(), Entry: "main.mjs",
		Input: input, InputDigest: input.Digest(),
		Bounds: Bounds{TimeoutMs: 20_000, MaxOutputBytes: 1 << 20, CPUSeconds: 20, MaxDescriptors: 64},
	}
}

func TestNewRequestFindsEveryFault(t *testing.T) {
	rows := []struct {
		name   string
		change func(*Spec)
		want   []string // code and pointer
	}{
		{"good", func(*Spec) {}, nil},
		{"id empty", func(s *Spec) { s.RunID = "" }, []string{"out-of-range /id"}},
		{"id with slash", func(s *Spec) { s.RunID = "a/b" }, []string{"out-of-range /id"}},
		{"id long", func(s *Spec) { s.RunID = strings.Repeat("a", 65) }, []string{"out-of-range /id"}},
		{"runtime form", func(s *Spec) { s.Runtime = "sha256:AB" }, []string{"digest-form /runtime"}},
		{"profile form", func(s *Spec) { s.Profile = "" }, []string{"digest-form /profile"}},
		{"program digest", func(s *Spec) { s.ProgramDigest = s.InputDigest }, []string{"digest-mismatch /program/digest"}},
		{"input digest", func(s *Spec) { s.InputDigest = s.ProgramDigest }, []string{"digest-mismatch /input/digest"}},
		{"entry missing", func(s *Spec) { s.Entry = "other.mjs" }, []string{"entry-missing /program/entry"}},
		{"entry type", func(s *Spec) { s.Entry = "data.txt" }, []string{"entry-type /program/entry"}},
		{"arg NUL", func(s *Spec) { s.Args = []string{"ok", "a\x00"} }, []string{"bad-argument /program/args/1"}},
		{"arg long", func(s *Spec) { s.Args = []string{strings.Repeat("é", 2049)} }, []string{"bad-argument /program/args/0"}},
		{"args many", func(s *Spec) { s.Args = make([]string, 65) }, []string{"out-of-range /program/args"}},
		{"timeout low", func(s *Spec) { s.TimeoutMs = 0 }, []string{"out-of-range /timeoutMs"}},
		{"timeout high", func(s *Spec) { s.TimeoutMs = 600_001 }, []string{"out-of-range /timeoutMs"}},
		{"output low", func(s *Spec) { s.MaxOutputBytes = -1 }, []string{"out-of-range /maxOutputBytes"}},
		{"output high", func(s *Spec) { s.MaxOutputBytes = 16<<20 + 1 }, []string{"out-of-range /maxOutputBytes"}},
		{"cpu", func(s *Spec) { s.CPUSeconds = 601 }, []string{"out-of-range /cpuSeconds"}},
		{"descriptors low", func(s *Spec) { s.MaxDescriptors = 31 }, []string{"out-of-range /maxDescriptors"}},
		{"descriptors high", func(s *Spec) { s.MaxDescriptors = 4097 }, []string{"out-of-range /maxDescriptors"}},
		{"descriptors above the host's bound", func(s *Spec) { s.MaxDescriptors = 2001 }, []string{"out-of-range /maxDescriptors"}},
		{"descriptors at the host's bound", func(s *Spec) { s.MaxDescriptors = 2000 }, nil},
		{"all at once", func(s *Spec) { s.RunID, s.Runtime, s.TimeoutMs, s.CPUSeconds = "", "x", 0, 0 },
			[]string{"out-of-range /id", "digest-form /runtime", "out-of-range /timeoutMs", "out-of-range /cpuSeconds"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			spec := goodSpec(t, map[string]string{"main.mjs": "", "data.txt": ""})
			row.change(&spec)
			req, faults := NewRequest(spec, 2000)
			var got []string
			for _, f := range faults {
				got = append(got, string(f.Code)+" "+f.Pointer)
			}
			if !slices.Equal(got, row.want) {
				t.Fatalf("got %q, want %q", got, row.want)
			}
			if len(faults) > 0 && req.RunID() != "" {
				t.Fatal("a request came with its faults")
			}
		})
	}
}

// TestRequestIsFrozen: what the caller does to its slices afterwards is not seen.
func TestRequestIsFrozen(t *testing.T) {
	spec := goodSpec(t, map[string]string{"main.mjs": ""})
	spec.Args = []string{"before"}
	req, faults := NewRequest(spec, 2000)
	if faults != nil {
		t.Fatal(faults)
	}
	spec.Args[0] = "after"
	if got := req.spec.Args[0]; got != "before" {
		t.Fatalf("argument became %q", got)
	}
}
