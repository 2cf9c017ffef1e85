//go:build linux

package e2e

import (
	"os"
	"strings"
	"testing"
)

// Each exit code of `confined run`, from its real cause.

// TestCLIExitCodes: the program's own code, or 128 and its signal; 125 where
// there was no run.
func TestCLIExitCodes(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	writeTree(t, d.dir+"/two", files{"main.mjs": "1", "main.ts": "1"})
	_, profile := d.pins(t)
	pins := d.cli(t, "", "pins").stdout
	writeTree(t, d.dir, files{"pins.json": pins, "stale.json": strings.ReplaceAll(pins, profile, digestOf([]byte("another")))})
	for name, row := range map[string]struct {
		source string
		args   []string
		code   int
		words  []string
	}{
		"exit 1":           {"throw 1", nil, 1, []string{"observed, attributable, exit 1, "}},
		"exit 125":         {"process.exit(125)", nil, 125, []string{"observed, attributable, exit 125, "}},
		"SIGTERM":          {"process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)", nil, 143, []string{"SIGTERM, not from the daemon"}},
		"the time limit":   {"setInterval(() => {}, 1000)", []string{"--timeout=5s"}, 137, []string{"attributable, stopped by the daemon: timeout, SIGKILL, "}},
		"the CPU limit":    {"for (;;);", []string{"--cpu-seconds=1"}, 137, []string{"SIGKILL, not from the daemon, ", " ms of ", "1 s "}},
		"the output limit": {"for (;;) console.log('x'.repeat(4096))", []string{"--max-output=1KiB"}, 137, []string{"stopped by the daemon: output-limit", "cut to 1024"}},
		"cut output":       {"process.stdout.write('x'.repeat(5)); setInterval(() => {}, 1000)", []string{"--max-output=4"}, 137, []string{"5 bytes of output, cut to 4"}},

		"a bound that is none": {"1", []string{"--timeout=0s"}, 125, []string{"/timeoutMs"}},
		"an id that is none":   {"1", []string{"--id=-"}, 125, []string{"/id"}},
		"an entry type":        {"1", []string{"--entry=main.txt"}, 125, []string{"/program/entry"}},
		"pins of another":      {"1", []string{"--pins=stale.json"}, 125, []string{"no run: profile-mismatch"}},
		"no daemon":            {"1", []string{"--socket=none"}, 125, []string{"confined serve"}},
		"a wrong flag":         {"1", []string{"--no-sandbox"}, 125, []string{"-no-sandbox"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d.cli(t, row.source, append(append([]string{"run", "--pins=pins.json"}, row.args...), "-")...).must(t, row.code, row.words...)
		})
	}
	d.cli(t, "", "run", "two").must(t, 125, "main.mjs and main.ts", "--entry")
	d.cli(t, "", "run", "two", "--entry=main.ts").must(t, 0)
	d.cli(t, "", "run", "two", "--entry=none.ts").must(t, 125, "/program/entry")
}

// TestCLINotAttributable: a file appears in the slot while the program runs. Its
// own exit code is then not passed on, and the slot is kept until it is released.
func TestCLINotAttributable(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	c, pid := d.liveCLI(t, "tampered")
	if err := os.WriteFile(d.root+"/slot-0/input/planted", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t, pid)
	c.end(t).must(t, 126, "observed, NOT attributable (namespace-changed: ", "exit 0", "kept: "+d.root+"/slot-0 (namespace-changed: ")

	e := d.cli(t, "", "slots")
	if row := strings.Fields(strings.Split(e.stdout, "\n")[1]); e.code != 0 || row[0] != "slot-0" || row[1] != "quarantined" || !strings.Contains(e.stdout, "namespace-changed: ") ||
		!strings.HasSuffix(e.stdout, " free in "+d.root+"\n") {
		t.Errorf("%+v", e)
	}
	e = d.cli(t, "", "slots", "--json")
	if got := strict[slots](t, []byte(e.stdout)); e.code != 0 || text(t, got) != text(t, d.slots(t)) {
		t.Errorf("%+v", e)
	}
	releaseByCommand(t, d)
}

// releaseByCommand releases slot-0, which holds a planted file, and nothing before
// somebody says so.
func releaseByCommand(t *testing.T, d *daemon) {
	t.Helper()
	before := tree(t, d.root)
	d.cli(t, "y\n", "slots", "release", "slot-0").must(t, 2, "--yes")
	d.cli(t, "", "slots", "release").must(t, 2, "as in slot-0")
	d.cli(t, "", "slots", "release", "--yes", "slot-1").must(t, 1, "slot-1 is free: there is nothing to release")
	mustBeUntouched(t, d, before)

	inside := d.command(t)
	inside.cmd.Path, inside.cmd.Args, inside.cmd.Dir = "/bin/sh", []string{"sh", "-c", "echo in; read x"}, d.root+"/slot-0/input"
	stdin, err := inside.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	inside.start(t, "")
	poll(t, func() bool { return inside.stdout.String() == "in\n" }, func() string { return "no process uses the slot" })
	d.cli(t, "", "slots", "release", "--yes", "slot-0").must(t, 1, "slot-busy")
	mustBeUntouched(t, d, before)
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	inside.end(t)

	e := d.cli(t, "", "slots", "release", "slot-0", "--yes")
	if e.code != 0 || !strings.HasSuffix(e.stdout, "slot-0 is removed\n") || !strings.Contains(e.stdout, "quarantined") || !strings.Contains(e.stdout, "\nfiles ") {
		t.Errorf("%+v", e)
	}
	if left := d.rootEntries(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestCLIUnknown: the daemon dies while a program runs.
func TestCLIUnknown(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	d := bootDaemon(t, p, nil)
	t.Cleanup(func() { d.end(t) })
	for _, flags := range [][]string{nil, {"--json"}} {
		c, _ := d.liveCLI(t, "orphan", flags...)
		d.kill9(t)
		e := c.end(t)
		if e.must(t, 127, "confined: UNKNOWN: ", "GET /v1/runs", "Do not send it again blindly"); e.stdout != "" {
			t.Errorf("stdout %q", e.stdout)
		}
		d = d.next(t, 1)
		d.clear(t)
	}
}
