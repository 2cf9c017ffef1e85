package confine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// dyingMark begins the last argument of a Node whose stage a test has die: the mark, the name of a step, a colon, the name of a death.
const dyingMark = "a test has this stage die at "

// deaths are the ways in which it does so, each in place of the step, and how each looks from outside.
var deaths = []struct {
	name           string
	die            func(*stage) error
	stderr, ending string
}{
	{"is killed", func(*stage) error { return unix.Kill(unix.Getpid(), unix.SIGKILL) }, "", "signal: killed"},
	{"exits as if all were well", func(*stage) error { unix.Exit(0); return nil }, "", "exit status 0"},
	{"refuses", func(*stage) error { return errors.New("a test wants so") }, "confined: STEP: a test wants so\n", "exit status 125"},
	{"panics", func(*stage) error { panic("a test wants so") }, "confined: panic: a test wants so\n", "exit status 125"},
	{"has no Node to exec", execNothing, "confined: STEP: execveat: bad file descriptor\n", "exit status 125"},
	{"is asked for another's exec", askForAnother, "confined: exec lock: a call that is not ours: ", "exit status 125"},
}

// early is how many deaths can come at any step; the others come at the last, under the filter.
const early = 4

// execNothing is the last step with a handle that is none.
func execNothing(s *stage) error {
	s.node = -1
	return s.filterAndExec()
}

// askForAnother is the last step as it would go if a thread other than the stage's own asked for the one exec.
func askForAnother(s *stage) error {
	exec, err := s.prepareExec()
	if err != nil {
		return err
	}
	go s.consentOnce(0)
	listener, err := installFilter([]instruction{
		{code: opLoad, k: offsetNumber}, {code: opEqual, k: unix.SYS_EXECVEAT, jf: 1}, {code: opReturn, k: verdictNotify}, {code: opReturn, k: verdictAllow}})
	if err != nil {
		return err
	}
	s.listener <- listener
	return exec()
}

// dyingStage is the launch stage up to the step at which the arguments have it die. It returns if they do not.
func dyingStage(argv []string) {
	if !isStage(argv) {
		return
	}
	where, found := strings.CutPrefix(argv[len(argv)-1], dyingMark)
	if !found {
		return
	}
	for i, at := range launchSteps() {
		for _, death := range deaths {
			if where == at.name+": "+death.name {
				conduct(argv, append(launchSteps()[:i], step{at.name, death.die}))
			}
		}
	}
	fmt.Fprintln(os.Stderr, "no such death:", where)
	os.Exit(2)
}

// TestStageDies has the stage die at each step in each way. The program never runs, what was reported is what the host reads, and nothing is left.
func TestStageDies(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	good := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	if o := run(t, good); o.stdout != "ran\n" {
		t.Fatalf("nothing dies: %+v", o)
	}
	before, steps := census(t), launchSteps()
	report := slices.IndexFunc(steps, func(s step) bool { return s.name == "report" })
	for at, step := range steps {
		control := ""
		if at > report {
			control = limitLines("20", "64")
		}
		for i, death := range deaths {
			if i >= early && at < len(steps)-1 {
				continue
			}
			dying := good
			dying.argv = append(slices.Clone(good.argv), dyingMark+step.name+": "+death.name)
			o := run(t, dying)
			stderr := strings.ReplaceAll(death.stderr, "STEP", step.name)
			if o.control != control || o.stdout != "" || !strings.HasPrefix(o.stderr, stderr) || (stderr == "") != (o.stderr == "") || o.state.String() != death.ending {
				t.Errorf("%s: %s: %+v, %v", step.name, death.name, o, o.state)
			}
			if after := census(t); after != before {
				t.Fatalf("%s: %s: left over: %s, before %s", step.name, death.name, after, before)
			}
		}
	}
}
