//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The binary as a client of the daemon: run, digest, pins and slots.

// cli is one command of the binary that talks to a daemon.
type cli struct {
	cmd            *osexec.Cmd
	stdout, stderr logBuffer
	done           chan struct{}
}

// command prepares a command line that finds d by CONFINED_SOCKET.
func (d *daemon) command(t testing.TB, args ...string) *cli {
	t.Helper()
	c := &cli{cmd: osexec.CommandContext(t.Context(), shared.binary, args...), done: make(chan struct{})}
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir, "CONFINED_SOCKET=" + d.socket}
	c.cmd.Dir = d.dir
	c.cmd.Stdout, c.cmd.Stderr = &c.stdout, &c.stderr
	return c
}

// start begins it; stdin is what it reads.
func (c *cli) start(t testing.TB, stdin string) *cli {
	t.Helper()
	if c.cmd.Stdin == nil {
		c.cmd.Stdin = strings.NewReader(stdin)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait() // judged by the exit code
	}()
	return c
}

// end waits for it.
func (c *cli) end(t testing.TB) ended {
	t.Helper()
	poll(t, func() bool { return isClosed(c.done) }, func() string { return "a command does not end: " + c.stderr.String() })
	return ended{c.cmd.ProcessState.ExitCode(), c.stdout.String(), c.stderr.String()}
}

// cli runs a command to its end.
func (d *daemon) cli(t testing.TB, stdin string, args ...string) ended {
	t.Helper()
	return d.command(t, args...).start(t, stdin).end(t)
}

// must fails unless e ended with code and its last line of stderr holds words.
func (e ended) must(t testing.TB, code int, words ...string) {
	t.Helper()
	last := e.stderr[strings.LastIndexByte(strings.TrimSuffix(e.stderr, "\n"), '\n')+1:]
	right := e.code == code
	for _, word := range words {
		right = right && strings.Contains(last, word)
	}
	if !right {
		t.Errorf("exit %d and %q, want %d and %q\nstdout %.2000s\nstderr %.2000s", e.code, last, code, words, e.stdout, e.stderr)
	}
}

// sh runs a script in which `confined` is the binary and the socket is d's.
func (d *daemon) sh(t testing.TB, script string) ended {
	t.Helper()
	c := d.command(t)
	c.cmd.Path, c.cmd.Args = "/bin/sh", []string{"sh", "-c", script}
	c.cmd.Env[0] = "PATH=" + filepath.Dir(shared.binary) + ":" + os.Getenv("PATH")
	return c.start(t, "").end(t)
}

// TestCLIStdin: the program of one file that a pipe brings.
func TestCLIStdin(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	writeTree(t, d.dir+"/p", files{"x.mjs": `console.log('hello', process.argv.slice(2)); console.error('warned'); process.exitCode = 7`})
	e := d.sh(t, "cat p/x.mjs | confined run - -- a --b")
	if e.must(t, 7, "confined: observed, attributable, exit 7, "); e.stdout != "hello [ 'a', '--b' ]\n" || !strings.HasPrefix(e.stderr, "warned\nconfined: ") {
		t.Errorf("stdout %q, stderr %q", e.stdout, e.stderr)
	}
	d.cli(t, "const a: number = 3; process.exit(a)", "run", "-", "--entry=x.ts").must(t, 3)
}

// TestCLIDirectory: a program of several files with an input, within bounds
// that are asked for; --json is what the daemon answers, byte for byte.
func TestCLIDirectory(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := d.run(t, files{"main.mjs": `import './lib/a.mjs'`, "lib/a.mjs": `import fs from 'node:fs'; process.stdout.write(fs.readFileSync('in.txt')); process.stdout.write(Buffer.from([255]))`}, "main.mjs", "one", "two words")
	r.input = files{"in.txt": "<&> grün\u2028\n"}
	r.timeoutMs, r.maxOutputBytes, r.cpuSeconds, r.maxDescriptors, r.id = 20_000, 64<<10, 9, 100, "of-mine"
	writeTree(t, d.dir+"/program", r.program)
	writeTree(t, d.dir+"/input", r.input)
	writeTree(t, d.dir+"/program", files{"notes.log": "left out", "tmp/x": "left out"})
	args := []string{"run", "program", "--input", "input", "--timeout=20s", "--max-output", "64KiB", "--cpu-seconds=9", "--max-descriptors=100", "--exclude=*.log", "--exclude=tmp"}
	e := d.cli(t, "", append(args, "--json", "--id=of-mine", "--", "one", "two words")...)
	if e.code != 0 || e.stderr != "" || strings.HasSuffix(e.stdout, "\n") {
		t.Fatalf("%+v", e)
	}
	d.mustBeRight(t, r, strict[result](t, []byte(e.stdout)))
	e = d.cli(t, "", append(args, "--", "one", "two words")...)
	if e.must(t, 0, "observed, attributable, exit 0"); e.stdout != r.input["in.txt"]+"\xff" {
		t.Errorf("streamed %q", e.stdout)
	}
	e = d.cli(t, "", append(args, "--json", "--id=of-mine")...)
	if e.must(t, 125, "run-id-used"); strict[problem](t, []byte(e.stdout)).Code != "run-id-used" {
		t.Errorf("with --json a problem is %s", e.stdout)
	}
}

