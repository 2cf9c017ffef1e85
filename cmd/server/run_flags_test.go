package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"confined/client"
	"confined/internal/pins"
)

// atHome is an environment with a HOME, and what a command says there.
func atHome(env ...string) (surroundings, *bytes.Buffer) {
	var out bytes.Buffer
	return surroundings{stdin: strings.NewReader(""), stdout: &out, stderr: &out, lookupEnv: func(name string) (string, bool) {
		for _, pair := range append([]string{"HOME=/home/ada"}, env...) {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}}, &out
}

func TestRunFlags(t *testing.T) {
	in, _ := atHome("CONFINED_ID=stray", "CONFINED_TIMEOUT=1s")
	o, err := parseRun([]string{"dir", "--input", "data", "--timeout=1500ms", "--max-output", "64KiB", "--exclude=*.log", "--exclude", "tmp", "--cpu-seconds=9", "--max-descriptors", "64",
		"--json", "--", "--json", "a", "--", ""}, in)
	if err != nil {
		t.Fatal(err)
	}
	if o.program != "dir" || o.input != "data" || !o.json || o.id != "" || o.socket != "/home/ada/.confined/socket" {
		t.Errorf("%+v", o)
	}
	if want := (client.Bounds{TimeoutMs: 1500, MaxOutputBytes: 64 << 10, CPUSeconds: 9, MaxDescriptors: 64}); o.bounds != want {
		t.Errorf("bounds %+v, want %+v", o.bounds, want)
	}
	if !slices.Equal(o.args, []string{"--json", "a", "--", ""}) || !slices.Equal(o.exclude, globs{"*.log", "tmp"}) {
		t.Errorf("args %q, exclude %q", o.args, o.exclude)
	}
	in, _ = atHome("CONFINED_SOCKET=/run/c/socket")
	if o, err = parseRun([]string{"-"}, in); err != nil || o.program != fromStdin || o.bounds != client.DefaultBounds() || o.socket != "/run/c/socket" {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestRunMistakes: what is wrong before anything was sent is one line, and 125.
func TestRunMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "it's.mjs")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"nothing":              {nil, "name the program's directory"},
		"only arguments":       {[]string{"--", "dir"}, "before any `--`"},
		"arguments without --": {[]string{"dir", "a"}, `unexpected argument "a": arguments of the program follow a`},
		"an unknown flag":      {[]string{"--retry", "5", "dir"}, "-retry; `confined help run`"},
		"no unit":              {[]string{"--timeout", "30", "dir"}, "as in 30s"},
		"half a millisecond":   {[]string{"--timeout", "1.5ms", "dir"}, "whole milliseconds"},
		"a size":               {[]string{"--max-output", "1MB", "dir"}, "as in 512MiB"},
		"a glob":               {[]string{"--exclude", "[a", "dir"}, "no glob"},
		"no UTF-8":             {[]string{"dir", "--", "a", "\xff"}, "argument 2 of the program is not UTF-8"},
		"a file":               {[]string{file}, "with --entry it's.mjs, or send it alone: confined run - < '" + strings.ReplaceAll(file, "'", `'\''`) + "'"},
		"nothing there":        {[]string{dir + "/none"}, "there is no such directory: "},
		"no input there":       {[]string{"--input", dir + "/none", "-"}, "--input: there is no such directory: "},
		"a file as input":      {[]string{"--input", file, "-"}, "not a directory; name the directory it is in"},
		"no pins there":        {[]string{"--pins", dir + "/none", "-"}, "--pins: "},
		"no entry":             {[]string{dir}, "--entry"},
		"a long socket":        {[]string{"--socket", "/" + strings.Repeat("x", 200), "-"}, "--socket: the path is 201 bytes long"},
		"no daemon":            {[]string{"--socket", dir + "/none", "-"}, "confined serve"},
	} {
		t.Run(name, func(t *testing.T) {
			in, out := atHome()
			if code := run(append([]string{"run"}, row.args...), in); code != exitNoRun {
				t.Errorf("exit %d", code)
			}
			if line := out.String(); !strings.HasPrefix(line, "confined run: ") || !strings.Contains(line, row.want) || strings.Count(line, "\n") != 1 {
				t.Errorf("said %q, want one line with %q", line, row.want)
			}
		})
	}
}

func TestStdinIsBounded(t *testing.T) {
	in, _ := atHome()
	o := runOptions{program: fromStdin}
	in.stdin = bytes.NewReader(make([]byte, pins.MaxSnapshotBytes))
	if job, err := o.job(in); err != nil || job.Entry != "main.mjs" || job.Program.Bytes() != pins.MaxSnapshotBytes {
		t.Errorf("64 MiB: %v", err)
	}
	in.stdin = bytes.NewReader(make([]byte, pins.MaxSnapshotBytes+1))
	if _, err := o.job(in); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("a byte more: %v", err)
	}
	o.entry = "x.cts"
	in.stdin = strings.NewReader("1")
	if job, err := o.job(in); err != nil || job.Entry != "x.cts" || !job.Program.Has("x.cts") {
		t.Errorf("named by --entry: %+v, %v", job, err)
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, command := range []string{"serve", "run", "digest", "pins", "slots", "slots release", "doctor", "version"} {
		var said []string
		for _, args := range [][]string{append([]string{"help"}, strings.Fields(command)...), append(strings.Fields(command), "--help")} {
			in, out := atHome()
			if code := run(args, in); code != exitOK {
				t.Errorf("%v: exit %d", args, code)
			}
			said = append(said, out.String())
		}
		if said[0] != said[1] || !strings.HasPrefix(said[0], "confined "+command+" ") {
			t.Errorf("%s: %s", command, said)
		}
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		new(runOptions).flags(fs)
		fs.VisitAll(func(f *flag.Flag) {
			if command == "run" && !strings.Contains(said[0], "--"+f.Name) {
				t.Errorf("the help of run leaves out --%s", f.Name)
			}
		})
	}
	if in, out := atHome(); run([]string{"walk"}, in) != exitUsage || !strings.Contains(out.String(), "confined help") {
		t.Errorf("an unknown command: %s", out)
	}
	if err := noRun(flag.ErrHelp); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}
