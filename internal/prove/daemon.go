package prove

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// daemon is the suite's own process in the part of the daemon, with the state directory and the root that it has for that.
type daemon struct {
	scratch     string
	root, state string
	secrets     map[string]string // what only its files and its environment hold
	signals     atomic.Int64      // SIGUSR1 that reached it
	open        *os.File          // for everything that this process starts
}

// surroundings are an environment that nobody should give a daemon, and that must not reach a program. SECRET comes on top.
var surroundings = map[string]string{
	"NODE_OPTIONS": "--require=/nowhere.js", "NODE_PATH": "/", "NODE_DEBUG": "fs", "LD_LIBRARY_PATH": "/nowhere", "LD_BIND_NOW": "1", "DYLD_LIBRARY_PATH": "/nowhere",
	"UV_THREADPOOL_SIZE": "9", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "OPENSSL_CONF": "/nowhere",
}

// newDaemon makes root and state in scratch, a private directory, and makes this process careless until undo: with an environment and an
// open file that everything it starts inherits, unless somebody sees to it.
func newDaemon(scratch string, undo *cleanup) (*daemon, error) {
	d := &daemon{scratch: scratch, root: filepath.Join(scratch, "root"), state: filepath.Join(scratch, "state"), secrets: map[string]string{
		"surroundings": random(), "inherited": random(), "ledger": random(), "held": random()}}
	err := errors.Join(
		os.Mkdir(d.root, 0o700), os.Mkdir(d.state, 0o700),
		os.WriteFile(d.ledger(), []byte(`{"note":"`+d.secrets["ledger"]+`"}`+"\n"), 0o600),
		os.WriteFile(filepath.Join(scratch, "inherited"), []byte(d.secrets["inherited"]), 0o644))
	if err != nil {
		return nil, err
	}
	if d.open, err = os.Open(filepath.Join(scratch, "inherited")); err != nil {
		return nil, err
	}
	undo.later(func() { d.open.Close() })
	if err := d.leaveOpen(); err != nil {
		return nil, err
	}
	_, _ = time.Now().Zone() // this process's own time zone is settled before TZ changes
	for name, value := range surroundings {
		setenv(name, value, undo)
	}
	setenv("SECRET", d.secrets["surroundings"], undo)
	d.listen(undo)
	return d, nil
}

// note keeps the path of what is made outside the scratch.
func (d *daemon) note(path string) error { return noteElsewhere(d.scratch, path) }

func (d *daemon) ledger() string { return filepath.Join(d.state, "quarantine.jsonl") }

// leaveOpen leaves a file to everything that this process starts.
func (d *daemon) leaveOpen() error {
	_, err := unix.FcntlInt(d.open.Fd(), unix.F_SETFD, 0)
	return err
}

// listen counts the signals that reach this process.
func (d *daemon) listen(undo *cleanup) {
	came := make(chan os.Signal, 16)
	signal.Notify(came, syscall.SIGUSR1)
	go func() {
		for range came {
			d.signals.Add(1)
		}
	}()
	undo.later(func() {
		signal.Stop(came)
		close(came)
	})
}

// world is what acts know of the daemon.
func (d *daemon) world() map[string]any {
	return map[string]any{"daemon": os.Getpid(), "root": d.root, "ledger": d.ledger(), "held": d.root + "/slot-0/input/held.txt"}
}

func setenv(name, value string, undo *cleanup) {
	old, was := os.LookupEnv(name)
	_ = os.Setenv(name, value) // neither is empty nor holds a NUL
	undo.later(func() {
		if was {
			_ = os.Setenv(name, old)
		} else {
			_ = os.Unsetenv(name)
		}
	})
}
