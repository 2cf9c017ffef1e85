package confine

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deaths are the ways in which a stage ends before its time, each in place of the rest of a step, and how each looks from outside.
var deaths = []struct {
	name           string
	die            func(*stage)
	stderr, ending string
}{
	{"is killed", func(s *stage) {
		s.call("", unix.SYS_GETPID).into(s.self)
		s.call("", unix.SYS_KILL, s.self, int(unix.SIGKILL))
	}, "", "signal: killed"},
	{"exits as if all were well", func(s *stage) { s.call("", unix.SYS_EXIT_GROUP, 0) }, "", "exit status 0"},
	{"fails", func(s *stage) { s.call("a test wants so", unix.SYS_CLOSE, -1) }, "confined: STEP: a test wants so: bad file descriptor\n", "exit status 125"},
	{"finds something else", func(s *stage) { s.call("", unix.SYS_GETPID).is(0, "a test wants so") }, "confined: STEP: a test wants so\n", "exit status 125"},
	{"comes to an end", func(*stage) {}, "confined: bug: the last step came back\n", "exit status 125"},
}

// TestStageDies has the stage die at each step in each way. The program never runs, what was reported is what the host reads, and nothing is left.
func TestStageDies(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	good := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	if o := run(t, good); o.stdout != "ran\n" {
		t.Fatalf("nothing dies: %+v", o)
	}
	before, steps := census(t), launchSteps()
	report := slices.IndexFunc(steps, func(s planned) bool { return s.name == "report" })
	for at := 2; at < len(steps); at++ { // before the first its output would be ours, and until the second the daemon maps its ids
		control := ""
		if at > report {
			control = limitLines("20", "64")
		}
		for _, death := range deaths {
			o := launchChanged(t, good, func(s *stage) {
				s.steps = append(s.steps[:at:at], step{name: steps[at].name})
				death.die(s)
			}).open(GoByte).finish(t)
			stderr := strings.ReplaceAll(death.stderr, "STEP", steps[at].name)
			if o.control != control || o.stdout != "" || o.stderr != stderr || o.state.String() != death.ending {
				t.Errorf("%s: %s: %+v, %v", steps[at].name, death.name, o, o.state)
			}
			if after := census(t); after != before {
				t.Fatalf("%s: %s: left over: %s, before %s", steps[at].name, death.name, after, before)
			}
		}
	}
}

// TestExecNotOurs: the daemon consents to nothing but the exec of Node's descriptor.
func TestExecNotOurs(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	good := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	for name, change := range map[string]func(exec *prepared){
		"another descriptor": func(exec *prepared) { exec.args[0] = controlFD },
		"a path":             func(exec *prepared) { exec.args[4] = 0 },
	} {
		o := launchChanged(t, good, func(s *stage) {
			calls := s.steps[len(s.steps)-1].calls
			change(&calls[len(calls)-1])
		}).open(GoByte).finish(t)
		if want := "confined: filter: execveat: function not implemented\n"; o.stderr != want || o.stdout != "" || o.state.ExitCode() != RefusalCode {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// launchChanged is a launch with a plan that was changed.
func launchChanged(t *testing.T, l linuxLaunch, change func(*stage)) running {
	t.Helper()
	runtime.LockOSThread()
	c, theirs, err := openEnds()
	must(t, err)
	defer theirs.close()
	s, err := newStage(l, theirs.inherited(l.image))
	must(t, err)
	change(s)
	must(t, c.fork(s))
	must(t, c.start(s))
	return running{c.asks()}
}

// TestLateChild: a child that does not close the daemon's descriptors in time is launched all the same.
func TestLateChild(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	nap := unix.NsecToTimespec(int64(childPatience + childPatience/2))
	o := launchChanged(t, i, func(s *stage) {
		late := prepared{number: unix.SYS_NANOSLEEP, args: [6]uintptr{s.pointer(unsafe.Pointer(&nap))}}
		s.steps[0].calls = slices.Insert(s.steps[0].calls, 0, late)
	}).open(GoByte).finish(t)
	if o.stdout != "ran\n" || o.stderr != "" {
		t.Errorf("%+v", o)
	}
}

// TestDescriptorsThatAreTaken: whatever numbers the daemon's own files and its copy of Node have, the child's are the child's.
func TestDescriptorsThatAreTaken(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	i := instance(t, s.sealedJob(t, "main.cjs"))
	image := i.image
	var many []*os.File
	defer func() { closeAll(many) }()
	for range lastFD + 3 {
		f, err := os.Open("/dev/null")
		must(t, err)
		many = append(many, f)
	}
	for n := range many { // one number after the other is free, and is the copy's
		must(t, many[n].Close())
		for _, low := range []bool{false, true} {
			if i.image = image; low {
				fd, err := unix.FcntlInt(image.Fd(), unix.F_DUPFD_CLOEXEC, 0)
				must(t, err)
				i.image = os.NewFile(uintptr(fd), "a copy")
			}
			if o := run(t, i); o.stdout != "ran\n" || o.stderr != "" {
				t.Errorf("the %dth free, of the copy %v: %+v", n, low, o)
			}
			if low {
				must(t, i.image.Close())
			}
		}
		var err error
		many[n], err = os.Open("/dev/null")
		must(t, err)
	}
}
