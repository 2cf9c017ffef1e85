package confine

import (
	"fmt"
	"strings"
	"testing"

	"confined/internal/confine/sbpl"
	"confined/internal/pins"
)

// layout is a Mac on which a run takes place.
type layout struct {
	name string
	job  Job
	// first is the link by which people would write the way to the slot, if there is one.
	library, link, first string
}

func (l layout) slot() string { return strings.TrimSuffix(l.job.Home, "/home") }

// expand gives a row's words the layout's own paths. A row about what a layout does not have is not asked there.
func (l layout) expand(words string) (string, bool) {
	slot, node := l.slot(), l.job.Runtime.Node
	root := parent(slot)
	for _, w := range []struct{ word, path string }{
		{"NODEDIR", parent(node)}, {"NODE", node}, {"FIRSTLINK", l.first}, {"LIBRARY", l.library}, {"LINK", l.link},
		{"SLOT", slot}, {"ROOT", root}, {"ABOVE", parent(root)},
	} {
		if words == w.word || strings.HasPrefix(words, w.word+"/") {
			return w.path + words[len(w.word):], w.path != ""
		}
	}
	return words, true
}

func parent(p string) string { return p[:strings.LastIndexByte(p, '/')] }

// macs are nodejs.org's Node in a home, Homebrew's with its links, and a root among the temporary files.
func macs() []layout {
	const cellar = "/opt/homebrew/Cellar/"
	brew := macJob("/Users/ada/.confined/root/slot-3", cellar+"node/26.8.1/bin/node", cellar+"libuv/1.51.0/lib/libuv.1.dylib", cellar+"icu4c@77/77.1/lib/libicuuc.77.1.dylib")
	brew.Runtime.Aliases = []pins.Alias{
		{Path: "/opt/homebrew/bin/node", Target: "../Cellar/node/26.8.1/bin/node"},
		{Path: "/opt/homebrew/opt/icu4c@77", Target: "../Cellar/icu4c@77/77.1"},
		{Path: "/opt/homebrew/opt/libuv", Target: "../Cellar/libuv/1.51.0"},
		{Path: cellar + "icu4c@77/77.1/lib/libicuuc.77.dylib", Target: "libicuuc.77.1.dylib"}}
	return []layout{
		{name: "nodejs.org", job: macJob("/Users/ada/.confined/root/slot-3", "/Users/ada/node-v26.8.1-darwin-arm64/bin/node")},
		{name: "Homebrew", job: brew, library: cellar + "libuv/1.51.0/lib/libuv.1.dylib", link: "/opt/homebrew/opt/libuv"},
		{name: "temporary", job: macJob("/private/var/folders/q1/T/root/slot-3", "/usr/local/bin/node"), first: "/var"},
	}
}

func macJob(slot, node string, libraries ...string) Job {
	j := Job{
		Runtime: pins.Closure{Node: node, Interpreter: "/usr/lib/dyld", Files: []pins.RuntimeFile{{Path: node}}},
		Program: pins.Source{Path: slot + "/program"}, Input: pins.Source{Path: slot + "/input"}, Canary: pins.Source{Path: slot + "/canary"},
		Home: slot + "/home", Slot: 3, Limits: Limits{CPUSeconds: 10, Descriptors: 64}, Args: []string{slot + "/program/main.mjs", "--flag"},
	}
	for _, l := range libraries {
		j.Runtime.Files = append(j.Runtime.Files, pins.RuntimeFile{Path: l})
	}
	return j
}

// query is a row as a question about a layout; false when that has nothing of the kind.
func (r seatbeltRow) query(l layout) (sbpl.Query, bool) {
	target, there := l.expand(r.target)
	q := sbpl.Query{Operation: r.operation}
	switch subject(r.operation) {
	case sbpl.AFile:
		q.Path.Resolved = target
		for link := range strings.FieldsSeq(r.links) {
			path, known := l.expand(link)
			q.Path.Links, there = append(q.Path.Links, path), there && known
		}
	case sbpl.Process:
		q.Target = sbpl.Target(target)
	default:
		q.Name = target
	}
	return q, there
}

// subject is what an operation is about; a test shows that the table of operations has it.
func subject(operation string) sbpl.Subject {
	for _, o := range sbpl.Operations() {
		if o.Name == operation {
			return o.Subject
		}
	}
	return sbpl.Nothing
}

// failures are the rows that a profile fails in one layout.
func (l layout) failures(p *sbpl.Profile) (failed []string, asked int) {
	for _, r := range seatbeltRows() {
		q, there := r.query(l)
		if !there {
			continue
		}
		asked++
		d := p.Decide(q)
		if d.Disputed || d.Allowed != r.allowed {
			failed = append(failed, fmt.Sprintf("%s of %q by %q (%s): allowed %v by %s, disputed %v", r.operation, q.Path.Resolved+string(q.Target)+q.Name, r.links, r.why, d.Allowed, d.By, d.Disputed))
		}
	}
	return failed, asked
}

func (l layout) profile(t *testing.T) *sbpl.Profile {
	t.Helper()
	text, err := seatbeltText(l.job)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sbpl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSeatbeltRows: on each Mac the profile says what every row says, by either model of precedence.
func TestSeatbeltRows(t *testing.T) {
	seen := map[seatbeltRow]bool{}
	for _, l := range macs() {
		failed, asked := l.failures(l.profile(t))
		for _, f := range failed {
			t.Errorf("%s: %s", l.name, f)
		}
		t.Logf("%s: %d rows", l.name, asked)
		for _, r := range seatbeltRows() {
			if _, there := r.query(l); there {
				seen[r] = true
			}
		}
	}
	if len(seen) != len(seatbeltRows()) || len(seen) < 80 {
		t.Errorf("%d of %d rows were asked; each must be, and there must be 80", len(seen), len(seatbeltRows()))
	}
}
