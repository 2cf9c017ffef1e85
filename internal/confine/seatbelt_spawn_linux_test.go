package confine

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
)

// stillJob is a run of testdata/still.c in Node's place, with a launcher that becomes it at once.
func stillJob(t testing.TB) Job {
	t.Helper()
	j := newSlot(t, nil).job(t, nodeClosure(t), "main.mjs")
	j.Runtime.Node = build(t, "still.c", "still")
	j.Runtime.Files = []pins.RuntimeFile{{Path: j.Runtime.Node}}
	return j
}

// spawned is a first program and where it starts.
type spawned struct {
	argv []string
	dir  string
}

func (s spawned) launch() (*Process, error) { return spawn(s.argv, s.dir) }

// TestSpawnGivesFourDescriptors: what Node is started with is four pipes and five variables, also if our own parent, or some code of ours,
// left a descriptor open for every program to inherit.
func TestSpawnGivesFourDescriptors(t *testing.T) {
	j := stillJob(t)
	careless, err := unix.FcntlInt(0, unix.F_DUPFD, 9)
	must(t, err)
	defer unix.Close(careless)
	mark := fmt.Sprintf(" %d ", careless)

	control := osexec.Command(j.Runtime.Node)
	control.Env = []string{}
	if out, err := control.Output(); err != nil || !strings.Contains(string(out), mark) {
		t.Fatalf("the control does not inherit%s: %s, %v", mark, out, err)
	}
	if o := run(t, spawned{[]string{j.Runtime.Node}, "/"}); o.stdout != "0 1 2 3 \n" {
		t.Errorf("the first program: %+v", o)
	}
	o := run(t, standin(t, "PLAIN").of(t, j))
	want := fmt.Sprintf("0 1 2 3 LC_ALL=C TZ=UTC HOME=%[1]s TMPDIR=%[1]s OPENSSL_CONF=/dev/null \n", j.Home)
	if o.stdout != want || o.stderr != "" || !o.state.Success() {
		t.Errorf("%+v\nwant %s", o, want)
	}
}

func TestMarkKeepsOtherDescriptors(t *testing.T) {
	var pair [2]int
	must(t, unix.Pipe(pair[:]))
	defer unix.Close(pair[1])
	must(t, unix.Close(pair[0]))
	must(t, closeAllOnExec())
	markCloseOnExec(pair[0]) // closed by now: nothing to mark
	if flags, err := unix.FcntlInt(uintptr(pair[1]), unix.F_GETFD, 0); err != nil || flags != unix.FD_CLOEXEC {
		t.Errorf("flags %#x, %v", flags, err)
	}
}

// TestSpawnFails: nothing is started and nothing left open.
func TestSpawnFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plain")
	must(t, os.WriteFile(file, nil, 0o600))
	for name, s := range map[string]spawned{
		"no program":   {[]string{filepath.Join(dir, "absent")}, "/"},
		"no right":     {[]string{file}, "/"},
		"no directory": {[]string{"/bin/cat"}, filepath.Join(dir, "absent")},
		"NUL":          {[]string{"/bin/cat", "a\x00b"}, "/"},
	} {
		t.Run(name, func(t *testing.T) {
			before := openDescriptors(t)
			p, err := s.launch()
			if p != nil || err == nil || !strings.HasPrefix(err.Error(), "launch: ") {
				t.Errorf("%v, %v", p, err)
			}
			if after := openDescriptors(t); !slices.Equal(before, after) {
				t.Errorf("open before %v, after %v", before, after)
			}
		})
	}
}

// openDescriptors are ours, with what each of them is.
func openDescriptors(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/self/fd/*")
	must(t, err)
	var open []string
	for _, name := range names {
		if target, err := os.Readlink(name); err == nil {
			open = append(open, name+" "+target)
		}
	}
	return open
}

// TestSpawnedSession: no signal of a terminal reaches the run.
func TestSpawnedSession(t *testing.T) {
	p, err := spawn([]string{"/bin/cat"}, "/")
	must(t, err)
	defer p.close()
	if session, err := unix.Getsid(p.PID); err != nil || session != p.PID || p.Handle.Pid != p.PID {
		t.Errorf("session %d of %d, %v", session, p.PID, err)
	}
	must(t, p.Kill())
	_, err = p.Wait()
	must(t, err)
}
