package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const endless = "setInterval(() => {}, 1000)\n"

func TestServeAnswersAndStops(t *testing.T) {
	d := start(t, newPlaces(t), "--metrics-listen", "127.0.0.1:0")
	d.await(`"ready"`)
	if status, body := d.get("/readyz"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	got := <-d.run("said", "console.log('secret-of-the-program')\n")
	if got.status != http.StatusOK || !strings.Contains(got.body, `"status":"observed"`) || !strings.Contains(got.body, "secret-of-the-program") {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{`confined_runs_total{reason="",status="observed"} 1`, `confined_slots{state="free"} 8`, `confined_ready{reason="draining"} 1`} {
		if _, body := d.get("/metrics"); !strings.Contains(body, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	checkMetricsListener(t, d)
	if code := d.stop(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	log, _ := d.log.now()
	if strings.Contains(log, "secret-of-the-program") || !strings.Contains(log, `"msg":"run settled","runId":"said","status":"observed"`) {
		t.Errorf("log:\n%s", log)
	}
	nothingLeft(t, d.places)
}

// TestStoppedWhileItLooks: a daemon that is stopped in the middle of its first
// look at Node leaves nothing of the confined version run.
func TestStoppedWhileItLooks(t *testing.T) {
	d := start(t, newPlaces(t))
	for deadline := time.Now().Add(30 * time.Second); len(d.places.scratch()) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("Node was never asked for its version")
		}
	}
	if code := d.stop(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	nothingLeft(t, d.places)
}

// TestOptionsOfEverythingIsAnswered like anything else that is not there, and
// not by the HTTP server itself.
func TestOptionsOfEverythingIsAnswered(t *testing.T) {
	d := start(t, newPlaces(t))
	conn, err := net.Dial("unix", d.places.socket())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: confined\r\nConnection: close\r\n\r\n")
	text, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(text), "404 Not Found") || !strings.Contains(string(text), "Confined-Instance: ") {
		t.Errorf("%v: %s", err, text)
	}
}

// checkMetricsListener asks the loopback listener for its one resource.
func checkMetricsListener(t *testing.T, d *running) {
	t.Helper()
	log, _ := d.log.now()
	found := regexp.MustCompile(`"metrics":"(127\.0\.0\.1:[0-9]+)"`).FindStringSubmatch(log)
	if found == nil {
		t.Fatalf("no address of the metrics in\n%s", log)
	}
	for path, want := range map[string]int{"/metrics": 200, "/v1/status": 404, "/": 404} {
		answer, err := http.Get("http://" + found[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
	}
}

// TestDrainWaits: the run that is alive finishes, the one that waits gets 503.
func TestDrainWaits(t *testing.T) {
	d := start(t, newPlaces(t), "--workers", "1")
	alive := d.run("alive", "setTimeout(() => console.log('done'), 1500)\n")
	d.until("/v1/slots", `"running"`)
	waits := d.run("waits", endless)
	d.until("/v1/status", `"queue":{"limit":256,"now":1}`)
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := <-waits; got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, `"code":"draining"`) {
		t.Errorf("the one that waited: %+v", got)
	}
	if status, body := d.get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "draining") {
		t.Errorf("readiness: %d %s", status, body)
	}
	if got := <-alive; got.status != http.StatusOK || !strings.Contains(got.body, `"data":"done\n"`) {
		t.Errorf("the one that was alive: %+v", got)
	}
	if code := d.stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	nothingLeft(t, d.places)
}

// TestDrainCancels: when the bound has passed, or a second signal came, runs that are left are cancelled and answered.
func TestDrainCancels(t *testing.T) {
	for name, row := range map[string]struct {
		drain   string
		signals []os.Signal
	}{
		"the bound passed": {"100ms", []os.Signal{syscall.SIGTERM}},
		"a second signal":  {"10m", []os.Signal{syscall.SIGTERM, syscall.SIGINT}},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t, newPlaces(t), "--drain", row.drain)
			endless := d.run("endless", endless)
			d.until("/v1/slots", `"running"`)
			if code := d.stop(row.signals...); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			got := <-endless
			if got.status != http.StatusOK || !strings.Contains(got.body, `"stopped":"cancelled"`) && !strings.Contains(got.body, `"reason":"aborted"`) {
				t.Errorf("%+v", got)
			}
			nothingLeft(t, d.places)
		})
	}
}

