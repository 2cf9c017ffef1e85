package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// outcome is what a program did, whoever ran it. Where it ran is cut out of its
// output: see neutral.
type outcome struct {
	stdout, stderr string
	code           int    // -1 where a signal ended it
	signal         string // such as SIGABRT
}

// plainNode runs the same tree with the same Node.js unconfined: laid out as in
// a slot, with the same five environment variables, the input as its working
// directory and nothing on stdin.
func plainNode(t testing.TB, r runRequest) outcome {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir+"/program", r.program)
	writeTree(t, dir+"/input", r.input)
	writeTree(t, dir+"/home", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := osexec.CommandContext(ctx, shared.node, append([]string{dir + "/program/" + r.entry}, r.args...)...)
	cmd.Dir = dir + "/input"
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "HOME=" + dir + "/home", "TMPDIR=" + dir + "/home", "OPENSSL_CONF=/dev/null"}
	cmd.Stdin = strings.NewReader("") // a pipe, at its end
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *osexec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	out := outcome{stdout: neutral(stdout.String(), dir), stderr: neutral(stderr.String(), dir), code: cmd.ProcessState.ExitCode()}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		out.signal = signalName(ws.Signal())
	}
	return out
}

// writeTree writes a snapshot as a slot holds it: directories 0700, files 0400.
func writeTree(t testing.TB, dir string, f files) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, one := range f.list() {
		path := filepath.Join(dir, one.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(one.content), 0o400); err != nil {
			t.Fatal(err)
		}
	}
}

// outcome is what a result says a program did.
func (d *daemon) outcome(t testing.TB, r result) outcome {
	t.Helper()
	out := outcome{stdout: d.neutral(r.Process.Stdout.plain(t)), stderr: d.neutral(r.Process.Stderr.plain(t)), code: -1}
	if r.Process.Exit.Code != nil {
		out.code = *r.Process.Exit.Code
	}
	if r.Process.Exit.Signal != nil {
		out.signal = *r.Process.Exit.Signal
	}
	return out
}

var (
	ownPID = regexp.MustCompile(`\(node:[0-9]+\)`)
	slotIn = regexp.MustCompile(`/slot-[0-9]+`)
)

// neutral cuts out of output what depends on where and as which process it was
// written: the folder becomes <slot>, the pid in Node's warnings PID.
func neutral(text, slot string) string {
	return ownPID.ReplaceAllString(strings.ReplaceAll(text, slot, "<slot>"), "(node:PID)")
}

func (d *daemon) neutral(text string) string {
	for _, slot := range slotIn.FindAllString(text, -1) {
		text = strings.ReplaceAll(text, d.root+slot, "<slot>")
	}
	return neutral(text, d.root)
}

// signalName is how results spell it.
func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGABRT: "SIGABRT", syscall.SIGTERM: "SIGTERM", syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV",
		syscall.SIGILL: "SIGILL", syscall.SIGTRAP: "SIGTRAP", syscall.SIGBUS: "SIGBUS",
	}
	return names[s]
}

// parts says where this differs from want, or nothing.
func (o outcome) parts(want outcome) string {
	for _, stream := range []struct{ name, got, want string }{{"stdout", o.stdout, want.stdout}, {"stderr", o.stderr, want.stderr}} {
		n := 0
		for n < min(len(stream.got), len(stream.want)) && stream.got[n] == stream.want[n] {
			n++
		}
		if n < max(len(stream.got), len(stream.want)) {
			return fmt.Sprintf("%s of %d and %d bytes, from byte %d: %.200q, %.200q", stream.name, len(stream.got), len(stream.want), n, stream.got[n:], stream.want[n:])
		}
	}
	return ""
}

// String shows an outcome in one line, long output shortened.
func (o outcome) String() string {
	return fmt.Sprintf("code %d, signal %q, stdout %.1500q, stderr %.3000q", o.code, o.signal, o.stdout, o.stderr)
}
