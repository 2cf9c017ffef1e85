package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// settings parses a serve command line in an environment, whole.
func settings(t *testing.T, args []string, env map[string]string) (config, string, error) {
	t.Helper()
	var out bytes.Buffer
	in := surroundings{stdout: &out, stderr: &out, lookupEnv: func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}}
	var c config
	fs := newFlagSet("serve")
	c.serveFlags(fs)
	err := parse(fs, args, in)
	if err == nil {
		err = c.complete(in)
	}
	return c, out.String(), err
}

func TestDefaults(t *testing.T) {
	c, _, err := settings(t, nil, map[string]string{"HOME": "/home/ada"})
	if err != nil {
		t.Fatal(err)
	}
	if c.root != "/home/ada/.confined/root" || c.socket != "/home/ada/.confined/socket" || c.state != "/home/ada/.confined/state" {
		t.Errorf("places: %s %s %s", c.root, c.socket, c.state)
	}
	if c.maxRetained != 8 || c.queue != 256 || c.uploadMemory != 512<<20 || c.drain != 30*time.Second || c.logFormat != "auto" {
		t.Errorf("%+v", c)
	}
	if c.workers < 1 || c.workers > c.maxRetained {
		t.Errorf("workers %d", c.workers)
	}
	if c.metricsListen.IsValid() {
		t.Error("a metrics listener that nobody asked for")
	}
}

func TestFlagBeatsEnvironmentBeatsDefault(t *testing.T) {
	env := map[string]string{
		"HOME": "/home/ada", "CONFINED_MAX_RETAINED": "4", "CONFINED_QUEUE": "10", "CONFINED_UPLOAD_MEMORY": "64MiB",
		"CONFINED_DRAIN": "5s", "CONFINED_METRICS_LISTEN": "127.0.0.1:9464", "CONFINED_ROOT": "/srv/root", "CONFINED_STATE": "",
	}
	c, _, err := settings(t, []string{"--queue", "20", "-socket=/run/c/socket"}, env)
	if err != nil {
		t.Fatal(err)
	}
	if c.queue != 20 || c.maxRetained != 4 || c.uploadMemory != 64<<20 || c.drain != 5*time.Second {
		t.Errorf("%+v", c)
	}
	if c.metricsListen.String() != "127.0.0.1:9464" || c.root != "/srv/root" || c.socket != "/run/c/socket" || c.state != "/home/ada/.confined/state" {
		t.Errorf("%+v", c)
	}
}

