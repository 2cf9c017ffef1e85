package pins

import (
	"os"
	"path/filepath"
	"testing"
)

// repoFile is the path of a file of the repository, found by walking up to go.mod.
func repoFile(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, name)
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working directory: run the tests within the repository")
		}
		dir = filepath.Dir(dir)
	}
}

// pinnedNode is the Node binary that the tests of this project run with.
func pinnedNode(t testing.TB) string {
	t.Helper()
	node := repoFile(t, ".node/26.8.1/bin/node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("%v: run `make node`", err)
	}
	return node
}

// canonicalTemp is a fresh directory without symlinks in its path.
func canonicalTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}
