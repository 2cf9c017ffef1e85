package e2e

import (
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadme is a new user: a home of its own, a copy of the repository in it,
// and everything that README.md and docs/scripting.md show, copied into one
// shell, block by block. The first line that fails ends it.
func TestReadme(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	readme := document(t, "README.md")
	blocks := shellBlocks(readme.text)
	stop := len(blocks) - 1
	if stop < 5 || !strings.Contains(blocks[stop], "kill %1") {
		t.Fatalf("README.md has %d blocks for a shell, and the last one stops the daemon", len(blocks))
	}
	blocks = slices.Insert(blocks, stop, shellBlocks(document(t, "docs/scripting.md").text)...)
	said, err := home.types(t, blocks)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{
		"\nok\n", "Hello from v" + nodeVersion + "\n", "Hello, Ada, Grace, and Edsger.\n",
		`"status": "observed"`, `"attributable": true`, `{"type":"accepted"`, `{"type":"result"`,
		"the exit code of the run: 1", `"state":"removed"`, "the pins are the same",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if at := strings.Index(said, "urn:confined:problem"); at >= 0 {
		t.Errorf("a line was answered with a problem: …%s", said[max(0, at-300):])
	}
	if left := names(t, home.dir+"/.confined/root"); len(left) > 0 {
		t.Errorf("it leaves %v in the root", left)
	}
	if t.Failed() {
		t.Log(said)
	}
}

// TestReadmeHidesNothing: each line that a reader could copy is in a block that
// TestReadme runs, and one that fails does fail it.
func TestReadmeHidesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "docs/scripting.md"} {
		d := document(t, name)
		for _, block := range shellBlocks(d.text) {
			d.text = strings.Replace(d.text, block, "", 1)
		}
		for line := range strings.Lines(d.text) {
			if first, _, _ := strings.Cut(strings.TrimLeft(line, " $"), " "); slices.Contains([]string{"curl", "confined", "python3", "node", "make", "tar", "jq"}, first) {
				t.Errorf("%s: this is in no block that is run: %s", name, line)
			}
		}
	}
	home := newUser{newPlaces(t)}
	if err := os.Mkdir(home.dir+"/confined", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, block := range []string{"false\n", "false | cat\n", "true | false\n", "X=$(false)\n", "sleep 1000 &\nfalse\n"} {
		if said, err := home.types(t, []string{"true\n", block, "true\n"}); err == nil {
			t.Errorf("%q fails nothing: %s", block, said)
		}
	}
	if said, err := home.types(t, []string{"cd /\nsleep 1000 &\n", "test \"$PWD\" = /\nkill %1\nwait %1 || true\n"}); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// newUser is a home directory with a copy of the repository.
type newUser struct{ places }

func newHome(t testing.TB) newUser {
	t.Helper()
	home := newUser{newPlaces(t)}
	copyRepository(t, home.dir+"/confined")
	if err := os.Mkdir(home.dir+"/tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	return home
}

// types copies blocks into one shell in the repository and returns everything
// that was said. Jobs are numbered as in a terminal, and none is left behind.
func (u newUser) types(t testing.TB, blocks []string) (string, error) {
	t.Helper()
	const first = `set -eumo pipefail
trap 'echo "failed: $BASH_COMMAND"' ERR
trap 'for job in $(jobs -p); do kill -- "-$job" || true; done; wait' EXIT
`
	cmd := osexec.CommandContext(t.Context(), "bash", "-c", first+strings.Join(blocks, "\n"))
	cmd.Dir = u.dir + "/confined"
	cmd.Env = append(goEnvironment(t), "PATH="+os.Getenv("PATH"), "HOME="+u.dir, "TMPDIR="+u.dir+"/tmp")
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// goEnvironment is what `make build` needs of this machine beside PATH: where
// modules come from, and what was built before.
func goEnvironment(t testing.TB) (env []string) {
	t.Helper()
	for _, name := range []string{"GOENV", "GOCACHE", "GOMODCACHE", "GOPROXY"} {
		value, err := osexec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	return env
}

// copyRepository copies what is in the repository, without what is made from
// it; the fetched Node is shared.
func copyRepository(t testing.TB, to string) {
	t.Helper()
	err := filepath.WalkDir(shared.repo, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(shared.repo, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case slices.Contains([]string{".git", "bin", ".node", "node_modules"}, entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case !entry.Type().IsRegular():
			return nil // the repository has none
		}
		return copyFile(path, target)
	})
	if err == nil {
		err = os.Symlink(filepath.Join(shared.repo, ".node"), filepath.Join(to, ".node"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm()|0o200)
}

// page is one document of the repository.
type page struct{ name, text string }

func document(t testing.TB, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shared.repo, name))
	if err != nil {
		t.Fatal(err)
	}
	return page{name, string(text)}
}

// shellBlocks are the blocks of a page that are marked as shell.
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
