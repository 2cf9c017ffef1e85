package confine

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stage is a launch as it is planned: everything that happens to the child from the fork to the exec of Node, as a list of system calls
// laid out by the daemon. The child only makes them (child_linux.go). So the whole plan can be read, tested and taken apart before there is
// a process, and the child needs neither a runtime nor memory of its own.
type stage struct {
	profile *profile
	plan    rootPlan
	argv    []string // Node's
	asRoot  bool     // the daemon is root: inside, the child is uid 0 until it becomes nobody
	daemon  int      // process id of the daemon, the child's parent
	inherit inherited

	newRoot *int32 // the descriptor of the private root, from freshRoot to enterRoot
	self    *int32 // of /proc/PID, from mountSources on

	steps []step
	kept  []any // what the calls point at: the garbage collector does not follow a number
	err   error // the first that planning met
}

// inherited are the daemon's numbers of what the child gets: each above lastFD, but for the image, whose number may be any.
type inherited struct {
	ends               [4]int32 // of the four pipes, by the child's number
	image, lock, begin int32    // image is -1 where Node is executed from its path
}

// The child's descriptors. Node sees the first four and no other.
const (
	gateFD    = 0
	stdoutFD  = 1
	stderrFD  = 2
	controlFD = 3
	nodeFD    = 4 // Node, for the exec
	lockFD    = 5 // the socket on which the exec lock's listener goes to the daemon
	beginFD   = 6 // the pipe on which the daemon says that the ids are mapped
	lastFD    = beginFD
)

// step is one line of the launch. Its name is what a refusal begins with.
type step struct {
	name  string
	calls []prepared
}

// planned says how a step is planned.
type planned struct {
	name string
	plan func(*stage)
}

// launchSteps is the whole order of the launch. Each step establishes one thing.
func launchSteps() []planned {
	return []planned{
		{"descriptors", (*stage).takeDescriptors}, // four pipes, and nothing else of the daemon's
		{"start", (*stage).awaitIDs},              // the daemon has mapped our ids
		// While /proc and the host's files are still in sight.
		{"session", (*stage).newSession},           // no terminal's Ctrl-C reaches Node
		{"signals", (*stage).resetSignals},         // nothing ignored or blocked is inherited
		{"personality", (*stage).resetPersonality}, // nor a weaker layout of memory
		{"oom", (*stage).setOOM},                   // killed first under memory pressure; next to no core
		{"private", (*stage).privateMounts},        // no mount event passes in or out
		{"tmpfs", (*stage).freshRoot},              // an empty root, not yet ours
		{"root", (*stage).furnish},                 // directories, symlinks, small files
		{"mounts", (*stage).mountSources},          // the verified inodes and nothing else, read-only
		{"read-only", (*stage).sealRoot},           // nothing in the root can be created any more, by anybody
		{"pivot", (*stage).enterRoot},              // the host's tree is gone
		{"directory", (*stage).changeDir},          // the working directory, and the umask
		{"executable", (*stage).openNode},          // Node, by handle
		{"limits", (*stage).setLimits},             // all of the profile
		{"credentials", (*stage).dropAll},          // nobody, without a capability or a way to one
		{"parent", (*stage).dieWithParent},         // after the last change of credentials, which would undo it
		{"canary", (*stage).readCanary},            // readable: from here on only Landlock can be the reason if it is not
		{"landlock", (*stage).landlock},            // the profile's rights and no others
		{"report", (*stage).report},                // the limits as the kernel has them
		{"exec lock", (*stage).lockExec},           // from here on an exec needs the daemon's consent
		{"filter", (*stage).filterAndExec},         // the calls that remain, and the last one of ours
	}
}

// newStage plans the launch.
func newStage(l linuxLaunch, from inherited) (*stage, error) {
	plan, err := planRoot(l.profile.entries)
	if err != nil {
		return nil, err
	}
	s := &stage{profile: l.profile, plan: plan, argv: l.argv, asRoot: os.Geteuid() == 0, daemon: unix.Getpid(), inherit: from,
		newRoot: new(int32), self: new(int32)}
	for _, one := range launchSteps() {
		s.steps = append(s.steps, step{name: one.name})
		one.plan(s)
	}
	return s, s.err
}

// prepared is one system call, and what has to come of it.
type prepared struct {
	what     string  // a refusal names it
	number   uintptr // of the call
	args     [6]uintptr
	from     [6]*int32 // where set, the argument is what an earlier call returned
	keep     *int32    // where the result goes: a cell of the plan, or a field of a structure that a later call points at
	passable unix.Errno
	exact    bool // the result must be want
	want     uintptr
	facts    []fact     // what must be found in memory after it
	format   *limitText // what has to be laid out before it
	differs  string     // said when a result or a fact is not so
	denied   string     // said instead of EACCES
}

// fact is a number that a call leaves in memory.
type fact struct {
	at         unsafe.Pointer
	wide       bool // 64 bits, else 32
	mask, want uint64
}

// call appends a call to the step being planned. An argument is a number, a string (its address, ended by NUL), a pointer to a structure,
// or a cell that holds what an earlier call returned.
func (s *stage) call(what string, number uintptr, args ...any) *prepared {
	c := prepared{what: what, number: number}
	for i, arg := range args {
		switch arg := arg.(type) {
		case int:
			c.args[i] = uintptr(arg)
		case uintptr:
			c.args[i] = arg
		case string:
			c.args[i] = s.text(arg)
		case unsafe.Pointer:
			c.args[i] = s.pointer(arg)
		case *int32:
			c.from[i] = arg
		default:
			s.fail(errors.New("bug: an argument of a system call that is none"))
		}
	}
	last := &s.steps[len(s.steps)-1]
	last.calls = append(last.calls, c)
	return &last.calls[len(last.calls)-1]
}

// into keeps the result.
func (c *prepared) into(cell *int32) *prepared { c.keep = cell; return c }

// unless lets one error pass.
func (c *prepared) unless(e unix.Errno) *prepared { c.passable = e; return c }

// is demands one result.
func (c *prepared) is(want int, differs string) {
	c.exact, c.want, c.differs = true, uintptr(want), differs
}

// finds demands what the call leaves in memory.
func (c *prepared) finds(differs string, facts ...fact) { c.differs, c.facts = differs, facts }

// fail ends the planning: the step being planned cannot be taken.
func (s *stage) fail(err error) {
	if s.err == nil {
		s.err = in(s.steps[len(s.steps)-1].name, err)
	}
}

// pointer keeps what p points at for as long as the plan.
func (s *stage) pointer(p unsafe.Pointer) uintptr {
	s.kept = append(s.kept, p)
	return uintptr(p)
}

func (s *stage) text(text string) uintptr {
	b, err := unix.ByteSliceFromString(text)
	if err != nil {
		s.fail(err)
		return 0
	}
	return s.pointer(unsafe.Pointer(&b[0]))
}
