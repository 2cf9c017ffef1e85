package e2e

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// notNode is something else than the Node that confined is proven with.
type notNode struct {
	name string
	make func(t *testing.T, at string) (node string) // in the folder at
	code string                                      // of status: the reason why no run can start
	says []string                                    // by doctor, the log, /v1/status, /v1/runtime and a run alike
	cure func(t *testing.T, node string) string      // does what is said, and gives the Node that comes of it; nil: the official one
}

// fakeNode compiles a program that knows nothing but a version.
func fakeNode(t *testing.T, at, version string) string {
	t.Helper()
	source, node := filepath.Join(at, "node.c"), filepath.Join(at, "node")
	if err := os.WriteFile(source, []byte(`#include <stdio.h>`+"\n"+`int main(void) { return puts("`+version+`") < 0; }`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := osexec.Command("cc", "-o", node, source).CombinedOutput(); err != nil {
		t.Fatalf("no C compiler made a fake Node: install gcc (%v)\n%s", err, out)
	}
	if err := os.Chmod(node, 0o755); err != nil {
		t.Fatal(err)
	}
	return node
}

// patch changes bytes of a file; from is past its end to add some.
func patch(t *testing.T, path string, from int64, with string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(with), from)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

const official = "name an official Node with --node ("

func notNodes() []notNode {
	return []notNode{
		{
			name: "a version that is not proven", code: "runtime-unproven", says: []string{"version 20.1.0", official},
			make: func(t *testing.T, at string) string { return fakeNode(t, at, "v20.1.0") },
		},
		{
			// Debian's package: a build that names files of JavaScript in its configuration.
			name: "a build with JavaScript outside", code: "runtime-unavailable",
			says: []string{"was built to load parts of Node as JavaScript from outside its binary (NODE_SHARED_BUILTIN_… in process.config), as distributions' packages are", official},
			make: func(t *testing.T, at string) string {
				node := fakeNode(t, at, "v18.20.4")
				patch(t, node, 1<<20, `"defines": ["NODE_SHARED_BUILTIN_UNDICI_UNDICI_PATH=/usr/share/nodejs/undici/undici-fetch.js"]`)
				return node
			},
		},
		{
			name: "a version manager's shim", code: "runtime-unavailable", says: []string{"is a script and not the Node binary", "give --node the path that `node -p process.execPath` prints"},
			make: func(t *testing.T, at string) string {
				shim := filepath.Join(at, "node")
				if err := os.WriteFile(shim, []byte("#!/bin/sh\nexec "+shared.node+" \"$@\"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
				return shim
			},
			cure: func(t *testing.T, node string) string {
				out, err := osexec.Command(node, "-p", "process.execPath").Output()
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimSpace(string(out))
			},
		},
		{
			name: "a Node that is not there", code: "runtime-unavailable", says: []string{"/none/node is not there", "give --node the path that `node -p process.execPath` prints"},
			make: func(t *testing.T, at string) string { return at + "/none/node" },
		},
		{
			name: "the folder of a Node", code: "runtime-unavailable", says: []string{"is a directory", "name the binary: --node "},
			make: func(t *testing.T, at string) string { return filepath.Dir(filepath.Dir(shared.node)) },
			cure: func(t *testing.T, node string) string { return node + "/bin/node" },
		},
		{
			name: "a Node for another machine", code: "runtime-unavailable", says: []string{"is built for arm64, and this host is amd64", official},
			make: func(t *testing.T, at string) string {
				node := fakeNode(t, at, "v26.8.1")
				patch(t, node, 18, "\xb7\x00") // e_machine
				return node
			},
		},
		{
			name: "a Node that may not be executed", code: "runtime-unavailable", says: []string{"may not be executed by uid ", "(mode 0644)", "chmod a+rx "},
			make: func(t *testing.T, at string) string {
				node := fakeNode(t, at, "v20.1.0")
				if err := os.Chmod(node, 0o644); err != nil {
					t.Fatal(err)
				}
				return node
			},
			cure: func(t *testing.T, node string) string { // then it is executed, and turns out to be another version
				if out, err := osexec.Command("chmod", "a+rx", node).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				p := newPlaces(t)
				if said := confined(t, p, nil, doctorArgs(p, "--node="+node)...).stdout; !strings.Contains(said, "version 20.1.0") {
					t.Errorf("after chmod: %s", said)
				}
				return shared.node
			},
		},
		{
			name: "a program that is no Node", code: "runtime-unavailable", says: []string{"is no Node that runs here", `printed "26.8.1\n"`},
			make: func(t *testing.T, at string) string { return fakeNode(t, at, "26.8.1") },
		},
	}
}

// TestNotNode: every wrong Node is named with the same cure wherever somebody
// looks, and none of them is ever run as a program.
func TestNotNode(t *testing.T) {
	t.Parallel()
	for _, row := range notNodes() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.check(t)
		})
	}
}

func (row notNode) check(t *testing.T) {
	p := newPlaces(t)
	node := row.make(t, p.dir)
	d := startDaemonIn(t, p, withNode(node), unready())
	d.saysEverywhere(t, row.code, row.says, confined(t, p, nil, doctorArgs(p, "--node="+node)...))
	cured := shared.node
	if row.cure != nil {
		cured = row.cure(t, node)
	}
	if real, err := filepath.EvalSymlinks(cured); err != nil || real != shared.node {
		t.Errorf("what is said leads to %s: %v", cured, err)
	}
}

// doctorArgs is a command line of doctor in these places.
func doctorArgs(p places, more ...string) []string {
	return append([]string{"doctor", "--root=" + p.root, "--state=" + p.state, "--socket=" + p.socket}, more...)
}

// saysEverywhere fails unless doctor (which ended so), the log, /v1/status,
// /v1/runtime and a run that is not started say the same words about the one
// reason why no run can start.
func (d *daemon) saysEverywhere(t *testing.T, code string, words []string, doctor ended) {
	t.Helper()
	if doctor.code != 1 || !strings.Contains(doctor.stdout, "This host is not able") {
		t.Errorf("doctor ended with %d", doctor.code)
	}
	d.mustBeReady(t, map[string][]string{code: words})
	want := map[string]string{"runtime-unproven": "unsupported-host", "unsupported-host": "unsupported-host", "runtime-unavailable": "runtime-unavailable"}[code]
	p := d.get(t, "/v1/runtime").problem(t)
	if p.Status != 503 || p.Code != want {
		t.Errorf("/v1/runtime: %d %s", p.Status, p.Code)
	}
	r := runRequest{program: files{"main.mjs": ""}, entry: "main.mjs", timeoutMs: 1, cpuSeconds: 1, maxDescriptors: 64, runtime: "sha256:" + strings.Repeat("0", 64)}
	r.profile = decode[struct{ Digest string }](t, d.get(t, "/v1/profile").body).Digest
	run, _, _ := d.postRun(t, r)
	if reason := map[string]string{"runtime-unavailable": "runtime-mismatch"}[want]; run.Status != "not-started" || run.Reason != orElse(reason, "unsupported-host") {
		t.Errorf("a run: %s %s", run.Status, run.Reason)
	}
	for where, said := range map[string]string{"doctor": doctor.stdout, "the log": d.startLog(t), "/v1/runtime": p.Detail, "a run": run.Message} {
		for _, w := range words {
			if !strings.Contains(said, w) {
				t.Errorf("%s does not say: %s\nbut: %s", where, w, said)
			}
		}
	}
}

// startLog is what the daemon logged about no run being able to start.
func (d *daemon) startLog(t *testing.T) (detail string) {
	t.Helper()
	poll(t, func() bool {
		for line := range strings.Lines(d.log.String()) {
			if strings.Contains(line, `"no run can start"`) {
				detail += decode[struct{ Detail string }](t, []byte(line)).Detail + "\n"
			}
		}
		return detail != ""
	}, func() string { return "the log does not say that no run can start: " + d.log.tail() })
	return detail
}

// TestNoNode: without a Node in PATH, and with a word that is none there, serve
// says how to get one.
func TestNoNode(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	places := []string{"--root=" + p.root, "--state=" + p.state, "--socket=" + p.socket}
	for _, row := range []struct {
		env, args, says []string
	}{
		{[]string{"PATH=" + p.dir}, nil, []string{"there is no node in PATH", official}},
		{nil, []string{"--node=no-such-node"}, []string{"--node no-such-node: there is no such program in PATH", "name the file, as in --node /path/to/node"}},
	} {
		mustRefuse(t, confined(t, p, row.env, append(append([]string{"serve"}, places...), row.args...)...), 1, row.says...)
		doctor := confined(t, p, row.env, append(append([]string{"doctor"}, places...), row.args...)...)
		for _, w := range row.says {
			if doctor.code != 1 || !strings.Contains(doctor.stdout, w) {
				t.Errorf("doctor does not say: %s\nbut: %s", w, doctor.stdout)
			}
		}
	}
}