func TestEveryFlagHasAVariable(t *testing.T) {
	var c config
	fs := newFlagSet("serve")
	c.serveFlags(fs)
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name+" "+variable(f.Name)) })
	want := "drain CONFINED_DRAIN, log-format CONFINED_LOG_FORMAT, max-retained CONFINED_MAX_RETAINED, metrics-listen CONFINED_METRICS_LISTEN, " +
		"node CONFINED_NODE, queue CONFINED_QUEUE, require-receipt CONFINED_REQUIRE_RECEIPT, root CONFINED_ROOT, socket CONFINED_SOCKET, state CONFINED_STATE, " +
		"upload-memory CONFINED_UPLOAD_MEMORY, workers CONFINED_WORKERS"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestMistakesAreOneLineAndExitTwo(t *testing.T) {
	home := map[string]string{"HOME": "/home/ada"}
	for name, row := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"unknown flag":            {[]string{"--colour"}, home, "-colour"},
		"unsandboxed is no flag":  {[]string{"--no-sandbox"}, home, "-no-sandbox"},
		"not a number":            {[]string{"--workers", "many"}, home, "many"},
		"a stray argument":        {[]string{"now"}, home, `unexpected argument "now"`},
		"no retained slots":       {[]string{"--max-retained", "0"}, home, "--max-retained 0 is not within 1 to 64"},
		"too many retained":       {[]string{"--max-retained", "65"}, home, "--max-retained 65"},
		"more workers than slots": {[]string{"--workers", "9"}, home, "--workers 9 is not within 1 to --max-retained, 8"},
		"negative workers":        {[]string{"--workers", "-1"}, home, "--workers -1"},
		"no queue":                {[]string{"--queue", "0"}, home, "--queue 0"},
		"a bare unit":             {[]string{"--upload-memory", "MiB"}, home, "whole number of bytes"},
		"an ambiguous unit":       {[]string{"--upload-memory", "512MB"}, home, "as in 512MiB"},
		"too little memory":       {[]string{"--upload-memory", "1023KiB"}, home, "at least 1MiB"},
		"more than memory":        {[]string{"--upload-memory", "9223372036854775807GiB"}, home, "no more than memory can be"},
		"a negative drain":        {[]string{"--drain", "-1s"}, home, "--drain -1s is not within 0s to 15m0s"},
		"a drain without unit":    {[]string{"--drain", "30"}, home, "drain"},
		"metrics for everybody":   {[]string{"--metrics-listen", "0.0.0.0:9464"}, home, "0.0.0.0 is not a loopback address"},
		"metrics on a name":       {[]string{"--metrics-listen", "localhost:9464"}, home, "as in 127.0.0.1:9464"},
		"metrics on a port":       {[]string{"--metrics-listen", ":9464"}, home, "as in 127.0.0.1:9464"},
		"a log format":            {[]string{"--log-format", "xml"}, home, `--log-format "xml"`},
		"a wrong variable":        {nil, map[string]string{"HOME": "/h", "CONFINED_WORKERS": "x"}, "CONFINED_WORKERS"},
		"no HOME":                 {nil, nil, "HOME is not an absolute path"},
		"a relative HOME":         {nil, map[string]string{"HOME": "ada"}, "HOME is not an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := settings(t, row.args, row.env)
			var stderr bytes.Buffer
			if code := exitCode("serve", err, &stderr); code != exitUsage {
				t.Fatalf("exit code %d, want %d: %v", code, exitUsage, err)
			}
			line := stderr.String()
			if !strings.Contains(line, row.want) || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "confined serve: ") {
				t.Errorf("said %q, want one line with %q", line, row.want)
			}
		})
	}
}

func TestPlacesNeedNoHomeWhenAllAreGiven(t *testing.T) {
	if _, _, err := settings(t, []string{"--root=/a/root", "--socket=/a/socket", "--state=/a/state"}, nil); err != nil {
		t.Error(err)
	}
}

func TestHelpListsEveryFlagWithItsVariable(t *testing.T) {
	_, out, err := settings(t, []string{"--help"}, nil)
	if !errors.Is(err, flag.ErrHelp) || exitCode("serve", err, os.Stderr) != exitOK {
		t.Fatal(err)
	}
	for _, want := range []string{"--root", "CONFINED_ROOT", "--upload-memory", "(default 512MiB)", "CONFINED_LOG_FORMAT"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{"1MiB": 1 << 20, "1048576": 1 << 20, "2048KiB": 2 << 20, "3GiB": 3 << 30} {
		var b byteSize
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%s: %d, %v; want %d", text, b, err, want)
		}
		var again byteSize
		if err := again.Set(b.String()); err != nil || again != b {
			t.Errorf("%s prints as %s, which reads as %d, %v", text, b.String(), again, err)
		}
	}
}

func TestFindNode(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "node"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	c := config{}
	if err := c.findNode(); err != nil || c.node != filepath.Join(dir, "node") {
		t.Errorf("from PATH: %s, %v", c.node, err)
	}
	c = config{node: "sub/node"}
	here, _ := os.Getwd()
	if err := c.findNode(); err != nil || c.node != filepath.Join(here, "sub/node") {
		t.Errorf("relative: %s, %v", c.node, err)
	}
	c = config{node: "node-of-nobody"}
	if err := c.findNode(); err == nil || !strings.Contains(err.Error(), "no such program in PATH") {
		t.Errorf("unknown word: %s, %v", c.node, err)
	}
	t.Setenv("PATH", t.TempDir())
	c = config{}
	if err := c.findNode(); !errors.Is(err, errNoNode) {
		t.Errorf("empty PATH: %s, %v", c.node, err)
	}
}
