package exec

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"confined/internal/confine"
)

// lieMark begins the only argument of the test binary when it is started in the
// place of a confined process and is neither launch stage nor Node but a liar:
// the mark and the name of a lie. It has the same descriptors, and prints "ran" as
// its program.
const lieMark = "a test has the process lie: "

// untruth is one row: what the liar does, and what the host makes of it.
type untruth struct {
	name string
	tell func(*liar)
	want outcome
}

var (
	neverAdmitted = barred(AdmissionAbsent)
	malformed     = barred(AdmissionMalformed).stopped(StopControlMalformed).ending("SIGKILL")
	mismatch      = observed("admission-absent limits-mismatch").admitted(AdmissionAbsent).stopped(StopLimitsMismatch).ending("SIGKILL")
	boldMismatch  = observed("admission-malformed limits-mismatch").admitted(AdmissionMalformed).stopped(StopLimitsMismatch).ending("SIGKILL")
)

// lies are everything but the truth, which is the first row. What is written at
// once is written before the gate can be open.
func lies() []untruth {
	right := Bounds{CPUSeconds: 20, MaxDescriptors: 64}.asked().text()
	wrong := Bounds{CPUSeconds: 21, MaxDescriptors: 64}.asked().text()
	return []untruth{
		{"no lie", func(l *liar) { l.say(right).wait().say(recordAdmitted).hangUp() }, observedClean.ending("0")},

		{"another limit", func(l *liar) { l.say(wrong).wait().say(recordAdmitted) }, mismatch},
		{"another limit, and admitted at once", func(l *liar) { l.say(wrong + recordAdmitted).stay() }, boldMismatch},
		{"no limit", func(l *liar) { l.say(strings.Repeat(wordUnlimited+"\n", limitLines)).wait() }, mismatch},
		{"a limit too few", func(l *liar) { l.say(right[:len(right)-2] + recordAdmitted).stay() }, malformed},
		{"a limit too many", func(l *liar) { l.say(right + "0\n" + recordAdmitted).stay() }, malformed},

		{"admitted at once", func(l *liar) { l.say(right + recordAdmitted).stay() }, malformed},
		{"admitted twice", func(l *liar) { l.say(right).wait().say(recordAdmitted + recordAdmitted).stay() }, malformed},
		{"another version's record", func(l *liar) { l.say(right).wait().say("sf-confined/2 admitted\n").stay() }, malformed},
		{"a record that does not end", func(l *liar) { l.say(right).wait().say(strings.TrimSpace(recordAdmitted)).hangUp() }, neverAdmitted.ending("0")},
		{"no record", func(l *liar) { l.say(right).wait().hangUp() }, neverAdmitted.ending("0")},
		{"the record elsewhere", func(l *liar) { l.say(right).wait().hangUp().print(recordAdmitted) }, neverAdmitted.ending("0")},
		{"refused, and goes on", func(l *liar) { l.say(right).wait().say(recordRefused).hangUp() }, barred(AdmissionRefused).ending("0")},
		{"refused, and then admitted", func(l *liar) { l.say(right).wait().say(recordRefused + recordAdmitted).stay() }, malformed},

		{"garbage", func(l *liar) { l.say("\x00\xff\n").stay() }, malformed},
		{"a flood", func(l *liar) { l.say(strings.Repeat("1\n", 1<<20)).stay() }, malformed},
		{"nothing", func(l *liar) { l.stay() }, neverAdmitted.stopped(StopTimeout).ending("SIGKILL")},
		{"nothing but an end", func(l *liar) { l.hangUp() }, neverAdmitted.ending("0")},
		{"an end within the limits", func(l *liar) { l.say(right[:7]).hangUp() }, neverAdmitted.ending("0")},

		{"dead before its limits", func(l *liar) { l.die() }, neverAdmitted.ending("SIGKILL")},
		{"dead at the gate", func(l *liar) { l.say(right).die() }, neverAdmitted.ending("SIGKILL")},
		{"dead behind the gate", func(l *liar) { l.say(right).wait().die() }, neverAdmitted.ending("SIGKILL")},
	}
}

