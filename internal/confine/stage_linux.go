package confine

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// stage is the process between the host's spawn and Node. Everything it needs comes in its arguments; its environment is empty. It writes
// eight lines to descriptor 3 and nothing else, except a reason on descriptor 2 if it refuses to go on.
type stage struct {
	daemon   int // process id of the host, our parent
	profile  *profile
	plan     rootPlan
	argv     []string // Node's
	root     int      // the new root, from freshRoot to enterRoot
	node     int      // O_PATH descriptor of Node in the new root
	listener chan int // hands the filter's listener to the thread that answers it
}

// The process's descriptors, as Launch lays them out.
const (
	gateFD     = 0
	stderrFD   = 2
	controlFD  = 3
	launcherFD = 4 // this very binary, which the process is executed from
	spareFD    = 4 // the first that Node must not see
)

// stageMain becomes the confined Node if the arguments are those of a launch stage.
func stageMain(argv []string) bool {
	if !isStage(argv) {
		return false
	}
	conduct(argv, launchSteps())
	return true // unreachable: the last step is an exec
}

// conduct takes the steps in order, and the process refuses to go on at the first that fails. It does not return.
//
// It locks its goroutine to one thread, which need not be the main one: credentials, Landlock and the filter are put on this thread, and
// when it calls exec the kernel ends all others, whatever they were still allowed to do, and makes this one the process. GOMAXPROCS is
// raised because two threads must run at once at the end, on any host; the collector is off because nothing here lives long enough to be
// garbage and its threads would only be in the way.
func conduct(argv []string, steps []step) {
	runtime.LockOSThread()
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(-1)
	defer func() { refuse("panic", fmt.Errorf("%v", recover())) }()
	s, err := readStage(argv)
	if err != nil {
		refuse("arguments", err)
	}
	for _, step := range steps {
		if err := step.do(s); err != nil {
			refuse(step.name, err)
		}
	}
}

// readStage reads the arguments: the marker, the daemon's process id, the profile, Node's argument list.
func readStage(argv []string) (*stage, error) {
	if len(argv) < 4 {
		return nil, errors.New("too few")
	}
	daemon, err := strconv.Atoi(argv[1])
	if err != nil {
		return nil, err
	}
	p, err := parseProfile(argv[2])
	if err != nil {
		return nil, err
	}
	plan, err := planRoot(p.entries)
	return &stage{daemon: daemon, profile: p, plan: plan, argv: argv[3:], listener: make(chan int)}, err
}

// step is one line of the launch. Its name is what a refusal begins with.
type step struct {
	name string
	do   func(*stage) error
}

// launchSteps is the whole order of the launch. Each step establishes one thing.
func launchSteps() []step {
	return []step{
		// While /proc and the host's files are still in sight.
		{"session", (*stage).newSession},           // no terminal's Ctrl-C reaches Node
		{"signals", (*stage).resetSignals},         // nothing ignored or blocked is inherited
		{"personality", (*stage).resetPersonality}, // nor a weaker layout of memory
		{"identity", (*stage).checkIdentity},       // the uid outside is the profile's, and not the host's root
		{"oom", (*stage).setOOM},                   // killed first under memory pressure; next to no core
		{"private", (*stage).privateMounts},        // no mount event passes in or out
		{"tmpfs", (*stage).freshRoot},              // an empty root, not yet ours
		{"root", (*stage).furnish},                 // directories, symlinks, small files
		{"mounts", (*stage).mountSources},          // the verified inodes and nothing else, read-only
		{"read-only", (*stage).sealRoot},           // nothing in the root can be created any more, by anybody
		{"pivot", (*stage).enterRoot},              // the host's tree is gone
		{"directory", (*stage).changeDir},          // the working directory, and the umask
		{"executable", (*stage).openNode},          // Node, by handle
		{"limits", (*stage).setLimits},             // all but memory
		{"credentials", (*stage).dropAll},          // nobody, without a capability or a way to one
		{"parent", (*stage).dieWithParent},         // after the last change of credentials, which would undo it
		{"canary", (*stage).readCanary},            // readable: from here on only Landlock can be the reason if it is not
		{"landlock", (*stage).landlock},            // the profile's rights and no others
		{"memory", (*stage).limitMemory},           // so late because a Go program, and far more one under the race detector, maps a lot
		{"report", (*stage).report},                // the limits as the kernel has them
		{"descriptors", (*stage).closeOnExec},      // Node gets 0 to 3
		{"filter", (*stage).filterAndExec},         // the calls that remain, and the last one of ours
	}
}

// refuse ends the process with its reason. Once the filter is on, these two calls are among the few that still work.
func refuse(step string, err error) {
	_, _ = unix.Write(stderrFD, []byte("confined: "+step+": "+err.Error()+"\n"))
	unix.Exit(RefusalCode)
}

// in names what an error is about.
func in(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// newSession leaves the daemon's session and process group.
func (s *stage) newSession() error {
	_, err := unix.Setsid()
	return err
}

// setOOM writes the two /proc files of a process that exec preserves. Raising the score needs no right.
func (s *stage) setOOM() error {
	if err := writeProc("oom_score_adj", number(s.profile.oomScoreAdj)); err != nil {
		return err
	}
	return writeProc("coredump_filter", number(s.profile.coredumpFilter))
}

func writeProc(name, content string) error {
	return os.WriteFile("/proc/self/"+name, []byte(content), 0)
}

// changeDir settles what the threads of a process share.
func (s *stage) changeDir() error {
	unix.Umask(0o077)
	return unix.Chdir(s.profile.directory)
}

// openNode opens Node where the profile has it, in the new root.
func (s *stage) openNode() error {
	fd, err := unix.Open(s.profile.executable, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	s.node = fd
	return in(s.profile.executable, err)
}

// readCanary shows that this user may read the canary. Its content does not matter.
func (s *stage) readCanary() error {
	for _, e := range s.profile.entries {
		if e.kind == kindCanary {
			_, err := os.ReadFile(e.path)
			return err
		}
	}
	return errors.New("the profile has none")
}

// closeOnExec marks every descriptor that Node must not see, also those that the Go runtime opened.
func (s *stage) closeOnExec() error {
	return unix.CloseRange(spareFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
