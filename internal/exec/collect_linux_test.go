package exec

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"confined/internal/confine"
	"confined/internal/pins"
)

// TestNoStopAfterExit: a process that is reaped, but whose state has not come
// to the collector yet, is neither signalled nor said to have been stopped.
func TestNoStopAfterExit(t *testing.T) {
	for _, on := range []platform{onLinux, underDash} {
		t.Run(on.name, func(t *testing.T) { noStopAfterExit(t, on) })
	}
}

func noStopAfterExit(t *testing.T, on platform) {
	for _, reaped := range []bool{false, true} {
		p := versionProcess(t, on)
		c := &collector{process: p, confirm: stoppedTimer()}
		if reaped {
			if _, err := p.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		c.stop(StopTimeout)
		if (c.stopped == "") != reaped || c.killed == reaped {
			t.Errorf("reaped %v: stopped %q, killed %v", reaped, c.stopped, c.killed)
		}
		if !reaped {
			_, _ = p.Wait()
		}
		c.release()
	}
}

// TestUnwatchedExit: a process that was reaped is known to be gone, also where
// its end could not be watched for; what came of it is then no result. One that
// cannot be reaped is lost too, and is not waited for until its time is over.
func TestUnwatchedExit(t *testing.T) {
	for _, state := range []*os.ProcessState{nil, {}} {
		unseen := errors.New("watch: no")
		process := versionProcess(t, onLinux)
		c := &collector{process: process, clock: startStopwatch(), grace: stoppedTimer(), confirm: stoppedTimer(), exits: make(chan exit, 1)}
		c.reap(func() (*os.ProcessState, error) { return state, unseen })
		c.onExit(<-c.exits)
		var p problems
		p.ofControl(Bounds{}, collected{lost: c.lost})
		if c.state != state || len(p) != 1 || p[0].Code != ProblemContactLost || !strings.Contains(p[0].Message, unseen.Error()) {
			t.Errorf("%v, %v", c.state, p)
		}
		if waits := c.confirm.Stop(); waits == (state != nil) {
			t.Errorf("reaped %v: its end is waited for %v", state != nil, waits)
		}
		_ = process.Kill()
		_, _ = process.Wait()
		c.release()
	}
}

// versionProcess is a confined `node --version`, whose thread stays with the test.
func versionProcess(t *testing.T, on platform) *confine.Process {
	t.Helper()
	w := newWorld(t)
	on.prepare(w)
	e := w.executor()
	closure, err := pins.TakeClosure(t.Context(), e.node, e.runtimes.launchers)
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := makeScratch(w.state, w.boundary)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := e.boundary.Instantiate(scratch.job(takenRuntime{Closure: closure}))
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	p, err := confine.Launch(instance)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAbsentIsNotAlwaysNeverRan: that the program never ran is said only where
// the gate stayed shut, or all that came after it was seen.
func TestAbsentIsNotAlwaysNeverRan(t *testing.T) {
	gone := ProcessFacts{Admission: AdmissionAbsent, Exit: &Exit{}, PipesClosed: true}
	open := gone
	open.PipesClosed = false
	for name, row := range map[string]struct {
		seen  collected
		never bool
	}{
		"gate shut, contact lost":   {collected{facts: gone, lost: io.ErrUnexpectedEOF}, true},
		"gate open, all seen":       {collected{facts: gone, opened: true}, true},
		"gate open, contact lost":   {collected{facts: gone, opened: true, lost: io.ErrUnexpectedEOF}, false},
		"gate open, a pipe is open": {collected{facts: open, opened: true}, false},
	} {
		var p problems
		p.ofControl(Bounds{}, row.seen)
		if len(p) == 0 || p[0].Code != ProblemAdmissionAbsent || strings.Contains(p[0].Message, "never ran") != row.never {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// TestForBoundary: what the host itself ended is no doing of the boundary's, but
// for a silence.
func TestForBoundary(t *testing.T) {
	killed, code, limits := "SIGKILL", 71, versionRun.asked()
	for name, row := range map[string]struct {
		facts ProcessFacts
		want  confine.Ending
	}{
		"exited":     {ProcessFacts{Exit: &Exit{Code: &code}, Stderr: OutputOf([]byte("x"))}, confine.Ending{Code: 71, Stderr: "x"}},
		"a signal":   {ProcessFacts{Exit: &Exit{Signal: &killed}}, confine.Ending{Code: -1, Signal: "SIGKILL"}},
		"silent":     {ProcessFacts{Exit: &Exit{Signal: &killed}, Stopped: StopTimeout, Limits: &limits}, confine.Ending{Code: -1, TimedOutSilent: true}},
		"no limits":  {ProcessFacts{Exit: &Exit{Signal: &killed}, Stopped: StopTimeout}, confine.Ending{Code: -1}},
		"not silent": {ProcessFacts{Exit: &Exit{Signal: &killed}, Stopped: StopTimeout, Limits: &limits, OutputBytes: 1}, confine.Ending{Code: -1}},
		"malformed":  {ProcessFacts{Exit: &Exit{Signal: &killed}, Stopped: StopControlMalformed}, confine.Ending{Code: -1}},
		"not reaped": {ProcessFacts{}, confine.Ending{Code: -1}},
	} {
		if got := row.facts.forBoundary(); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

// TestReadVersion tells the ways apart in which a version run comes to nothing.
func TestReadVersion(t *testing.T) {
	code := func(n int) *Exit { return &Exit{Code: &n} }
	signal := "SIGSEGV"
	measured, asked := Bounds{CPUSeconds: 1, MaxDescriptors: 64}.asked(), versionRun.asked()
	explain := func(e confine.Ending) *HostError { return confine.Here().Explain(t.Context(), confine.Instance{}, e) }
	for name, row := range map[string]struct {
		facts ProcessFacts
		host  bool // the host is to blame, else the file
		says  string
	}{
		"refused":                {ProcessFacts{Exit: code(confine.RefusalCode), Stderr: OutputOf([]byte("confined: pivot: no\n"))}, true, "pivot: no"},
		"stopped":                {ProcessFacts{Exit: &Exit{Signal: &signal}, Stopped: StopTimeout}, true, "was stopped (timeout)"},
		"stopped in its launch":  {ProcessFacts{Exit: &Exit{Signal: &signal}, Stopped: StopTimeout}, true, "before its launch had reported its limits"},
		"not reaped":             {ProcessFacts{}, true, "was not seen to end"},
		"other limits":           {ProcessFacts{Exit: &Exit{Signal: &signal}, Stopped: StopLimitsMismatch, Limits: &measured}, true, "hard limits"},
		"other limits, and over": {ProcessFacts{Exit: code(0), Limits: &measured, Stdout: OutputOf([]byte("v26.8.1\n"))}, true, "hard limits"},
		"signal":                 {ProcessFacts{Exit: &Exit{Signal: &signal}}, false, "was ended by SIGSEGV"},
		"another code":           {ProcessFacts{Exit: code(1), Stdout: OutputOf([]byte("v26.8.1\n"))}, false, "ended with exit code 1"},
		"no version":             {ProcessFacts{Exit: code(0), Stdout: OutputOf([]byte("26.8.1\n"))}, false, "printed"},
		"too much":               {ProcessFacts{Exit: &Exit{Signal: &signal}, Stopped: StopOutputLimit, Limits: &asked}, false, "was stopped (output-limit)"},
		"125 of its own":         {ProcessFacts{Exit: code(confine.RefusalCode), Stderr: OutputOf([]byte("not confined: x\n"))}, false, "ended with exit code 125"},
		"controls":               {ProcessFacts{Exit: code(0), Stdout: OutputOf([]byte("v1\x1b[31m\n"))}, false, "printed"},
		"no UTF-8":               {ProcessFacts{Exit: code(0), Stdout: OutputOf([]byte("v\xff\n"))}, false, "printed"},
		"too long":               {ProcessFacts{Exit: code(0), Stdout: OutputOf([]byte("v" + strings.Repeat("1", 65) + "\n"))}, false, "printed"},
		"two lines":              {ProcessFacts{Exit: code(0), Stdout: OutputOf([]byte("v26.8.1\nx\n"))}, false, "printed"},
	} {
		version, err := readVersion("/n/node", collected{facts: row.facts}, explain)
		var host *HostError
		var unavailable *pins.UnavailableError
		if version != "" || errors.As(err, &host) != row.host || errors.As(err, &unavailable) == row.host || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %q, %v", name, version, err)
		}
	}
	lost := collected{facts: ProcessFacts{Exit: &Exit{Signal: &signal}}, lost: errors.New("watch: no")}
	if _, err := readVersion("/n/node", lost, explain); !errors.As(err, new(*HostError)) || !strings.Contains(err.Error(), "watch: no") {
		t.Errorf("contact lost: %v", err)
	}
	if version, err := readVersion("/n/node", collected{facts: ProcessFacts{Exit: code(0), Stdout: OutputOf([]byte("v26.8.1\n"))}}, explain); version != "26.8.1" || err != nil {
		t.Errorf("%q, %v", version, err)
	}
}
