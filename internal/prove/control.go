package prove

import (
	"bytes"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"syscall"
	"time"

	"confined/internal/confine"
	"confined/internal/pins"
)

// controlTime bounds one unconfined run.
const controlTime = 60 * time.Second

// unconfined starts the same program unconfined in a furnished fixture: as the fixture's user and laid out as a run, but with what a careless parent
// leaves to it. The process ends, at the latest, when undo is called.
func (c *subject) unconfined(ctx context.Context, s *fixture, undo *cleanup) (*trial, error) {
	binary, err := c.binaryFor(s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, controlTime)
	cmd := as(s.user, osexec.CommandContext(ctx, binary))
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = patience
	cmd.Dir = s.slot + "/input"
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "HOME=" + s.slot + "/home", "TMPDIR=" + s.slot + "/home", "OPENSSL_CONF=/dev/null", "SECRET=" + s.expect["surroundings"]}
	p := newTrial()
	stdout, stderr := &transcript{trial: p}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	closeControl, err := c.start(cmd, s)
	if err != nil {
		cancel()
		return nil, err
	}
	p.process = cmd.Process
	close(p.started)
	go func() {
		defer close(p.over)
		awaitEnd(cmd.Process.Pid)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left of its group, whose number is nobody else's before it is reaped
		err := cmd.Wait()
		closeControl()
		p.output = stdout.text
		if err != nil {
			p.ending = fmt.Sprintf("the unconfined program: %v; stderr %.500q", err, stderr.String())
		}
	}()
	undo.later(func() {
		cancel()
		<-p.over
	})
	return p, nil
}

// start gives the command the arguments and descriptors of its kind. The native probe is started as a run starts Node, and finds an open
// gate. Of its control pipe the suite holds the end to read, and reads nothing, until closeControl.
func (c *subject) start(cmd *osexec.Cmd, s *fixture) (closeControl func(), err error) {
	program := s.slot + "/program/" + entry
	if c.kind == JavaScript {
		cmd.Args = append(cmd.Args, program)
		return func() {}, cmd.Start()
	}
	cmd.Args = append(cmd.Args, "--require", s.slot+"/preload.cjs", program)
	cmd.Stdin = strings.NewReader(string(rune(confine.GoByte)))
	told, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer tell.Close()
	cmd.ExtraFiles = []*os.File{tell}
	if err := cmd.Start(); err != nil {
		told.Close()
		return nil, err
	}
	return func() { told.Close() }, nil
}

// binaryFor is the binary itself, or a copy that the fixture's user can execute.
func (c *subject) binaryFor(s *fixture) (string, error) {
	binary := c.runtime.Node
	if pins.NotExecutable(binary, s.uid, s.gid) == nil && s.reaches(binary) {
		return binary, nil
	}
	return s.dir + "/node", copyFile(binary, s.dir+"/node")
}

// transcript is what a process has written by now.
type transcript struct {
	text  []byte
	trial *trial
}

func (t *transcript) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.trial.printed(t.text)
	return len(p), nil
}
