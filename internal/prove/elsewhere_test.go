package prove

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"confined/internal/exec"
)

// TestAbandonedScratch: the next suite removes all that a killed one left, also elsewhere and behind closed directories, and nothing else.
func TestAbandonedScratch(t *testing.T) {
	state, temp, foreign := t.TempDir(), t.TempDir(), t.TempDir()
	left := filepath.Join(state, "prove-left")
	closed := filepath.Join(left, "root", "closed")
	if err := os.MkdirAll(filepath.Join(closed, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	note := func(path string) error { return noteElsewhere(left, path) }
	open, err := openDir(us(), note, temp+strings.Repeat("/.", longestParent), temp)
	if err != nil || filepath.Dir(open) != temp {
		t.Fatalf("%s, %v", open, err)
	}
	if err := note(foreign); err != nil {
		t.Fatal(err)
	}
	held, err := exec.MakeHeldDir(state, "prove-", clearAbandoned)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Remove()
	for path, there := range map[string]bool{left: false, open: false, foreign: true, held.Path: true} {
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s: %v, want it there: %v", path, err, there)
		}
	}
}

// TestLongPathOfDirectory: where sockets would have no room nothing is made, and the cure is said.
func TestLongPathOfDirectory(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", longestParent/4))
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := openDir(us(), func(string) error { return nil }, long)
	if err == nil || !strings.Contains(err.Error(), "cure: set TMPDIR") {
		t.Errorf("%s, %v", dir, err)
	}
}

// TestFreePort: a port that one suite has found is free to listen on, and no other finds it.
func TestFreePort(t *testing.T) {
	for _, network := range []string{"tcp", "udp"} {
		port, claim, err := freePort(network)
		if err != nil {
			t.Fatal(err)
		}
		defer claim.Close()
		address := "127.0.0.1:" + strconv.Itoa(port)
		end, err := occupy(network+"4", address)
		if err != nil || !taken(network, port) {
			t.Fatalf("%s %s: %v", network, address, err)
		}
		end.Close()
		if other, err := occupy(map[string]string{"tcp": "udp4", "udp": "tcp4"}[network], address); err == nil {
			other.Close()
			t.Errorf("the claim of %s %s is none", network, address)
		}
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err != nil || !taken("tcp", port(l.Addr())) {
		t.Errorf("a port of another listener is free: %v", err)
	} else {
		l.Close()
	}
}