// TestCLIPrintRequest: what is printed is sh, and sends what run would have sent.
func TestCLIPrintRequest(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := d.run(t, files{"main.mjs": `console.log(process.argv.length)`, "lib/a+b@c.mjs": "1"}, "main.mjs", "it's", "$HOME `id`", `"quoted" \ back`, "line\nbreak", "ü", "")
	r.input = files{"data.csv": "1,2\n"}
	r.timeoutMs, r.maxOutputBytes, r.cpuSeconds, r.maxDescriptors = 30_000, 1<<20, 30, 256
	for _, dir := range []string{"plain", ` it's, "so"; \ $x `} {
		r.id = "printed-" + digestOf([]byte(dir))[7:17] // had printing run it, the id would be taken
		writeTree(t, d.dir+"/"+dir+"/program", r.program)
		writeTree(t, d.dir+"/"+dir+"/input", r.input)
		printed := d.cli(t, "", append([]string{"run", "--print-request", "--id", r.id, "--input", dir + "/input", dir + "/program", "--"}, r.args...)...)
		if printed.code != 0 || printed.stderr != "" {
			t.Fatalf("%s: %+v", dir, printed)
		}
		e := d.sh(t, "cd /; "+printed.stdout)
		d.mustBeRight(t, r, strict[result](t, []byte(e.stdout)))
	}
	d.cli(t, "1", "run", "--print-request", "-").must(t, 125, "save it as a file")
}

// TestCLIDigest: the same as the daemon's, and a tree that is no snapshot is
// refused by path, all of it at once.
func TestCLIDigest(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	f := files{"main.mjs": "1", "lib/b.mjs": "", "@a+b/c": "three"}
	writeTree(t, d.dir+"/p", f)
	writeTree(t, d.dir+"/p", files{"x.log": "left out"})
	contentType, body := form(t, f.list())
	request := d.newRequest(t, "POST", "/v1/snapshots", bytes.NewReader(body))
	request.Header.Set("Content-Type", contentType)
	answer := d.ask(t, request)
	if e := d.cli(t, "", "digest", "--exclude=*.log", "p"); e.code != 0 || e.stdout != f.digest()+"\n" {
		t.Errorf("%+v, want %s", e, f.digest())
	}
	e := d.cli(t, "", "digest", "p", "--json", "--exclude=*.log")
	if got, want := decode[any](t, []byte(e.stdout)), decode[any](t, answer.body); text(t, got) != text(t, want) {
		t.Errorf("digest --json says %s, the daemon %s", e.stdout, answer.body)
	}
	if err := os.Symlink("main.mjs", d.dir+"/p/lib/link.mjs"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(d.dir+"/p/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"digest", "p"}, {"run", "p"}, {"run", "--input=p", "-"}} {
		e := d.cli(t, "1", args...)
		if e.code != map[string]int{"digest": 1, "run": 125}[args[0]] || !strings.Contains(e.stderr, "lib/link.mjs") || !strings.Contains(e.stderr, "pipe") || e.stdout != "" {
			t.Errorf("%v: %+v", args, e)
		}
	}
	d.cli(t, "", "run", "p", "--exclude=link.mjs", "--exclude=pipe").must(t, 0)
}

// TestCLIPins: a lock file holds what a run pins, is the same each time, and what
// has changed since is told in words.
func TestCLIPins(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	e := d.sh(t, "confined pins > pins.json && confined pins | cmp - pins.json && confined pins --diff pins.json && echo 'process.exit(4)' | confined run --pins pins.json -")
	if e.must(t, 4); !strings.HasPrefix(e.stdout, "the pins are the same: Node "+nodeVersion) {
		t.Errorf("%+v", e)
	}
	content, err := os.ReadFile(d.dir + "/pins.json")
	if err != nil {
		t.Fatal(err)
	}
	type lock struct{ Runtime, Profile struct{ Digest string } }
	runtime, profile := d.pins(t)
	if l := decode[lock](t, content); l.Runtime.Digest != runtime || l.Profile.Digest != profile || !json.Valid(content) || !bytes.HasSuffix(content, []byte("}\n")) {
		t.Errorf("%s", content)
	}

	// Another daemon, whose Node is reached by a link.
	link := d.dir + "/node"
	if err := os.Symlink(shared.node, link); err != nil {
		t.Fatal(err)
	}
	other := startDaemon(t, withNode(link))
	e = other.cli(t, "", "pins", "--diff", d.dir+"/pins.json")
	if e.code != 1 || !strings.Contains(e.stdout, "alias: the link "+link+" is new, and leads to "+shared.node+"\n") || strings.Count(e.stdout, "\n") != 2 {
		t.Errorf("%+v", e)
	}
	e = other.cli(t, "", "pins", "--json", "--diff", d.dir+"/pins.json")
	if r := decode[struct {
		Same    bool
		Changes []struct{ Kind, Text string }
	}](t, []byte(e.stdout)); e.code != 1 || r.Same || len(r.Changes) != 1 || r.Changes[0].Kind != "alias" {
		t.Errorf("%+v", e)
	}
	other.cli(t, "1", "run", "--pins", d.dir+"/pins.json", "-").must(t, 125, "no run: runtime-mismatch", "(--diff LOCKFILE says what changed)")
	d.cli(t, "", "pins", "--socket", d.dir+"/none").must(t, 125, "confined serve")
	d.cli(t, "", "pins", "--diff", d.dir+"/none").must(t, 125, "no such file")
}
