package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	osexec "os/exec"
	ossignal "os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"confined/e2e/contract"
)

// patience bounds every wait of these tests. Nothing they wait for takes long:
// it is there so that a hang becomes a failure with a reason.
const patience = 60 * time.Second

// nodeVersion is the Node.js that `make node` brings.
const nodeVersion = "26.8.1"

// world is what all tests of this process share. It is made once by TestMain
// and never changes.
type world struct {
	repo     string // where go.mod is
	binary   string // the daemon
	node     string // the Node.js of these tests
	contract *contract.Contract
	text     []byte           // openapi.yaml
	seen     *contract.Ledger // what kinds of answers came
}

var shared world

func TestMain(m *testing.M) {
	surround()
	// Under nohup this process ignores SIGHUP, and so would all that it starts;
	// a handler is none after an exec.
	ossignal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(testAll(m))
}

// testAll builds the daemon once and removes it afterwards. GOFLAGS=-race makes
// it one that ends with 66, and so fails its test, where it sees a data race.
func testAll(m *testing.M) int {
	bin, err := os.MkdirTemp("", "cfbin")
	if err == nil {
		defer os.RemoveAll(bin)
		shared, err = makeWorld(bin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	code := m.Run()
	if kinds := shared.contract.Kinds(); testing.Verbose() {
		missing := shared.seen.Missing(kinds)
		fmt.Printf("e2e: %d of the %d kinds of answers came over a real socket; internal/httpapi makes each of them. The others: %q\n", len(kinds)-len(missing), len(kinds), missing)
	}
	return code
}

func makeWorld(bin string) (world, error) {
	if runtime.GOOS != "linux" {
		return world{}, fmt.Errorf("these tests need Linux: the boundary of %s comes with later work", runtime.GOOS)
	}
	repo, err := repository()
	if err != nil {
		return world{}, err
	}
	w := world{repo: repo, binary: filepath.Join(bin, "confined"), seen: &contract.Ledger{}}
	w.node = filepath.Join(repo, ".node", nodeVersion, "bin", "node")
	if _, err := os.Stat(w.node); err != nil {
		return world{}, fmt.Errorf("there is no Node.js for tests: run `make node` (%w)", err)
	}
	if w.text, err = os.ReadFile(filepath.Join(repo, "openapi.yaml")); err == nil {
		w.contract, err = contract.Load(w.text)
	}
	if err != nil {
		return world{}, err
	}
	if out, err := buildDaemon(repo, w.binary); err != nil {
		return world{}, fmt.Errorf("building the daemon: %w\n%s", err, out)
	}
	return w, nil
}

// buildDaemon compiles the program as `make build` does, with more flags of go build.
func buildDaemon(repo, to string, flags ...string) (out []byte, err error) {
	build := osexec.Command("go", append(append([]string{"build", "-trimpath"}, flags...), "-o", to, "./cmd/server")...)
	build.Dir = repo
	if !strings.Contains(os.Getenv("GOFLAGS"), "-race") {
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	return build.CombinedOutput()
}

// repository is the nearest folder upwards that holds go.mod.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("go.mod is in no folder upwards from here")
		}
		dir = filepath.Dir(dir)
	}
}

// settings are how one daemon of a test differs from the usual.
type settings struct {
	args      []string // more flags
	node      string
	binary    string
	keepsRoot bool // the root need not be empty at the end
	unready   bool // it need not get ready: wait for /healthz alone
}

type option func(*settings)

// withFlags adds flags of `confined serve`.
func withFlags(flags ...string) option {
	return func(s *settings) { s.args = append(s.args, flags...) }
}

// withNode pins another Node.js than the usual one.
func withNode(path string) option { return func(s *settings) { s.node = path } }

// withBinary starts another daemon than the usual one.
func withBinary(path string) option { return func(s *settings) { s.binary = path } }

// keepingRoot is for tests that leave entries in the root on purpose.
func keepingRoot() option { return func(s *settings) { s.keepsRoot = true } }

// unready is for daemons on which no run can start.
func unready() option { return func(s *settings) { s.unready = true } }

// places are the folders of one daemon: private, short, and on a file system
// that the product accepts.
type places struct{ dir, root, state, socket string }

// newPlaces makes them, root included, and removes them when the test is over.
func newPlaces(t testing.TB) places {
	t.Helper()
	dir, err := os.MkdirTemp("", "cf")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if !fits(dir) {
		t.Fatalf("%s is on a file system that the daemon refuses: set TMPDIR to a folder on ext4, xfs or btrfs", dir)
	}
	p := places{dir: dir, root: dir + "/root", state: dir + "/state", socket: dir + "/s"}
	if err := os.Mkdir(p.root, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// fits says whether dir is on a file system that is fit for a root.
func fits(dir string) bool {
	const ext, xfs, btrfs = 0xEF53, 0x58465342, 0x9123683E
	var st syscall.Statfs_t
	return syscall.Statfs(dir, &st) == nil && slices.Contains([]int64{ext, xfs, btrfs}, int64(st.Type)&0xffffffff)
}

// daemon is one running `confined serve`.
type daemon struct {
	places
	settings
	cmd       *osexec.Cmd
	log       *logBuffer
	client    *http.Client
	transport *contract.Transport // of client; it judges every answer
	exited    chan struct{}       // closed once the process is reaped

	pinned   sync.Once
	runtime  string // digest
	profile  string // digest
	instance string // Confined-Instance of the first answer
}

// startDaemon starts a daemon in places of its own and returns once it is
// ready. When the test is over the daemon is stopped, and must then have ended
// with 0 and left no socket, process or entry of the root.
func startDaemon(t testing.TB, options ...option) *daemon {
	t.Helper()
	return startDaemonIn(t, newPlaces(t), options...)
}

// startDaemonIn is startDaemon in places that a test prepared.
func startDaemonIn(t testing.TB, p places, options ...option) *daemon {
	t.Helper()
	d := newDaemon(t, p, options...)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.exited)
		_ = d.cmd.Wait() // its outcome is in ProcessState
	}()
	t.Cleanup(func() { d.end(t) })
	d.awaitReady(t)
	return d
}

