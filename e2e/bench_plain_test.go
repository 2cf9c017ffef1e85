package e2e

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"testing"
	"time"
)

// job is a program and what it must print.
type job struct {
	runRequest
	prints string
}

// disk is a job's files in a directory, as plain Node.js runs them.
type disk struct {
	dir string
	job job
}

// onDisk writes down the files of a job beside the root of the daemon. A file
// system has its files in regions, by their parents, and where many were
// removed a moment ago new ones can take ten times as long: so both have the
// same.
func onDisk(b *testing.B, d *daemon, j job) disk {
	b.Helper()
	dir, err := os.MkdirTemp(d.dir, "disk")
	if err != nil {
		b.Fatal(err)
	}
	for name, tree := range map[string]files{"program": j.program, "input": j.input, "home": nil, "copy": nil} {
		writeTree(b, dir+"/"+name, tree)
	}
	return disk{dir, j}
}

// five is the environment that a confined program has.
func (d disk) five() []string {
	return []string{"LC_ALL=C", "TZ=UTC", "HOME=" + d.dir + "/home", "TMPDIR=" + d.dir + "/home", "OPENSSL_CONF=/dev/null"}
}

// node is the command for the files at place, with nothing between it and us.
func (d disk) node(place string, env []string) *osexec.Cmd {
	cmd := osexec.Command(shared.node, append([]string{place + "/program/" + d.job.entry}, d.job.args...)...)
	cmd.Dir, cmd.Env = place+"/input", env
	return cmd
}

// yields runs a command that must do what the job says.
func (j job) yields(cmd *osexec.Cmd) error {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = j.judge(string(out))
	}
	if err != nil {
		return fmt.Errorf("%w %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

func (j job) judge(printed string) error {
	if printed != j.prints {
		return fmt.Errorf("printed %d bytes, not the %d expected: %.100q", len(printed), len(j.prints), printed)
	}
	return nil
}

// plain is Node.js from disk.
func (d disk) plain(env []string) runner {
	return func() ([]part, error) {
		return timed(func() error { return d.job.yields(d.node(d.dir, env)) })
	}
}

// twin is plain Node.js that has its files brought and taken away again, as a
// confined program has.
func (d disk) twin() runner {
	return func() ([]part, error) {
		return timed(func() error {
			return errors.Join(d.bring(), d.job.yields(d.node(d.dir+"/copy", d.five())), d.take())
		})
	}
}

// copied only brings the files and takes them away.
func (d disk) copied() runner {
	return func() ([]part, error) {
		return timed(func() error { return errors.Join(d.bring(), d.take()) })
	}
}

func (d disk) bring() error {
	return osexec.Command("cp", "-r", d.dir+"/program", d.dir+"/input", d.dir+"/copy").Run()
}

func (d disk) take() error {
	return osexec.Command("rm", "-rf", d.dir+"/copy/program", d.dir+"/copy/input").Run()
}

// hashing is plain Node.js whose binary is hashed before and after: what a
// daemon does that does not execute a sealed copy, and the control of the bound
// that is to notice.
func (d disk) hashing() runner {
	return func() ([]part, error) {
		return timed(func() error {
			return errors.Join(hashNode(), d.job.yields(d.node(d.dir, d.five())), hashNode())
		})
	}
}

func hashNode() error {
	f, err := os.Open(shared.node)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(sha256.New(), struct{ io.Reader }{f}, make([]byte, 1<<20))
	return err
}

// atOnce is a runner that has run do that many runs in that many lanes. It
// gives the whole time alone.
func atOnce(run runner, runs, lanes int) runner {
	return func() ([]part, error) {
		turns, errs := make(chan bool, runs), make(chan error, lanes)
		for range runs {
			turns <- true
		}
		close(turns)
		began := time.Now()
		for range lanes {
			go func() {
				var err error
				for range turns {
					if _, failed := run(); failed != nil {
						err = failed
					}
				}
				errs <- err
			}()
		}
		var err error
		for range lanes {
			err = errors.Join(err, <-errs)
		}
		return []part{{whole, millis(time.Since(began))}}, err
	}
}
