package main

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// shortDir is a private directory whose name leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestListenMakesAPrivateSocketAndRemovesIt(t *testing.T) {
	path := filepath.Join(shortDir(t), "socket")
	l, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err == nil {
		t.Error("a second close closed something")
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestListenRefusesASocketInUse(t *testing.T) {
	path := filepath.Join(shortDir(t), "socket")
	first, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := listen(path); err == nil {
		second.Close()
		t.Fatal("two daemons on one socket")
	} else if !strings.Contains(err.Error(), "another daemon has "+path) {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := listen(path)
	if err != nil {
		t.Fatalf("after the first ended: %v", err)
	}
	third.Close()
}

// TestListenRefusesASocketThatSomebodyAnswers is about a process that knows nothing of the lock.
func TestListenRefusesASocketThatSomebodyAnswers(t *testing.T) {
	path := filepath.Join(shortDir(t), "socket")
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := listen(path); err == nil || !strings.Contains(err.Error(), "another process has "+path) {
		t.Errorf("%v", err)
	}
	if missing(path) {
		t.Error("its socket is gone")
	}
}

func TestListenReplacesAStaleSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "socket")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	l, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestListenLeavesWhatIsNotASocket(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a regular file": func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"a directory":    func(path string) error { return os.Mkdir(path, 0o700) },
		"a symlink":      func(path string) error { return os.Symlink("elsewhere", path) },
		"a FIFO":         func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(shortDir(t), "socket")
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			if _, err := listen(path); err == nil || !strings.Contains(err.Error(), "is in the way and is not a socket") {
				t.Errorf("%v", err)
			}
			left, _ := os.ReadDir(filepath.Dir(path))
			if len(left) != 1 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestListenNamesAPathThatIsTooLong(t *testing.T) {
	dir := shortDir(t)
	room := len(syscall.RawSockaddrUnix{}.Path) - 1 - len(dir) - 1
	fits := filepath.Join(dir, strings.Repeat("s", room))
	l, err := listen(fits)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(fits), err)
	}
	l.Close()
	if _, err := listen(fits + "s"); err == nil || !strings.Contains(err.Error(), "choose a shorter one") {
		t.Errorf("%d bytes: %v", len(fits)+1, err)
	}
}

func TestMakePlaces(t *testing.T) {
	dir := t.TempDir()
	c := config{root: dir + "/a/root", state: dir + "/a/state", socket: dir + "/b/socket"}
	if err := makePlaces(c); err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"a", "a/root", "a/state", "b"} {
		info, err := os.Stat(filepath.Join(dir, made))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", made, info.Mode(), err)
		}
	}
	if err := makePlaces(c); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestMakePlacesNeverChangesWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	open, file := dir+"/open", dir+"/file"
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		c    config
		want string
	}{
		"an open root":      {config{root: open, state: dir + "/s", socket: dir + "/p/x"}, "--root: " + open + " is open to others (mode 0755); cure: chmod 700"},
		"an open socket":    {config{root: dir + "/r", state: dir + "/s", socket: open + "/x"}, "--socket: " + open + " is open to others"},
		"a file for state":  {config{root: dir + "/r", state: file, socket: dir + "/p/x"}, "--state: "},
		"somebody's socket": {config{root: dir + "/r", state: dir + "/s", socket: "/proc/1/x"}, "--socket: /proc/1 "},
	} {
		t.Run(name, func(t *testing.T) {
			if err := makePlaces(row.c); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
	if info, _ := os.Stat(open); info.Mode().Perm() != 0o755 {
		t.Errorf("the mode became %v", info.Mode())
	}
}
