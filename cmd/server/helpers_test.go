package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"
)

// asConfined makes the test binary be the command instead.
const asConfined = "CONFINED_TEST_AS_COMMAND"

// TestMain lets the test binary be the command itself.
func TestMain(m *testing.M) {
	if os.Getenv(asConfined) != "" {
		os.Exit(run(os.Args[1:], surroundings{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, lookupEnv: os.LookupEnv}))
	}
	os.Exit(m.Run())
}

// command is the binary with args, in an environment of its own.
func command(t *testing.T, args ...string) *osexec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command(self, args...)
	cmd.Env = []string{asConfined + "=1", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"GORACE=atexit_sleep_ms=0"} // the race detector's second of waiting at each exit
	return cmd
}

// confined runs the binary to its end and returns exit code and output.
func confined(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	cmd := command(t, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *osexec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// repository is the directory of go.mod.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for missing(filepath.Join(dir, "go.mod")) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// places are a root, a socket and a state directory that nothing else uses, and
// the pinned Node.
type places struct{ dir, node string }

func newPlaces(t *testing.T) places {
	t.Helper()
	dir, err := filepath.EvalSymlinks(shortDir(t))
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(repository(t), ".node/26.8.1/bin/node")
	if missing(node) {
		t.Fatalf("%s is missing: run `make node`", node)
	}
	return places{dir, node}
}

func (p places) root() string   { return filepath.Join(p.dir, "root") }
func (p places) socket() string { return filepath.Join(p.dir, "run", "socket") }
func (p places) state() string  { return filepath.Join(p.dir, "state") }

// scratch are the namespaces of confined version runs, there while one lasts.
func (p places) scratch() []string {
	found, _ := filepath.Glob(filepath.Join(p.state(), "version-run-*"))
	return found
}

// args are the flags of these places; the root comes first.
func (p places) args() []string {
	return []string{"--root", p.root(), "--socket", p.socket(), "--state", p.state(), "--node", p.node}
}

// newTestDaemon is a daemon in this process that does not listen.
func newTestDaemon(t *testing.T) *daemon {
	t.Helper()
	p := newPlaces(t)
	d, err := newDaemon(config{root: p.root(), socket: p.socket(), state: p.state(), node: p.node,
		maxRetained: 2, workers: 1, queue: 4, uploadMemory: 64 << 20}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.executor.Close() })
	return d
}
