package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// example is one client of examples/, as a user types it: in the repository,
// followed by a program's directory, its entry and its input.
type example struct {
	name    string
	command []string
	fixed   bool // it runs examples/hello and nothing else
}

var helloTrees = []string{"examples/hello/program", "main.mjs", "examples/hello/input"}

func examples() []example {
	return []example{
		{name: "shell", command: []string{"examples/hello/run.sh"}, fixed: true},
		{name: "python", command: []string{"python3", "examples/python/run.py"}},
		{name: "node", command: []string{"node", "examples/node/run.mjs"}},
	}
}

// spoken is what a client said, and its exit code.
type spoken struct {
	stdout, stderr string
	code           int
}

// exampleCommand is a command in the repository, as a user in home types it.
func exampleCommand(ctx context.Context, home, socket string, command ...string) *osexec.Cmd {
	cmd := osexec.CommandContext(ctx, command[0], command[1:]...)
	if strings.Contains(command[0], "/") {
		cmd.Path = filepath.Join(shared.repo, command[0])
	}
	cmd.Dir = shared.repo
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home,
		"CONFINED_SOCKET=" + socket, "PYTHONDONTWRITEBYTECODE=1",
	}
	return cmd
}

// speak runs it to its end.
func speak(t testing.TB, cmd *osexec.Cmd) spoken {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*osexec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return spoken{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// run is what e says of one program, at the given socket.
func (e example) run(t testing.TB, home, socket string, trees ...string) spoken {
	t.Helper()
	command := e.command
	if !e.fixed {
		command = append(command[:len(command):len(command)], trees...)
	}
	return speak(t, exampleCommand(t.Context(), home, socket, command...))
}

// must fails the test unless the client ended with code and said these words.
func (s spoken) must(t testing.TB, code int, stdout, stderr string) {
	t.Helper()
	if s.code != code || !strings.Contains(s.stdout, stdout) || !strings.Contains(s.stderr, stderr) {
		t.Errorf("it ended with %d, want %d, stdout with %q and stderr with %q\nstdout: %s\nstderr: %s", s.code, code, stdout, stderr, s.stdout, s.stderr)
	}
}

// programs are how many programs ran to their end, by the daemon's own account.
func (d *daemon) programsRun(t testing.TB) float64 {
	t.Helper()
	return d.metric(t, `confined_runs_total{reason="",status="observed"}`)
}

// TestExamples: each client says what became of its program, and of a request
// that got no whole answer it says that this is unknown. In no case does it
// start a second program.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t)
			greeting := "Hello, Ada, Grace, and Edsger."
			for _, c := range []struct {
				name           string
				meddle         func(http.Handler) http.Handler
				code           int
				stdout, stderr string
				programs       float64
			}{
				{"first answered 429", refusedFirst, 0, greeting, "", 1},
				{"answered 500 when it had run", lostFirst, 127, "", "unknown", 1},
				{"answered 502 when it had run", failedFirst, 127, "", "unknown", 1},
				{"answered in half when it had run", cutFirst, 127, "", "unknown", 1},
			} {
				t.Run(c.name, func(t *testing.T) {
					before := d.programsRun(t)
					socket := meddler(t, d, c.meddle)
					e.run(t, d.dir, socket, helloTrees...).must(t, c.code, c.stdout, c.stderr)
					if n := d.programsRun(t) - before; n != c.programs {
						t.Errorf("%v programs ran, want %v", n, c.programs)
					}
				})
			}
			t.Run("no daemon", func(t *testing.T) {
				e.run(t, d.dir, d.dir+"/none", helloTrees...).must(t, 125, "", "no daemon listens on "+d.dir+"/none")
			})
		})
	}
}

// TestExamplesOnUnfitHost: where nothing has a digest, the detail is what a
// client says, and all that it says.
func TestExamplesOnUnfitHost(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	listener, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sayProblem(w, http.StatusServiceUnavailable, "unsupported-host")
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	for _, e := range examples() {
		said := e.run(t, p.dir, p.socket, helloTrees...)
		said.must(t, 125, "", "a test says so")
		if n := strings.Count(said.stderr, "\n"); n != 1 {
			t.Errorf("%s says it in %d lines: %s", e.name, n, said.stderr)
		}
	}
}

// TestRetryWithoutID is the control of TestExamples: without an id, and with
// the answer lost, a retry does start a second program.
func TestRetryWithoutID(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	socket := meddler(t, d, lostFirst)
	r := d.run(t, files{"main.mjs": "console.log(1)"}, "main.mjs")
	cmd := exampleCommand(t.Context(), d.dir, socket, "curl", "-sS", "--unix-socket", socket, "--retry", "5",
		"http://confined/v1/runs", "-o", d.dir+"/answer", "-w", "%{http_code}",
		"--form-string", "request="+text(t, r.document()), "--form-string", "program/main.mjs=console.log(1)")
	speak(t, cmd).must(t, 0, "200", "")
	if n := d.programsRun(t); n != 2 {
		t.Errorf("%v programs ran: the meddler does not do what TestExamples needs", n)
	}
}

// TestExamplesTellOfPrograms: the exit code is the program's own, and what is
// wrong with a request is told.
func TestExamplesTellOfPrograms(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	program, odd := filepath.Join(d.dir, "program"), filepath.Join(d.dir, "odd")
	writeTree(t, odd, files{"odd name.mjs": ""})
	writeTree(t, program, files{
		"seven.mjs":   "process.stdout.write(Buffer.from([255, 10])); console.error(process.argv[2]); process.exitCode = 7",
		"l@b/b+c.mjs": "console.log(process.argv.length)",
	})
	for _, e := range examples() {
		if e.fixed {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			e.run(t, d.dir, d.socket, odd, "seven.mjs").must(t, 125, "", "/program/files/odd name.mjs")
			e.run(t, d.dir, d.socket, program, "seven.mjs", helloTrees[2], "a word").must(t, 7, "\xff\n", "a word\n")
			e.run(t, d.dir, d.socket, program, "l@b/b+c.mjs").must(t, 0, "2\n", "")
			e.run(t, d.dir, d.socket, program, "none.mjs").must(t, 125, "", "/program/entry")
			e.run(t, d.dir, d.socket, program+"/none", "none.mjs").must(t, 125, "", "none")
		})
	}
}

// TestExampleStreams: the Node.js client shows output while the program is
// still alive, which ends only because it is cancelled then.
func TestExampleStreams(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	program := filepath.Join(d.dir, "program")
	writeTree(t, program, files{"main.mjs": "console.log('first'); setInterval(() => {}, 1000)"})
	cmd := exampleCommand(t.Context(), d.dir, d.socket, "node", "examples/node/run.mjs", program, "main.mjs")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); line != "first\n" {
		t.Errorf("it printed %q, %v", line, err)
	}
	live := d.runs(t)
	if len(live) != 1 || live[0].Stage != "admitted" {
		t.Fatalf("live runs: %+v", live)
	}
	if status := d.cancel(t, live[0].RunID); status != http.StatusAccepted {
		t.Fatalf("cancelling it was answered %d", status)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	spoken{"", stderr.String(), cmd.ProcessState.ExitCode()}.must(t, 137, "", "cancelled")
}
