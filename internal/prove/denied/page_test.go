package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"confined/internal/prove"
)

// TestPage renders a small table of every kind of row.
func TestPage(t *testing.T) {
	table := []prove.Probe{
		{Family: "connecting", Name: "TCP", Kind: prove.JavaScript, Code: "EPERM", Twin: "a number", Instead: "send input"},
		{Family: "files", Name: "read a file", Kind: prove.JavaScript},
		{Family: "connecting", Name: "an abstract socket", Kind: prove.JavaScript, Code: "EPERM", Only: "linux", Twin: "a number", Instead: "send input"},
		{Family: "connecting", Name: "a pair", Kind: prove.JavaScript, Code: "EPERM", Only: "linux", MacCode: prove.Unpromised, Twin: "a number", Instead: "send input"},
		{Family: "ports", Name: "native: a port", Kind: prove.Native, Code: "EPERM", MacCode: "EPERM or NONE", Only: "darwin", Twin: "native: a pipe"},
		{Family: "the process", Name: "a Mac's variables", Kind: prove.Look, Only: "darwin"},
		{Family: "packets", Name: "native: raw | packet", Kind: prove.Native, Code: "EPERM", MacCode: "EACCES", NoControl: "needs rights", Twin: "native: a pipe"},
		{Family: "files", Name: "write in home", Kind: prove.JavaScript, Code: "EROFS", Twin: "read a file", Instead: "print"},
		{Family: "files", Name: "write in /tmp", Kind: prove.JavaScript, Code: "ENOENT", Twin: "read a file", Instead: "print"},
		{Family: "files", Name: "write in the input", Kind: prove.JavaScript, Code: "EROFS", Twin: "read a file", Instead: "print"},
		{Family: "files", Name: "a report", Kind: prove.JavaScript, Code: "NONE", Twin: "read a file", Instead: "print it yourself"},
		{Family: "the process", Name: "no capability", Kind: prove.Look},
		{Family: "files", Name: "native: read a file", Kind: prove.Native},
	}
	darwin := slices.DeleteFunc(slices.Clone(table), func(p prove.Probe) bool { return p.Only == "linux" })
	linux := slices.DeleteFunc(slices.Clone(table), func(p prove.Probe) bool { return p.Only == "darwin" })
	got := page("# Head\n", linux, darwin)
	const want = generated + `# Head

### Connecting

3 acts are denied. Instead: send input.

| tried | Linux | macOS |
|---|---|---|
| TCP | «EPERM» | «EPERM» |
| an abstract socket | «EPERM» | – |
| a pair | «EPERM» | *not promised* |

Allowed, and tried too: a number.

### Files

4 acts are denied. Instead, where a line does not say otherwise: print.

| tried | Linux | macOS | instead |
|---|---|---|---|
| write in home, the input | «EROFS» | «EPERM» | |
| write in /tmp | «ENOENT» | «EPERM» | |
| a report | *nothing* | *nothing* | print it yourself |

Allowed, and tried too: read a file.

### The process

From outside, the host finds of the live process: no capability.
` + calls + `
### Files

Allowed, and tried too: read a file.

### Packets

One act is denied, without an unconfined control.

| tried | Linux | macOS |
|---|---|---|
| raw \| packet | «EPERM» | «EACCES» |

Allowed, and tried too: a pipe.
` + macAlone + `
| tried | macOS |
|---|---|
| a port | «EPERM» or *nothing* |

From outside, the host finds of the live process: a Mac's variables; no capability.
`
	if want := strings.NewReplacer("«", "`", "»", "`").Replace(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDeniedIsFresh: docs/denied.md is what the table says.
func TestDeniedIsFresh(t *testing.T) {
	text, err := os.ReadFile("../../../docs/denied.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := thePage(); string(text) != want {
		t.Errorf("docs/denied.md is stale: run `make generate`. The first line that differs: %q", differing(string(text), want))
	}
	if differing("a\nb\n", "a\nc\n") != "c" {
		t.Error("a difference is not seen")
	}
}

// differing is the first line of want that got does not have there.
func differing(got, want string) string {
	have := strings.Split(got, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(have) || have[i] != line {
			return line
		}
	}
	return ""
}
