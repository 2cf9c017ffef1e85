package confine

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"confined/internal/confine/sbpl"
	"confined/internal/pins"
)

// TestSeatbeltGolden shows the text of one run to whoever reviews a change. CONFINE_UPDATE_GOLDEN=1 writes it anew.
func TestSeatbeltGolden(t *testing.T) {
	golden := filepath.Join("testdata", "instance.sb")
	got, err := seatbeltText(macs()[1].job)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("CONFINE_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("the text is not testdata/instance.sb (%v); it is:\n%s", err, got)
	}
}

// TestSeatbeltTextIsSafe: what would open everything, or fail the profile as a whole, is nowhere in a text.
func TestSeatbeltTextIsSafe(t *testing.T) {
	for _, l := range macs() {
		text, err := seatbeltText(l.job)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, `(literal "/")`) || strings.Contains(text, `(subpath "/")`) {
			t.Errorf("%s: the root must be readable as a literal, and never as a subpath:\n%s", l.name, text)
		}
		if strings.ContainsAny(text, ";\t$") || strings.Contains(text, "(with ") || strings.Contains(text, "(import ") {
			t.Errorf("%s: a comment, a placeholder, a modifier or an import is left:\n%s", l.name, text)
		}
		p, err := sbpl.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Rules {
			if r.Action == sbpl.Allow && len(r.Filters) == 0 && r.String() != "(allow dynamic-code-generation)" {
				t.Errorf("%s: %s allows everything of its kind", l.name, r)
			}
		}
	}
}

// TestSeatbeltTextRefuses: a run that the profile would not be what it says for is refused by name, and a good one is not.
func TestSeatbeltTextRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(*Job)
		says string // empty: it is good
	}{
		"good":                     {func(*Job) {}, ""},
		"a path that needs quotes": {func(j *Job) { moveSlot(j, `/Users/ada/a "b" \c`) }, ""},
		"a newline":                {func(j *Job) { moveSlot(j, "/Users/ada\n/x") }, "printable"},
		"no ASCII":                 {func(j *Job) { moveSlot(j, "/Users/ad\u00e9/x") }, "printable"},
		"a relative path":          {func(j *Job) { moveSlot(j, "Users/ada") }, "absolute"},
		"not in one slot":          {func(j *Job) { j.Input.Path = "/Users/ada/input" }, "not in the slot"},
		"no Node in the closure":   {func(j *Job) { j.Runtime.Files = j.Runtime.Files[1:] }, "not a file of the runtime"},
		"an alias with a newline":  {func(j *Job) { j.Runtime.Aliases[0].Path = "/opt/a\nb" }, "printable"},
		"a slot in the system":     {func(j *Job) { moveSlot(j, "/System/Library/x") }, "would allow file-read-data of /System/Library/x/canary"},
		"a slot among libraries":   {func(j *Job) { moveSlot(j, "/usr/lib/x") }, "would allow file-read-data of /usr/lib/x/canary"},
		"a slot in the cryptex":    {func(j *Job) { moveSlot(j, "/System/Cryptexes/OS/x") }, "would allow file-read-data"},
		"a slot by another name":   {func(j *Job) { moveSlot(j, "/System/Volumes/Data/Users/ada/x") }, "no rule matches /System/Volumes/Data/Users/ada/x; cure: name the root without"},
		"Node in the program":      {func(j *Job) { moveNode(j, j.Program.Path+"/node") }, "lies among the files of the run"},
		"Node is the canary":       {func(j *Job) { moveNode(j, j.Canary.Path) }, "lies among the files of the run"},
		"a library in the home":    {func(j *Job) { addLibrary(j, j.Home+"/x.dylib") }, "lies among the files of the run"},
		"a link in the slot":       {func(j *Job) { j.Runtime.Aliases = []pins.Alias{{Path: j.Canary.Path}} }, "lies among the files of the run"},
		"a library is the slot":    {func(j *Job) { addLibrary(j, path.Dir(j.Home)) }, "would allow file-read-data of"},
		"a library is the root":    {func(j *Job) { addLibrary(j, path.Dir(path.Dir(j.Home))) }, "would allow file-read-data of"},
		"a library twice":          {func(j *Job) { addLibrary(j, j.Runtime.Files[1].Path) }, "in the runtime's closure twice"},
		"Node twice":               {func(j *Job) { addLibrary(j, j.Runtime.Node) }, "in the runtime's closure twice"},
		"a link twice":             {func(j *Job) { j.Runtime.Aliases = append(j.Runtime.Aliases, j.Runtime.Aliases[0]) }, "in the runtime's closure twice"},
		"a library is a link":      {func(j *Job) { addLibrary(j, j.Runtime.Aliases[0].Path) }, "in the runtime's closure twice"},
		"too many libraries": {func(j *Job) {
			for range 100 {
				f := pins.RuntimeFile{Path: "/opt/" + strings.Repeat("x", 200) + string(rune('a'+len(j.Runtime.Files)%26)) + strings.Repeat("y", len(j.Runtime.Files)%700)}
				j.Runtime.Files = append(j.Runtime.Files, f)
			}
		}, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			j := macs()[1].job
			row.edit(&j)
			text, err := seatbeltText(j)
			if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
				t.Errorf("%v, want %q\n%s", err, row.says, text)
			}
		})
	}
}

func moveSlot(j *Job, slot string) {
	j.Home, j.Program.Path, j.Input.Path, j.Canary.Path = slot+"/home", slot+"/program", slot+"/input", slot+"/canary"
}

func addLibrary(j *Job, library string) {
	j.Runtime.Files = append(slices.Clip(j.Runtime.Files), pins.RuntimeFile{Path: library})
}

func moveNode(j *Job, node string) { j.Runtime.Node, j.Runtime.Files[0].Path = node, node }

// TestSeatbeltPaths: every directory above what a run needs, no more, and nothing twice.
func TestSeatbeltPaths(t *testing.T) {
	j := macJob("/Users/ada/r/slot-0", "/opt/n/bin/node", "/opt/l/b.dylib", "/opt/l/a.dylib")
	j.Runtime.Aliases = []pins.Alias{{Path: "/opt/k/a.dylib", Target: "../l/a.dylib"}}
	paths, err := j.seatbeltPaths()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ancestors": "/Users /Users/ada /Users/ada/r /Users/ada/r/slot-0 /opt /opt/k /opt/l /opt/n /opt/n/bin",
		"libraries": "/opt/l/a.dylib /opt/l/b.dylib", "links": "/opt/k/a.dylib", "home": "/Users/ada/r/slot-0/home",
	} {
		if got := strings.Join(paths[name], " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
