package pins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotExecutable: the bits that count are those of the one who would execute.
func TestNotExecutable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	owner, group, stranger := os.Geteuid(), os.Getegid(), 61064
	for _, row := range []struct {
		mode     os.FileMode
		uid, gid int
		may      bool
	}{
		{0o700, owner, group, true}, {0o677, owner, group, false}, {0o610, stranger, group, true}, {0o701, stranger, group, false},
		{0o701, stranger, stranger, true}, {0o770, stranger, stranger, false},
	} {
		if err := os.Chmod(path, row.mode); err != nil {
			t.Fatal(err)
		}
		got := NotExecutable(path, row.uid, row.gid)
		if (got == nil) != row.may {
			t.Errorf("mode %o for %d:%d: %v", row.mode, row.uid, row.gid, got)
		}
		if got != nil && (!strings.Contains(got.Problem, "may not be executed") || got.Cure != "chmod a+rx "+path) {
			t.Errorf("%v", got)
		}
	}
	if got := NotExecutable(path+"-none", owner, group); got != nil {
		t.Errorf("of a file that is not there: %v", got)
	}
}
