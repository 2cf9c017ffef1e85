package e2e

import (
	"bytes"
	"context"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ended is what a command that ends by itself said.
type ended struct {
	code           int
	stdout, stderr string
}

// confined runs one command of the binary to its end. Precondition: it ends by
// itself; one that stays is killed and fails the test.
func confined(t *testing.T, p places, env []string, args ...string) ended {
	t.Helper()
	return confinedIn(t, p, env, func(*osexec.Cmd) {}, args...)
}

// confinedIn is confined in other surroundings, which may change the command.
func confinedIn(t *testing.T, p places, env []string, surroundings func(*osexec.Cmd), args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := osexec.CommandContext(ctx, shared.binary, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}, env...)
	cmd.Dir = p.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	surroundings(cmd)
	_ = cmd.Run() // judged by the exit code
	if ctx.Err() != nil {
		t.Errorf("confined %s did not end by itself: %s", strings.Join(args, " "), stderr.String())
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// serveArgs is a command line of serve in these places, with more flags.
func serveArgs(p places, more ...string) []string {
	return append(serveCommand(p, settings{node: shared.node}).Args[1:], more...)
}

// mustRefuse fails unless serve ends with code and one line that says words.
func mustRefuse(t *testing.T, e ended, code int, words ...string) {
	t.Helper()
	if e.code != code || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("it ended with %d, want %d and one line: %s%s", e.code, code, e.stdout, e.stderr)
	}
	for _, word := range words {
		if !strings.Contains(e.stderr, word) {
			t.Errorf("%q is not said in: %s", word, e.stderr)
		}
	}
}

// TestInvalidFlags: a wrong command line, or environment, ends with 2 and one
// line that names the flag, and makes nothing.
func TestInvalidFlags(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	before := names(t, p.dir)
	for _, flag := range []string{
		"--max-retained=0", "--max-retained=65", "--max-retained=many", "--workers=-1", "--workers=9", "--queue=0", "--queue=10001", "--drain=-1s", "--drain=16m", "--drain=soon",
		"--upload-memory=1KiB", "--upload-memory=lots", "--metrics-listen=0.0.0.0:9464", "--metrics-listen=:9464", "--metrics-listen=localhost", "--log-format=xml", "--nothing=1",
		"--root=relative", "--root=" + p.dir + "/root/", "--root=" + p.dir + "/a/../b", "--root=/tmp/a b",
	} {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		mustRefuse(t, confined(t, p, nil, serveArgs(p, flag)...), 2, name)
	}
	mustRefuse(t, confined(t, p, nil, serveArgs(p, "more")...), 2, "more")
	mustRefuse(t, confined(t, p, []string{"CONFINED_MAX_RETAINED=0"}, serveArgs(p)...), 2, "max-retained")
	mustRefuse(t, confined(t, p, []string{"CONFINED_QUEUE=x"}, serveArgs(p)...), 2, "CONFINED_QUEUE")
	mustRefuse(t, confined(t, p, nil, "dance"), 2, "dance")
	if after := names(t, p.dir); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("something was made: %v", after)
	}
}

// TestMissingPlaces: what does not exist yet is made, for this user alone.
func TestMissingPlaces(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	p.root, p.state, p.socket = p.dir+"/a/root", p.dir+"/b/state", p.dir+"/c/s"
	d := startDaemonIn(t, p)
	mustRun(t, d)
	for _, path := range []string{p.root, p.state, filepath.Dir(p.socket), p.socket} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
	}
}

// TestEnvironment: each flag is a variable too, and the command line wins.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	d := bootDaemon(t, p, func(cmd *osexec.Cmd) {
		cmd.Env = append(cmd.Env, "CONFINED_MAX_RETAINED=3", "CONFINED_QUEUE=7", "CONFINED_WORKERS=2")
	}, withFlags("--queue=5"))
	defer d.end(t)
	if s := d.status(t); s.Slots.Limit != 3 || s.Queue.Limit != 5 || s.Workers.Limit != 2 {
		t.Errorf("%+v", s)
	}
}

// TestStaleSocket: a socket that nobody answers is replaced.
func TestStaleSocket(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	listener := listenUnix(t, p.socket)
	listener.SetUnlinkOnClose(false)
	listener.Close()
	if _, err := os.Lstat(p.socket); err != nil {
		t.Fatalf("the socket was to stay: %v", err)
	}
	mustRun(t, startDaemonIn(t, p))
}

func listenUnix(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// TestSocketInUse: a socket that somebody answers stays theirs, be it another
// daemon's or a stranger's.
func TestSocketInUse(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	other := newPlaces(t)
	other.socket = d.socket
	mustRefuse(t, confined(t, other, nil, serveArgs(other)...), 1, d.socket, "another")
	mustRun(t, d)

	stranger := newPlaces(t)
	listener := listenUnix(t, stranger.socket)
	defer listener.Close()
	mustRefuse(t, confined(t, stranger, nil, serveArgs(stranger)...), 1, stranger.socket, "another")
	conn, err := net.Dial("unix", stranger.socket)
	if err != nil {
		t.Errorf("the stranger's socket is gone: %v", err)
	} else {
		conn.Close()
	}
}

// TestTwoDaemonsOneRoot: each counts the other's live run, and neither touches it.
func TestTwoDaemonsOneRoot(t *testing.T) {
	t.Parallel()
	first := startDaemon(t)
	p := newPlaces(t)
	p.root = first.root
	second := startDaemonIn(t, p)
	alive := first.live(t, first.waiter(t, "two-daemons"), "two-daemons")
	s := second.slots(t)
	if s.Counted != 1 || s.Slots[0].State != "elsewhere" {
		t.Errorf("the second sees %+v", s)
	}
	mustRun(t, second)
	if gone(alive.pid) {
		t.Error("the first's program is gone")
	}
	alive.release(t)
	if s := second.slots(t); s.Counted != 0 {
		t.Errorf("the second sees %+v", s)
	}
}

// TestOtherCommands: version and doctor, on a host that is able and on one
// where Node is a script.
func TestOtherCommands(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	if v := confined(t, p, nil, "version"); v.code != 0 || v.stdout == "" || v.stderr != "" {
		t.Errorf("version: %+v", v)
	}
	places := []string{"--root=" + p.root, "--state=" + p.state, "--socket=" + p.socket}
	able := confined(t, p, nil, append([]string{"doctor", "--node=" + shared.node}, places...)...)
	if able.code != 0 || !strings.Contains(able.stdout, shared.node) {
		t.Errorf("doctor: %+v", able)
	}
	shim := p.dir + "/node"
	if err := os.WriteFile(shim, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	not := confined(t, p, nil, append([]string{"doctor", "--node=" + shim}, places...)...)
	if not.code != 1 || !strings.Contains(not.stdout, "script") {
		t.Errorf("doctor with a script as Node: %+v", not)
	}
}

// TestHangup: a daemon whose terminal goes away drains like on SIGTERM.
func TestHangup(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	mustRun(t, d)
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	d.mustEnd(t, 0)
}
