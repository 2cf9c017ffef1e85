package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// daemon is one `confined serve`, with a short queue, so that most of what it
// is offered must be refused.
type daemon struct {
	command *exec.Cmd
	socket  string
	root    string
	log     string
	client  *http.Client
	done    chan error
}

func start(o options, name string) (*daemon, error) {
	place := filepath.Join(o.place, name)
	d := &daemon{socket: filepath.Join(place, "socket"), root: filepath.Join(place, "root"), log: filepath.Join(place, "log"), done: make(chan error, 1)}
	for _, dir := range []string{place, d.root, filepath.Join(place, "state")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	log, err := os.Create(d.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	d.command = exec.Command(o.binary, "serve", "--root", d.root, "--socket", d.socket, "--state", filepath.Join(place, "state"),
		"--node", o.node, "--queue", "16", "--log-format", "json")
	d.command.Stderr = log
	d.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", d.socket)
	}}}
	if err := d.command.Start(); err != nil {
		return nil, err
	}
	go func() { d.done <- d.command.Wait() }()
	return d, d.ready()
}

func (d *daemon) ready() error {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		body, err := d.get("/readyz")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			d.kill()
			return fmt.Errorf("the daemon does not get ready: %w %s", err, body)
		}
	}
}

func (d *daemon) kill() { _ = d.command.Process.Kill() }

// terminate ends the daemon as an operator does, and judges how it ended.
func (d *daemon) terminate() error {
	if err := d.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return d.ended()
}

func (d *daemon) ended() error {
	select {
	case err := <-d.done:
		if err != nil {
			return fmt.Errorf("the daemon ended with %w", err)
		}
	case <-time.After(2 * time.Minute):
		return errors.New("the daemon does not end after SIGTERM")
	}
	left, err := os.ReadDir(d.root)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%d entries are left in the root", len(left))
	}
	return err
}

// terminateAfter sends SIGTERM once that time has passed.
func (d *daemon) terminateAfter(wait time.Duration) func() {
	return func() { time.AfterFunc(wait, func() { _ = d.command.Process.Signal(syscall.SIGTERM) }) }
}

func (d *daemon) get(path string) ([]byte, error) {
	response, err := d.client.Get("http://confined" + path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", path, response.Status, body)
	}
	return body, err
}

// kit makes the requests for this daemon's pins.
func (d *daemon) kit() (kit, error) {
	var m maker
	for path, to := range map[string]*string{"/v1/runtime": &m.runtime, "/v1/profile": &m.profile} {
		body, err := d.get(path)
		if err != nil {
			return kit{}, err
		}
		if *to, err = digestIn(body); err != nil {
			return kit{}, err
		}
	}
	m.digest = d.digest
	return m.mixture()
}

func (d *daemon) digest(name string, content []byte) (string, error) {
	body, err := archive(name, content)
	if err != nil {
		return "", err
	}
	response, err := d.client.Post("http://confined/v1/snapshots", "application/x-tar", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	return digestIn(answer)
}

func digestIn(body []byte) (string, error) {
	var pinned struct{ Digest string }
	if err := json.Unmarshal(body, &pinned); err != nil || pinned.Digest == "" {
		return "", fmt.Errorf("no digest in %s", body)
	}
	return pinned.Digest, nil
}

// settled is the ids of the runs that the daemon's own log says it settled.
func (d *daemon) settled() (map[string]bool, error) {
	f, err := os.Open(d.log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ids := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Msg, RunID string }
		if err := json.Unmarshal(lines.Bytes(), &line); err == nil && line.Msg == "run settled" {
			ids[line.RunID] = true
		}
	}
	return ids, lines.Err()
}
