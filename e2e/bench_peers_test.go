package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"
)

// Other ways to confine a program. Each takes part where PATH has it: nothing is
// installed here.

// bubblewrap is j as a person would confine it with bwrap: no namespace is
// shared, and there is nothing but the system's libraries, Node.js and the files.
func (d disk) bubblewrap(*testing.B) (runner, error) {
	bwrap, err := osexec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("bwrap is not in PATH")
	}
	args := []string{"--unshare-all", "--die-with-parent", "--new-session", "--clearenv"}
	for _, dir := range []string{"/usr", "/lib", "/lib64"} {
		args = append(args, "--ro-bind-try", dir, dir)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/home",
		"--ro-bind", shared.node, "/node", "--ro-bind", d.dir+"/program", "/program", "--ro-bind", d.dir+"/input", "/input",
		"--setenv", "LC_ALL", "C", "--setenv", "TZ", "UTC", "--setenv", "HOME", "/home", "--setenv", "TMPDIR", "/home",
		"--setenv", "OPENSSL_CONF", "/dev/null", "--chdir", "/input", "/node", "/program/"+d.job.entry)
	return tried(func() ([]part, error) {
		return timed(func() error { return d.job.yields(osexec.Command(bwrap, args...)) })
	})
}

// tried is run, once it has worked.
func tried(run runner) (runner, error) {
	_, err := run()
	return run, err
}

// judgeMounts is what a container of go-judge has: as its own list, less what
// Node.js does not need, and Node.js.
const judgeMounts = `mount:
  - {type: bind, source: /usr, target: /usr, readonly: true}
  - {type: bind, source: /lib, target: /lib, readonly: true}
  - {type: bind, source: /lib64, target: /lib64, readonly: true}
  - {type: bind, source: %s, target: /node, readonly: true}
  - {type: bind, source: /dev/null, target: /dev/null}
  - {type: bind, source: /dev/urandom, target: /dev/urandom}
  - {type: tmpfs, target: /w, data: "size=128m,nr_inodes=4k"}
  - {type: tmpfs, target: /tmp, data: "size=128m,nr_inodes=4k"}
proc: true
workDir: /w
hostName: judge
domainName: judge
uid: 1536
gid: 1536
`

// goJudge is j by github.com/criyle/go-judge over its HTTP API, with its program
// in the request.
func (d disk) goJudge(b *testing.B) (runner, error) {
	path, err := osexec.LookPath("go-judge")
	if err != nil {
		return nil, errors.New("go-judge is not in PATH")
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	mounts := d.dir + "/mount.yaml"
	if err := os.WriteFile(mounts, fmt.Appendf(nil, judgeMounts, filepath.Dir(shared.node)), 0o600); err != nil {
		return nil, err
	}
	judge := osexec.Command(path, "-http-addr", address, "-mount-conf", mounts, "-silent")
	judge.Dir = d.dir
	if err := judge.Start(); err != nil {
		return nil, err
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = judge.Wait()
	}()
	b.Cleanup(func() {
		_ = judge.Process.Kill()
		<-exited
	})
	poll(b, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil || isClosed(exited)
	}, func() string { return "go-judge does not listen" })
	return tried(d.judged("http://" + address + "/run"))
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// judged posts the job to a go-judge.
func (d disk) judged(url string) runner {
	copyIn := map[string]any{}
	for _, f := range d.job.program.list() {
		copyIn[f.path] = map[string]any{"content": f.content}
	}
	body, _ := json.Marshal(map[string]any{"cmd": []any{map[string]any{ // of maps and strings alone
		"args":     []string{"/node/node", d.job.entry},
		"env":      []string{"LC_ALL=C", "TZ=UTC", "HOME=/tmp", "TMPDIR=/tmp", "OPENSSL_CONF=/dev/null"},
		"files":    []any{map[string]any{"content": ""}, map[string]any{"name": "stdout", "max": 1 << 20}, map[string]any{"name": "stderr", "max": 1 << 20}},
		"cpuLimit": 60e9, "clockLimit": 60e9, "memoryLimit": 4 << 30, "procLimit": 128, "copyIn": copyIn,
	}}})
	var client http.Client
	return func() ([]part, error) {
		var text []byte
		parts, err := timed(func() error {
			response, err := client.Post(url, "application/json", bytes.NewReader(body))
			if err != nil {
				return err
			}
			defer response.Body.Close()
			text, err = io.ReadAll(response.Body)
			return err
		})
		var got []struct{ Files struct{ Stdout string } }
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || len(got) != 1 {
			return nil, fmt.Errorf("%w: %.500s", err, text)
		}
		return parts, d.job.judge(got[0].Files.Stdout)
	}
}
