package confine

import (
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"confined/internal/pins"

	"golang.org/x/sys/unix"
)

// still is a run of testdata/still.c in Node's place, static, so that its closure is itself.
func still(t testing.TB, s slot) linuxLaunch {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	path := filepath.Join(dir, "still")
	if out, err := osexec.Command("gcc", "-O1", "-static", "-o", path, "testdata/still.c").CombinedOutput(); err != nil {
		t.Fatalf("still.c cannot be built; install gcc and the static C library (Debian: libc6-dev): %v\n%s", err, out)
	}
	source := sourceAt(t, path)
	closure := pins.Closure{Node: path, Files: []pins.RuntimeFile{{Path: path, ID: pins.FileID{Dev: source.Dev, Ino: source.Ino}}}}
	return instance(t, s.job(t, closure, "none"))
}

// TestStart looks at a process that has not done anything yet, from inside and from outside, under a daemon that is careless with what it hands
// on.
func TestStart(t *testing.T) {
	s := newSlot(t, nil)
	t.Setenv("CONFINE_SECRET", "must not be seen")
	inherited, err := os.Open("/dev/null") // close-on-exec by Go, but see below
	must(t, err)
	defer inherited.Close()
	_, err = unix.FcntlInt(inherited.Fd(), unix.F_SETFD, 0)
	must(t, err)
	signal.Ignore(unix.SIGUSR2) // as nohup does: a child inherits it, also across an exec
	defer signal.Reset(unix.SIGUSR2)
	r := start(t, still(t, s))
	want := fmt.Sprintf("0 1 2 3 LC_ALL=C TZ=UTC HOME=%[1]s/home TMPDIR=%[1]s/home OPENSSL_CONF=/dev/null ", s.dir)
	if got := line(t, r.Stdout); got != want {
		t.Errorf("inside: %q, want %q", got, want)
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.PID))
	must(t, err)
	for i, fd := range fds {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", r.PID, fd.Name()))
		if err != nil || len(fds) != 4 || fd.Name() != strconv.Itoa(i) || !strings.HasPrefix(target, "pipe:") {
			t.Errorf("outside: descriptor %s is %s, %v", fd.Name(), target, err)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.PID))
	must(t, err)
	for _, want := range []string{"\nSigBlk:\t0000000000000000\n", "\nSigIgn:\t0000000000000000\n", "\nThreads:\t1\n"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("status is without %q:\n%s", want, status)
		}
	}
	if personality, err := readWord(fmt.Sprintf("/proc/%d/personality", r.PID)); err != nil || personality != "00000000" {
		t.Errorf("personality %s", personality)
	}
	r.open(0)
	if o := r.finish(t); !o.state.Success() {
		t.Errorf("%+v", o)
	}
}

// buildOriginNode builds a runtime whose library is found by $ORIGIN, and which ends with 42.
func buildOriginNode(t *testing.T) (node string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	write := func(name, text string) string {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	library, program := write("library.c", `int answer(void) { return 42; }`), write("program.c", "int answer(void);\nint main(void) { return answer(); }")
	node = filepath.Join(dir, "node")
	for _, words := range [][]string{
		{"-shared", "-fPIC", "-o", filepath.Join(dir, "libanswer.so"), library},
		{"-o", node, program, "-L" + dir, "-lanswer", "-Wl,-rpath,$ORIGIN"},
	} {
		if out, err := osexec.Command("gcc", words...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, out)
		}
	}
	return node
}

// TestOrigin: a runtime whose libraries are found by $ORIGIN starts, for which ld.so reads /proc/self/exe.
func TestOrigin(t *testing.T) {
	s := newSlot(t, nil)
	launcher, err := openTestLauncher()
	must(t, err)
	closure, err := pins.TakeClosure(t.Context(), buildOriginNode(t), launcher)
	must(t, err)
	i := instance(t, s.job(t, closure, "none"))
	if o := run(t, i); o.state.ExitCode() != 42 || o.stderr != "" {
		t.Errorf("%+v", o)
	}
	without, err := i.saying(strings.Replace(i.text, fmt.Sprintf("alias \"/proc/self/exe\" %q\n", closure.Node), "", 1))
	must(t, err)
	if o := run(t, without); without.text == i.text || !strings.Contains(o.stderr, "libanswer.so") || o.state.ExitCode() != 127 {
		t.Errorf("without the alias: %+v", o)
	}
}
