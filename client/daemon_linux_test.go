package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"confined/client/api"
)

// nodeVersion is the Node.js that `make node` brings.
const nodeVersion = "26.8.1"

// realDaemon is one `confined serve`, built from this tree.
type realDaemon struct {
	*Client
	cmd *osexec.Cmd
	log bytes.Buffer
}

// startDaemon builds one, starts it in a folder of its own, and stops it after
// the test.
func startDaemon(t testing.TB) *realDaemon {
	t.Helper()
	dir, err := filepath.EvalSymlinks(shortDir(t))
	must(t, err)
	binary := dir + "/confined"
	build := osexec.Command("go", "build", "-trimpath", "-o", binary, "confined/cmd/server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as `make build` does it, and with what that compiled
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the daemon: %v\n%s", err, out)
	}
	node, err := filepath.Abs("../.node/" + nodeVersion + "/bin/node")
	must(t, err)
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("there is no Node.js for tests: run `make node` (%v)", err)
	}
	must(t, os.Mkdir(dir+"/root", 0o700))
	d := &realDaemon{Client: New(dir + "/s")}
	d.cmd = osexec.Command(binary, "serve", "--root="+dir+"/root", "--state="+dir+"/state", "--socket="+dir+"/s", "--node="+node)
	d.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	d.cmd.Stdout, d.cmd.Stderr = &d.log, &d.log
	must(t, d.cmd.Start())
	t.Cleanup(func() {
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		killed := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
		defer killed.Stop()
		if err := d.cmd.Wait(); t.Failed() {
			t.Logf("the daemon ended with %v; its log:\n%s", err, d.log.String())
		}
	})
	d.poll(t, "the daemon is not ready", func(s *api.Status) bool { return s.Ready })
	return d
}

// poll asks for the status until ok says so.
func (d *realDaemon) poll(t testing.TB, why string, ok func(*api.Status) bool) {
	t.Helper()
	deadline, tick := time.After(patience), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for {
		status, err := d.Status(t.Context())
		if err == nil && ok(status) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: %+v, %v", why, status, err)
		}
	}
}

// script is a job of one module with one megabyte for its output.
func script(t testing.TB, pins Pins, source string) Job {
	t.Helper()
	return Job{ID: NewID(), Pins: pins, Program: tree(t, "main.mjs", source), Entry: "main.mjs"}
}

// TestDaemon is the client against the daemon of this tree.
func TestDaemon(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	pins, err := d.Pins(t.Context())
	must(t, err)
	t.Run("until it is killed", func(t *testing.T) {
		testAnswers(t, d, pins)
		testLive(t, d, pins)
	})
	testGone(t, d, pins)
}