// TestLyingControlPipe: no lie that the host can tell from the truth passes for
// an admission.
func TestLyingControlPipe(t *testing.T) {
	w := newWorld(t)
	w.useStandIn()
	e := w.executor()
	w.pin(e)
	for _, row := range lies() {
		t.Run(row.name, func(t *testing.T) {
			w.next(t)
			if row.want.stop == StopTimeout {
				w.spec.TimeoutMs = 500
			}
			row.want.check(t, w.runLiar(e, row.name), w)
		})
	}
}

// runLiar is Executor.Run, and its line, with a liar as the process that is
// launched.
func (w *world) runLiar(e *Executor, lie string) Result {
	w.t.Helper()
	req, faults := NewRequest(w.spec, e.MaxDescriptors())
	if faults != nil {
		w.t.Fatal(faults)
	}
	r := &run{Executor: e, spec: req.spec, trace: Join(e.trace), clock: startStopwatch()}
	defer r.abandon()
	pinned, refused := r.pin(w.t.Context())
	w.mustGoOn(refused)
	defer pinned.taken.release()
	slot, refused := r.claim()
	w.mustGoOn(refused)
	w.mustGoOn(r.materialise(slot))
	verified, refused := r.verify(slot)
	w.mustGoOn(refused)
	instance, err := r.boundary.Instantiate(r.job(pinned, slot, verified))
	w.must(err)
	liar := startLiar(w.t, lie)
	w.pid = liar.PID
	r.clock.spawned()
	s := started{process: liar, instance: instance}
	return r.settle(pinned, slot, verified, s, r.collect(w.t.Context(), slot, s))
}

func (w *world) mustGoOn(refused *refusal) {
	w.t.Helper()
	if refused != nil {
		w.t.Fatal(refused.message)
	}
}

// startLiar starts the test binary with the ends of four pipes, as confine.Launch
// starts a process.
func startLiar(t *testing.T, lie string) *confine.Process {
	t.Helper()
	p, theirs := &confine.Process{}, []*os.File{}
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	for _, end := range []struct {
		ours   **os.File
		writes bool
	}{{&p.Gate, true}, {&p.Stdout, false}, {&p.Stderr, false}, {&p.Control, false}} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if end.writes {
			read, write = write, read
		}
		*end.ours = read
		theirs = append(theirs, write)
	}
	handle, err := os.StartProcess("/proc/self/exe", []string{"liar", lieMark + lie}, &os.ProcAttr{Files: theirs})
	if err != nil {
		t.Fatal(err)
	}
	p.Handle, p.PID = handle, handle.Pid
	return p
}

// lie is the liar's main function.
func lie(argv []string) {
	name, found := strings.CutPrefix(argv[len(argv)-1], lieMark)
	if !found {
		return
	}
	for _, row := range lies() {
		if row.name == name {
			l := &liar{}
			row.tell(l)
			l.print("ran\n")
			unix.Exit(0)
		}
	}
	unix.Exit(2)
}

// liar is the process at the other ends of the pipes.
type liar struct{}

// say writes control text.
func (l *liar) say(text string) *liar { return l.write(3, text) }

// print writes what a program might.
func (l *liar) print(text string) *liar { return l.write(1, text) }

func (l *liar) write(fd int, text string) *liar {
	for text != "" {
		n, err := unix.Write(fd, []byte(text))
		if err != nil {
			l.stay()
		}
		text = text[n:]
	}
	return l
}

// wait returns when the gate is open.
func (l *liar) wait() *liar {
	if n, err := unix.Read(0, make([]byte, 1)); n != 1 || err != nil {
		l.stay()
	}
	return l
}

func (l *liar) hangUp() *liar {
	_ = unix.Close(3)
	return l
}

// stay prints as a program would, and does not end by itself.
func (l *liar) stay() {
	_, _ = os.Stdout.WriteString("ran\n")
	for {
		_, _ = unix.Poll(nil, -1)
	}
}

func (l *liar) die() {
	_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
	l.stay()
}
