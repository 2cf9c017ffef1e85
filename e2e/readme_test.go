package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeIsTheExample: what README.md tells a newcomer to type is, line for
// line, what examples/hello/run.sh does and `make demo` runs.
func TestReadmeIsTheExample(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(shared.repo, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(shared.repo, "examples/hello/run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(string(script), "# --- README.md, Walkthrough\n")
	if !ok {
		t.Fatal("examples/hello/run.sh has lost its mark")
	}
	blocks := shellBlocks(section(t, string(readme), "## Walkthrough"))
	if len(blocks) != 4 {
		t.Fatalf("the walkthrough has %d shell blocks; the first starts a daemon, the other three are the example", len(blocks))
	}
	if got := strings.Join(blocks[1:], ""); got != example {
		t.Errorf("README.md shows\n%s\nand examples/hello/run.sh does\n%s", got, example)
	}
}

// section is the text from a heading to the next of its level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("there is no %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

func shellBlocks(text string) (blocks []string) {
	for {
		_, after, ok := strings.Cut(text, "```sh\n")
		if !ok {
			return blocks
		}
		block, rest, _ := strings.Cut(after, "```")
		blocks, text = append(blocks, block), rest
	}
}