func testAnswers(t *testing.T, d *realDaemon, pins Pins) {
	t.Run("hello", func(t *testing.T) {
		t.Parallel()
		program, err := ReadTree("../examples/hello/program")
		must(t, err)
		input, err := ReadTree("../examples/hello/input")
		must(t, err)
		r, err := d.Run(t.Context(), Job{Program: program, Entry: "main.mjs", Input: input})
		must(t, err)
		if code, ok := r.ExitCode(); code != 0 || !ok || string(r.Stdout()) != "Hello, Ada, Grace, and Edsger.\n" || len(r.Stderr()) != 0 {
			t.Errorf("%s", r.Raw)
		}
		if r.Observed.Identities.Runtime != pins.Runtime || r.Observed.Identities.Profile.Digest != pins.Profile {
			t.Errorf("it ran on %+v, pinned were %+v", r.Observed.Identities, pins)
		}
	})
	t.Run("digest", func(t *testing.T) {
		t.Parallel()
		local := tree(t, "a/@b+c.txt", "1", "z.bin", "\x00\xff", "empty", "")
		r, err := d.describe(t.Context(), local)
		if err != nil || r.Digest != local.Digest() || string(r.Protocol) != local.Protocol() || r.Bytes != local.Bytes() || len(r.Files) != local.Len() {
			t.Errorf("the daemon says %+v, %v, and the client %s", r, err, local.Digest())
		}
	})
	t.Run("arguments and an exit code", func(t *testing.T) {
		t.Parallel()
		j := script(t, pins, "console.error(JSON.stringify(process.argv.slice(2))); process.exit(7)")
		j.Args = []string{"<é>", "", "\u2028\n"}
		r, err := d.Run(t.Context(), j)
		must(t, err)
		if code, ok := r.ExitCode(); code != 7 || !ok || string(r.Stderr()) != "[\"<é>\",\"\",\"\u2028\\n\"]\n" || r.RunID != j.ID {
			t.Errorf("%s", r.Raw)
		}
	})
	t.Run("much output", func(t *testing.T) {
		t.Parallel()
		for fill, size := range map[byte]int{0xff: 4 << 20, 0: 1 << 20} { // base64, and six bytes of JSON for one
			j := script(t, pins, fmt.Sprintf("process.stdout.write(Buffer.alloc(%d, %d))", size, fill))
			j.Bounds = DefaultBounds()
			j.Bounds.MaxOutputBytes = 16 << 20
			r, err := d.Run(t.Context(), j)
			must(t, err)
			if out := r.Stdout(); !r.Attributable() || !bytes.Equal(out, bytes.Repeat([]byte{fill}, size)) {
				t.Errorf("%d bytes of output; attributable is %t: %.1000s", len(out), r.Attributable(), r.Raw)
			}
		}
	})
	t.Run("stale pins", func(t *testing.T) {
		t.Parallel()
		j := script(t, Pins{Runtime: emptyDigest, Profile: pins.Profile}, "")
		r, err := d.Run(t.Context(), j)
		must(t, err)
		if r.NotStarted == nil || r.NotStarted.Reason != api.NotStartedReasonRuntimeMismatch {
			t.Errorf("%s", r.Raw)
		}
	})
	t.Run("an invalid job, then the same with the fault cured", func(t *testing.T) {
		t.Parallel()
		j := script(t, pins, "")
		j.Entry = "other.mjs"
		_, err := d.Run(t.Context(), j)
		var p *ProblemError
		if got := outcomeOf(t, j.ID, err); got != isProblem || !errors.As(err, &p) || p.Problem.Errors[0].Code != api.FaultCodeEntryMissing {
			t.Errorf("it is %s: %v", got, err)
		}
		j.Entry = "main.mjs"
		if _, err := d.Run(t.Context(), j); err != nil {
			t.Error(err)
		}
		_, err = d.Run(t.Context(), j)
		if got := outcomeOf(t, j.ID, err); got != isProblem || !errors.As(err, &p) || p.Problem.Code != api.ProblemCodeRunIDUsed {
			t.Errorf("the id once more is %s: %v", got, err)
		}
	})
}

// describe asks the daemon what a tree is.
func (d *realDaemon) describe(ctx context.Context, tree Tree) (*api.Snapshot, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for path, content := range tree.Files() {
		field, _ := form.CreateFormField(path)
		_, _ = field.Write(content)
	}
	_ = form.Close()
	return read[api.Snapshot](d.api.DescribeSnapshotWithBody(ctx, form.FormDataContentType(), &body))
}

// testGone: a context that ends stops the program, and a daemon that is killed
// leaves the run unknown.
func testGone(t *testing.T, d *realDaemon, pins Pins) {
	forever := "setInterval(() => {}, 1000)"
	busy := func(n int) func(*api.Status) bool { return func(s *api.Status) bool { return s.Workers.Now == n } }
	run := func(ctx context.Context, j Job) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := d.Run(ctx, j)
			done <- err
		}()
		d.poll(t, "the run did not start", busy(1))
		return done
	}

	ctx, cancel := context.WithCancel(t.Context())
	j := script(t, pins, forever)
	done := run(ctx, j)
	cancel()
	if err := await(t, done, "the cancelled run"); outcomeOf(t, j.ID, err) != isUnknown || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d.poll(t, "the run goes on", busy(0))

	j = script(t, pins, forever)
	done = run(t.Context(), j)
	must(t, d.cmd.Process.Kill())
	if err := await(t, done, "the run of a killed daemon"); outcomeOf(t, j.ID, err) != isUnknown {
		t.Error(err)
	}
	if _, err := d.Status(t.Context()); err == nil {
		t.Error("the daemon is still there")
	}
}