// newDaemon is a daemon that is not started yet. When the test is over, every
// answer it gave must have fitted the contract.
func newDaemon(t testing.TB, p places, options ...option) *daemon {
	t.Helper()
	s := settings{node: shared.node, binary: shared.binary}
	for _, o := range options {
		o(&s)
	}
	d := &daemon{places: p, settings: s, cmd: serveCommand(p, s), log: &logBuffer{}, transport: judgedSocket(p.socket), exited: make(chan struct{})}
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	d.client = &http.Client{Transport: d.transport} // without a time limit: a run may take as long as its queue and bounds allow
	t.Cleanup(func() {
		poll(t, func() bool { return len(d.transport.Unread()) == 0 }, func() string {
			return fmt.Sprintf("answers that the test neither reads nor closes: %v", d.transport.Unread())
		})
		d.mustFitContract(t)
	})
	return d
}

// serveCommand is the command line of one daemon, with nothing of the test's
// own environment in it but PATH.
func serveCommand(p places, s settings) *osexec.Cmd {
	args := []string{"serve", "--root=" + p.root, "--state=" + p.state, "--socket=" + p.socket, "--node=" + s.node, "--log-format=json"}
	cmd := osexec.Command(s.binary, append(args, s.args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}
	cmd.Dir = p.dir
	return cmd
}

// awaitReady returns once the daemon answers that it is ready (or, for one that
// cannot be, that it is alive).
func (d *daemon) awaitReady(t testing.TB) {
	t.Helper()
	path := "/readyz"
	if d.unready {
		path = "/healthz"
	}
	var last answer
	poll(t, func() bool {
		select {
		case <-d.exited:
			t.Fatalf("the daemon ended with %v before it was ready\n%s", d.cmd.ProcessState, d.log)
		default:
		}
		var err error
		last, err = d.exchange(d.newRequest(t, http.MethodGet, path, nil))
		return err == nil && last.status == http.StatusOK
	}, func() string { return fmt.Sprintf("the daemon is not ready: %s\n%s", last.body, d.log.tail()) })
	d.instance = last.header.Get("Confined-Instance")
}

// end stops the daemon, if it still runs, and checks what it leaves behind.
func (d *daemon) end(t testing.TB) {
	t.Helper()
	if t.Failed() {
		defer func() { t.Logf("the end of the daemon's log:\n%s", d.log.tail()) }()
	}
	children := childrenOf(d.cmd.Process.Pid)
	if code := d.stop(t); code != 0 {
		t.Errorf("the daemon ended with %d, want 0 (%v)", code, d.cmd.ProcessState)
	}
	if _, err := os.Lstat(d.socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if entries := d.rootEntries(t); len(entries) > 0 && !d.keepsRoot {
		t.Errorf("the root is not empty: %v", entries)
	}
	poll(t, func() bool { return len(d.programs()) == 0 && !anyAlive(children) }, func() string {
		return fmt.Sprintf("processes outlived the daemon: programs %v, children %v", d.programs(), children)
	})
}

// stop sends SIGTERM and returns the exit code. A daemon that has ended already
// is left alone; one that does not end is killed, with its goroutines in its log.
func (d *daemon) stop(t testing.TB) int {
	t.Helper()
	d.client.CloseIdleConnections()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	if !d.wait(patience) {
		_ = d.cmd.Process.Signal(syscall.SIGQUIT)
		if !d.wait(patience / 6) {
			_ = d.cmd.Process.Kill()
		}
		t.Errorf("the daemon did not end on SIGTERM within %s", patience)
		<-d.exited
	}
	return d.cmd.ProcessState.ExitCode()
}

// wait says whether the daemon ended within limit.
func (d *daemon) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-d.exited:
		return true
	case <-timer.C:
		return false
	}
}

// rootEntries are the names in the root.
func (d *daemon) rootEntries(t testing.TB) []string { return names(t, d.root) }

// names are the entries of dir, sorted.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// poll returns once ok says so. It asks again every few milliseconds and fails
// the test with why when patience ends.
func poll(t testing.TB, ok func() bool, why func() string) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited %s: %s", patience, why())
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// logBuffer keeps what a daemon writes; writer and readers differ.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is all of it so far.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// tail is the last of it.
func (b *logBuffer) tail() string {
	all := b.String()
	return all[max(0, len(all)-4000):]
}