// TestKilledDaemonLeavesAStaleSocketAndALeftover: the next one replaces the first, and counts the second.
func TestKilledDaemonLeavesAStaleSocketAndALeftover(t *testing.T) {
	p := newPlaces(t)
	first := start(t, p)
	lost := first.run("lost", endless)
	first.until("/v1/slots", `"running"`)
	first.stop(syscall.SIGKILL)
	if got := <-lost; got.err == nil {
		t.Errorf("an answer from the dead: %+v", got)
	}
	second := start(t, p)
	second.await("found in the root: counted, not touched")
	if _, body := second.get("/v1/slots"); !strings.Contains(body, `"leftover"`) || !strings.Contains(body, `"counted":1`) {
		t.Error(body)
	}
	if code := second.stop(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if missing(filepath.Join(p.root(), "slot-0")) {
		t.Error("the leftover was touched")
	}
}

func TestServeRefuses(t *testing.T) {
	taken := newPlaces(t)
	start(t, taken)
	open, inTheWay, inside := newPlaces(t), newPlaces(t), newPlaces(t)
	if err := os.Mkdir(open.root(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(inTheWay.socket(), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a second daemon":       {taken.args(), exitNo, "another daemon has " + taken.socket()},
		"an open root":          {open.args(), exitNo, "chmod 700"},
		"something in the way":  {inTheWay.args(), exitNo, "is in the way and is not a socket"},
		"a root on tmpfs":       {append(newPlaces(t).args(), "--root", tmpfsDir(t)), exitNo, "tmpfs"},
		"a relative root":       {append(newPlaces(t).args(), "--root", "root"), exitUsage, "not absolute"},
		"state inside the root": {append(inside.args(), "--state", inside.root()+"/state"), exitUsage, "inside the root"},
		"a path too long":       {append(newPlaces(t).args(), "--socket", "/tmp/"+strings.Repeat("s", 120)), exitNo, "choose a shorter one"},
		"everybody's place":     {append(newPlaces(t).args(), "--socket", "/tmp/confined-test-socket"), exitNo, "name a directory of its own"},
		"no place at all":       {append(newPlaces(t).args(), "--socket", "/dev/null/socket"), exitNo, "--socket: "},
		"a bad flag":            {append(newPlaces(t).args(), "--workers", "99"), exitUsage, "--workers 99"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := confined(t, append([]string{"serve"}, row.args...)...)
			if code != row.code || !strings.Contains(out, row.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, row.code, row.want, out)
			}
			if strings.Count(out, "\n") != 1 {
				t.Errorf("more than one line:\n%s", out)
			}
		})
	}
}

// tmpfsDir is a private directory on tmpfs, which every Linux has at /dev/shm.
func tmpfsDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "confined-test-")
	if err != nil {
		t.Fatalf("a test needs a writable /dev/shm: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestAShimKeepsTheDaemonUp: what is unfit about Node is named where people look.
func TestAShimKeepsTheDaemonUp(t *testing.T) {
	p := newPlaces(t)
	p.node = filepath.Join(p.dir, "node")
	if err := os.WriteFile(p.node, []byte("#!/bin/sh\nexec node \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := start(t, p)
	d.await("no run can start")
	if status, body := d.get("/v1/status"); status != http.StatusOK || !strings.Contains(body, `"code":"runtime-unavailable"`) || !strings.Contains(body, p.node) {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := d.get("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readiness %d", status)
	}
	if code := d.stop(syscall.SIGINT); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestCommands(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":           {nil, exitUsage, "confined serve"},
		"help":              {[]string{"help"}, exitOK, "confined doctor"},
		"unknown":           {[]string{"start"}, exitUsage, `there is no command "start"`},
		"version":           {[]string{"version"}, exitOK, "boundary confined-linux/1 sha256:"},
		"version flag":      {[]string{"--version"}, exitOK, "confined " + release},
		"version as JSON":   {[]string{"version", "--json"}, exitOK, `"profileDigest": "sha256:`},
		"a word too many":   {[]string{"version", "now"}, exitUsage, "unexpected argument"},
		"serve help":        {[]string{"serve", "--help"}, exitOK, "CONFINED_MAX_RETAINED"},
		"doctor wrong flag": {[]string{"doctor", "--workers=1"}, exitUsage, "-workers"},
		"doctor no HOME":    {[]string{"doctor"}, exitUsage, "HOME is not an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := confined(t, row.args...)
			if code != row.code || !strings.Contains(out, row.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, row.code, row.want, out)
			}
		})
	}
}
