package confine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"confined/internal/pins"
)

// GoByte is what the host writes to the gate (descriptor 0 of the process) to let the program load. Anything else, an end of file
// included, makes the preload refuse.
const GoByte = 0x67

// RefusalCode is the exit code of a launch stage or preload that refused to go on. A program may exit with it too, so that alone it
// decides nothing.
const RefusalCode = 125

// HostError says what a host lacks for the boundary, and what would cure it.
type HostError struct{ Problem, Cure string }

func (e *HostError) Error() string { return e.Problem + "; cure: " + e.Cure }

// Limits are the two bounds that a request chooses. The fixed ones are in the profile.
type Limits struct {
	CPUSeconds  int // of processor time, soft = hard
	Descriptors int // the highest descriptor number plus one, soft = hard
}

// Job is what Instantiate turns into a profile: verified things only, each a path with the inode that was verified there.
type Job struct {
	Runtime pins.Closure
	Image   *pins.Image // a sealed copy of Node, executed by handle; nil: Node is executed from its path
	Program pins.Source // directory: readable, never executable
	Input   pins.Source // directory: readable, the working directory
	Canary  pins.Source // file: present and readable to the process's user, but under no Landlock rule
	Home    string      // absolute path of an empty directory; the process sees one that is always empty
	Limits  Limits
	Slot    int      // decides whom the process is to the host, see [Boundary]
	Args    []string // the entry's absolute path and the program's arguments; Node gets the preload before them
	Version bool     // run `node --version` instead: no preload, no admission, Args must be empty
}

// Instance is the profile of one run together with its boundary's launch. Only a [Boundary] makes one.
type Instance struct {
	text  string
	node  string // Node's path
	start func() (*Process, error)
}

// Text is the profile text that the launch is planned from: canonical, without comments.
func (i Instance) Text() string { return i.text }

// Digest is the SHA-256 of the text: what this very run was allowed to do.
func (i Instance) Digest() pins.Digest {
	sum := sha256.Sum256([]byte(i.text))
	return pins.DigestOf(sum)
}

// Process is a launched stage, later Node: the same process, with our ends of its pipes. The caller closes them.
type Process struct {
	PID     int
	Gate    *os.File    // write end of its descriptor 0: one GoByte, then close
	Control *os.File    // read end of its descriptor 3: eight limit lines, then the preload's record
	Stdout  *os.File    // read end of its descriptor 1
	Stderr  *os.File    // read end of its descriptor 2
	Handle  *os.Process // never nil

	guard  *guard // where the system has no handle of its own for a process; else nil
	reaped func() // what the launch leaves to be done once the process was reaped; nil: nothing
}

// Launch starts a process that performs the launch stage of i and becomes Node. On Linux it returns when that process holds nothing of ours
// but its own descriptors, or after a second if somebody stops it; whether it succeeds, Control and Stderr say. On error nothing was
// started and nothing is left open; a *HostError says that the host refuses it.
//
// Precondition: the caller's goroutine is locked to its thread, and stays so until the process was reaped. The Linux kernel ends the
// process when the thread that started it ends.
func Launch(i Instance) (*Process, error) {
	if i.start == nil {
		return nil, errors.New("launch: no instance")
	}
	return i.start()
}

// Kill sends SIGKILL through the process's handle. After Wait it does nothing and returns os.ErrProcessDone: a process id is never a
// target.
func (p *Process) Kill() error {
	if p.guard != nil {
		return p.guard.kill(p.Handle.Kill)
	}
	return p.Handle.Kill()
}

// Wait reaps the process and says how it ended. Call it once. A state beside an error is that of a process that had to be killed, because
// its end could not be watched for.
func (p *Process) Wait() (*os.ProcessState, error) {
	var unseen error
	if p.guard != nil {
		unseen = p.guard.await(p.Handle.Kill)
	}
	state, err := p.Handle.Wait()
	if p.reaped != nil {
		p.reaped()
	}
	return state, errors.Join(unseen, err)
}

func (p *Process) close() { closeAll([]*os.File{p.Gate, p.Control, p.Stdout, p.Stderr}) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// in names what an error is about.
func in(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
