package confine

import (
	"context"
	"encoding/json"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"confined/internal/pins"
)

// nodePath is the Node that `make node` brings.
func nodePath() (string, error) {
	dir, err := os.Getwd()
	for err == nil && dir != "/" {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			node := filepath.Join(dir, ".node", "26.8.1", "bin", "node")
			_, err = os.Stat(node)
			return node, err
		}
		dir = filepath.Dir(dir)
	}
	return "", os.ErrNotExist
}

var openTestLauncher = sync.OnceValues(ownBinary)

var takeNode = sync.OnceValues(func() (pins.Closure, error) {
	launcher, err := openTestLauncher()
	if err != nil {
		return pins.Closure{}, err
	}
	node, err := nodePath()
	if err != nil {
		return pins.Closure{}, err
	}
	return pins.TakeClosure(context.Background(), node, launcher)
})

func nodeClosure(t testing.TB) pins.Closure {
	t.Helper()
	c, err := takeNode()
	if err != nil {
		t.Fatalf("no Node to test with: run `make node` in the repository: %v", err)
	}
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// slot is a namespace as package ns makes it, owned by whom outerID says.
type slot struct{ dir string }

// newSlot writes files whose names begin with program/ or input/.
func newSlot(t testing.TB, files map[string]string) slot {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for dir := base; dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		must(t, err)
		if owner := info.Sys().(*syscall.Stat_t).Uid; info.Mode()&1 == 0 && int(owner) != os.Geteuid() {
			t.Fatalf("%s is closed to this user: set TMPDIR to a directory that is not below another user's private one", dir)
		}
	}
	s := slot{filepath.Join(base, "slot-0")}
	for _, dir := range []string{"", "program", "input", "home"} {
		s.mkdir(t, dir)
	}
	s.write(t, "canary", "canary\n")
	for name, content := range files {
		s.mkdir(t, filepath.Dir(name))
		s.write(t, name, content)
	}
	return s
}

func (s slot) mkdir(t testing.TB, name string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(s.dir, name), 0o700))
	s.own(t, name)
}

func (s slot) write(t testing.TB, name, content string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o400))
	s.own(t, name)
}

func (s slot) own(t testing.TB, name string) {
	t.Helper()
	uid, gid := outerID(0)
	for ; name != "."; name = filepath.Dir(name) {
		must(t, os.Lchown(filepath.Join(s.dir, name), uid, gid))
		if name == "" {
			return
		}
	}
}

func (s slot) source(t testing.TB, name string) pins.Source {
	t.Helper()
	return sourceAt(t, filepath.Join(s.dir, name))
}

func sourceAt(t testing.TB, path string) pins.Source {
	t.Helper()
	var st syscall.Stat_t
	must(t, syscall.Lstat(path, &st))
	return pins.Source{Path: path, Dev: st.Dev, Ino: st.Ino}
}

// job is a run of program/main.mjs or of another entry.
func (s slot) job(t testing.TB, c pins.Closure, entry string, args ...string) Job {
	t.Helper()
	return Job{
		Runtime: c, Program: s.source(t, "program"), Input: s.source(t, "input"), Canary: s.source(t, "canary"),
		Home: filepath.Join(s.dir, "home"), Limits: Limits{CPUSeconds: 20, Descriptors: 64},
		Args: append([]string{filepath.Join(s.dir, "program", entry)}, args...),
	}
}

func instance(t testing.TB, j Job) linuxLaunch {
	t.Helper()
	l, err := instantiate(j)
	must(t, err)
	return l
}

// saying is the launch with another text.
func (l linuxLaunch) saying(text string) (linuxLaunch, error) {
	p, err := parseProfile(text)
	l.text, l.profile = text, p
	return l, err
}

// launchable is what leads to a process: an [Instance], or what one is made of.
type launchable interface{ launch() (*Process, error) }

func (i Instance) launch() (*Process, error) { return Launch(i) }

// running is a launched process. Its test's goroutine is locked to its thread until finish.
type running struct{ *Process }

func start(t testing.TB, l launchable) running {
	t.Helper()
	runtime.LockOSThread()
	p, err := l.launch()
	if err != nil {
		runtime.UnlockOSThread()
		t.Fatal(err)
	}
	return running{p}
}

// outcome is all that a process left.
type outcome struct {
	control, stdout, stderr string
	state                   *os.ProcessState
}

func (o outcome) status() syscall.WaitStatus { return o.state.Sys().(syscall.WaitStatus) }

// open writes a byte to the gate, unless it is 0, and closes it.
func (r running) open(b byte) running {
	if b != 0 {
		_, _ = r.Gate.Write([]byte{b})
	}
	_ = r.Gate.Close()
	return r
}

// finish reads everything to the end and reaps. A process that does not end is killed and fails the test.
func (r running) finish(t testing.TB) outcome {
	t.Helper()
	defer runtime.UnlockOSThread()
	alarm := time.AfterFunc(30*time.Second, func() {
		t.Error("the process did not end")
		_ = r.Kill()
	})
	defer alarm.Stop()
	var o outcome
	var group sync.WaitGroup
	for file, into := range map[*os.File]*string{r.Control: &o.control, r.Stdout: &o.stdout, r.Stderr: &o.stderr} {
		group.Go(func() {
			text, err := io.ReadAll(file)
			*into = string(text)
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	state, err := r.Wait()
	must(t, err)
	o.state = state
	_ = r.Gate.Close()
	r.closeOutputs()
	return o
}

func (r running) closeOutputs() { closeAll([]*os.File{r.Control, r.Stdout, r.Stderr}) }

// run launches, opens the gate and waits.
func run(t testing.TB, l launchable) outcome {
	t.Helper()
	return start(t, l).open(GoByte).finish(t)
}

const admittedRecord = "sf-confined/1 admitted\n"

// lines is the control text of a run with the harness's limits.
func limitLines(cpu, descriptors string) string {
	return strings.Join([]string{cpu, cpu, descriptors, descriptors, "0", "0", "0", "0", ""}, "\n")
}

// line reads one line, byte by byte, so that nothing beyond it is taken.
func line(t testing.TB, from *os.File) string {
	t.Helper()
	must(t, from.SetReadDeadline(time.Now().Add(30*time.Second)))
	var text []byte
	for b := make([]byte, 1); ; text = append(text, b[0]) {
		if _, err := from.Read(b); err != nil {
			t.Fatalf("after %q: %v", text, err)
		}
		if b[0] == '\n' {
			must(t, from.SetReadDeadline(time.Time{}))
			return string(text)
		}
	}
}

// task is what a helper process gets on its standard input.
type task struct {
	Text string
	Argv []string
}

// helper starts the test binary as another process that does what name says with the launch.
func helper(t testing.TB, name string, l linuxLaunch) *osexec.Cmd {
	t.Helper()
	words, err := json.Marshal(task{l.text, l.argv})
	must(t, err)
	cmd := osexec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperName+"="+name, "GORACE=atexit_sleep_ms=0") // the race detector's second at the end is for threads that go on
	cmd.Stdin = strings.NewReader(string(words))
	cmd.Stderr = os.Stderr
	return cmd
}
