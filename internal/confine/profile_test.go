package confine

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"confined/internal/pins"
)

// sampleJob is a run on an imagined host.
func sampleJob() Job {
	file := func(path string, ino uint64) pins.RuntimeFile {
		return pins.RuntimeFile{Path: path, ID: pins.FileID{Dev: 66306, Ino: ino}}
	}
	source := func(name string, ino uint64) pins.Source {
		return pins.Source{Path: "/srv/confined/root/slot-3/" + name, Dev: 66307, Ino: ino}
	}
	return Job{
		Runtime: pins.Closure{
			Node: "/opt/node/bin/node", Interpreter: "/lib64/ld-linux-x86-64.so.2",
			Files: []pins.RuntimeFile{
				file("/opt/node/bin/node", 11), file("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", 12), file("/usr/lib/x86_64-linux-gnu/libc.so.6", 13)},
			Aliases: []pins.Alias{{Path: "/lib64", Target: "usr/lib64"},
				{Path: "/usr/lib64/ld-linux-x86-64.so.2", Target: "../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"}},
		},
		Program: source("program", 21), Input: source("input", 22), Canary: source("canary", 24),
		Home: "/srv/confined/root/slot-3/home", Slot: 3,
		Limits: Limits{CPUSeconds: 10, Descriptors: 64},
		Args:   []string{"/srv/confined/root/slot-3/program/main.mjs", "--flag", "two words"},
	}
}

// sample is the instance of sampleJob under a root daemon, whoever runs the test.
func sample(t testing.TB) string {
	t.Helper()
	i, err := instantiate(sampleJob())
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`outside \d+`).ReplaceAllString(i.text, "outside 61003")
}

// TestGolden is the whole text of a run, to be read when it changes. CONFINE_UPDATE_GOLDEN=1 writes it.
func TestGolden(t *testing.T) {
	golden := filepath.Join("testdata", "instance.profile")
	got := sample(t)
	if os.Getenv("CONFINE_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the instantiated text is not testdata/instance.profile; it is:\n%s", got)
	}
}

func TestInstantiateArguments(t *testing.T) {
	i, err := instantiate(sampleJob())
	if err != nil {
		t.Fatal(err)
	}
	want := "/opt/node/bin/node|--require|/srv/confined/root/slot-3/preload.cjs|/srv/confined/root/slot-3/program/main.mjs|--flag|two words"
	if got := strings.Join(i.argv, "|"); got != want {
		t.Errorf("argv %s, want %s", got, want)
	}
	version := sampleJob()
	version.Version, version.Args = true, nil
	v, err := instantiate(version)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(v.argv, "|"); got != "/opt/node/bin/node|--version" || v.text != i.text {
		t.Errorf("the version run differs in more than its arguments: %s", got)
	}
}

func TestInstantiateRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Job){
		"program elsewhere":      func(j *Job) { j.Program.Path = "/srv/program" },
		"home elsewhere":         func(j *Job) { j.Home = "/srv/confined/root/slot-4/home" },
		"not ASCII":              func(j *Job) { j.Runtime.Node = "/opt/nöde"; j.Runtime.Files[0].Path = "/opt/nöde" },
		"newline in a path":      func(j *Job) { j.Runtime.Files[2].Path = "/usr/lib/a\nuser 0 outside 0" },
		"path not normal":        func(j *Job) { j.Runtime.Files[2].Path = "/usr/lib/../libc.so.6" },
		"path twice":             func(j *Job) { j.Runtime.Files[2].Path = j.Runtime.Node },
		"file below a file":      func(j *Job) { j.Runtime.Files[2].Path = j.Runtime.Node + "/x" },
		"file below an alias":    func(j *Job) { j.Runtime.Files[2].Path = "/lib64/libc.so.6" },
		"file below the program": func(j *Job) { j.Runtime.Files[2].Path = "/srv/confined/root/slot-3/program/libc.so.6" },
		"node not in closure":    func(j *Job) { j.Runtime.Node = "/opt/other" },
		"loader not in closure":  func(j *Job) { j.Runtime.Aliases[1].Target = "elsewhere" },
		"aliases in a circle":    func(j *Job) { j.Runtime.Aliases[0].Target = "lib64" },
		"alias to nowhere":       func(j *Job) { j.Runtime.Aliases[1].Target = "" },
		"no processor time":      func(j *Job) { j.Limits.CPUSeconds = 0 },
		"no descriptors":         func(j *Job) { j.Limits.Descriptors = -1 },
		"slot out of range":      func(j *Job) { j.Slot = 65 },
		"no entry":               func(j *Job) { j.Args = nil },
		"an option for an entry": func(j *Job) { j.Args = []string{"--eval", "1"} },
		"NUL in an argument":     func(j *Job) { j.Args = append(j.Args, "a\x00b") },
		"arguments for version":  func(j *Job) { j.Version = true },
	} {
		t.Run(name, func(t *testing.T) {
			j := sampleJob()
			spoil(&j)
			if i, err := instantiate(j); err == nil {
				t.Errorf("accepted:\n%s", i.text)
			}
		})
	}
}

// TestDigestMoves edits each part of the profile, line by line where it has lines.
func TestDigestMoves(t *testing.T) {
	p := fixedProfile()
	seen := map[pins.Digest]string{p.Digest: "the profile as it is"}
	moved := func(what string, q pins.Profile) {
		if before, again := seen[q.Digest]; again {
			t.Errorf("%s: same digest as %s", what, before)
		}
		seen[q.Digest] = what
	}
	moved("name", pins.NewProfile(p.Name+"0", template, environmentNames(), profileParts()))
	lines := strings.Split(template, "\n")
	for i := range lines {
		edited := append([]string{}, lines...)
		edited[i] += " "
		moved("template line "+number(uint64(i+1)), pins.NewProfile(p.Name, strings.Join(edited, "\n"), environmentNames(), profileParts()))
	}
	for i := range environmentNames() {
		names := environmentNames()
		names[i] += "_"
		moved("environment "+names[i], pins.NewProfile(p.Name, template, names, profileParts()))
	}
	for i := range profileParts() {
		parts := profileParts()
		parts[i].Content = append(parts[i].Content, '\n')
		moved("part "+parts[i].Name, pins.NewProfile(p.Name, template, environmentNames(), parts))
	}
	if p.Template != template || p.Name != "confined-linux/1" || strings.Join(p.Environment, " ") != "LC_ALL TZ HOME TMPDIR OPENSSL_CONF" {
		t.Errorf("unexpected profile %+v", p)
	}
}
