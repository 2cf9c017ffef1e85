package httpapi

import (
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"confined/internal/confine"
	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

// retryRig is the whole daemon but for its main: a real executor behind a real
// socket. Its hooks may panic, as bugs do.
type retryRig struct {
	*rig
	dir, socket, root string
	request           object

	mu       sync.Mutex
	launched int
	answered []int // statuses of POST /v1/runs, in order
}

func newRetryRig(t *testing.T, launched func(exec.LaunchedInfo), change func(*Options)) *retryRig {
	t.Helper()
	dir, err := os.MkdirTemp("", "retry-test-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &retryRig{dir: dir, socket: dir + "/s", root: dir + "/root"}
	for _, d := range []string{r.root, dir + "/state"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := ns.NewPool(ns.Config{Root: r.root, MaxRetained: 8, State: dir + "/state"})
	if err != nil {
		t.Fatal(err)
	}
	executor, err := exec.New(exec.Options{Pool: pool, Node: pinnedNode(t), State: dir + "/state", Proven: pins.NewProofs(pins.ProofOptions{}).Of, Trace: &exec.Trace{Launched: func(i exec.LaunchedInfo) {
		r.mu.Lock()
		r.launched++
		r.mu.Unlock()
		launched(i)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = executor.Close() })
	runtime, err := executor.DescribeRuntime(t.Context())
	if err != nil {
		t.Fatalf("this host cannot run the tests: %v", err)
	}
	r.rig = newRig(t, func(o *Options) {
		o.Executor, o.Pool, o.Profile = executor, pool, confine.Here().Profile()
		if change != nil {
			change(o)
		}
	})
	r.request = object{"runtime": string(runtime.Runtime.Digest), "profile": string(confine.Here().Profile().Digest), "timeoutMs": 20_000, "maxDescriptors": 256, "cpuSeconds": 10}
	r.serve(t)
	return r
}

// serve listens on the socket and notes how every run is answered.
func (r *retryRig) serve(t *testing.T) {
	t.Helper()
	l, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		noted := &answer{ResponseWriter: w}
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.answered = append(r.answered, noted.status)
		}()
		r.ServeHTTP(noted, q)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
}

// pinnedNode is the Node that `make node` brought.
func pinnedNode(t *testing.T) string {
	t.Helper()
	node, err := filepath.Abs("../../.node/26.8.1/bin/node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("%v: run `make node` first", err)
	}
	return node
}

// curl sends the hello program, by the real curl with these arguments more, and
// returns what it printed.
func (r *retryRig) curl(t *testing.T, id string, args ...string) string {
	t.Helper()
	request := requestWith(func(m map[string]any) {
		for name, value := range r.request {
			m[name] = value
		}
		if id != "" {
			m["id"] = id
		}
	})
	for name, content := range map[string]string{"request" + id: request, "main.mjs": helloSource} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600); err != nil {
			t.Error(err)
		}
	}
	form := []string{"-F", "request=@" + r.dir + "/request" + id, "-F", "program/main.mjs=@" + r.dir + "/main.mjs"}
	all := slices.Concat([]string{"-sS", "--unix-socket", r.socket}, form, args, []string{"http://confined/v1/runs"})
	out, _ := osexec.CommandContext(t.Context(), "curl", all...).Output() // how it ended is in what was answered
	return string(out)
}

// TestCurlRetriesStartOneProgram: a bug of the daemon after a process exists is
// answered 500, which curl repeats; the process is the only one all the same.
func TestCurlRetriesStartOneProgram(t *testing.T) {
	stream := []string{"-H", "Accept: " + mediaStream}
	for name, row := range map[string]struct {
		id   string
		args []string
		want []int // the answers
	}{
		"with an id":                {"mine", []string{"--retry", "5"}, []int{500, 409}},
		"without an id":             {"", []string{"--retry", "5"}, []int{500, 409}},
		"whatever the error":        {"", []string{"--retry", "2", "--retry-delay", "1", "--retry-all-errors", "--fail"}, []int{500, 409, 409}},
		"whatever, with an id":      {"mine", []string{"--retry", "2", "--retry-delay", "1", "--retry-all-errors", "--fail"}, []int{500, 409, 409}},
		"a stream with an id":       {"mine", append(stream, "--retry", "5", "--retry-all-errors"), []int{200}},
		"a stream without an id":    {"", append(stream, "--retry", "5", "--retry-all-errors"), []int{200}},
		"without retries (control)": {"", nil, []int{500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRetryRig(t, func(exec.LaunchedInfo) { panic("a bug after the spawn") }, nil)
			out := r.curl(t, row.id, row.args...)
			r.mu.Lock()
			defer r.mu.Unlock()
			slots, err := os.ReadDir(r.root)
			if err != nil {
				t.Fatal(err)
			}
			if r.launched != 1 || len(slots) != 1 || !slices.Equal(r.answered, row.want) {
				t.Errorf("%d programs were started, %d slots are kept, answered %v, want %v: %.500s", r.launched, len(slots), r.answered, row.want, out)
			}
			if row.want[0] == 200 && !strings.Contains(out, `"type":"problem"`) {
				t.Errorf("the stream is %s", out)
			}
		})
	}
}

// TestCurlRetriesFullQueue: what may be sent again is sent again by the same
// curl, and then runs.
func TestCurlRetriesFullQueue(t *testing.T) {
	t.Parallel()
	refused := make(chan struct{}, 10)
	hold := make(chan struct{})
	var first sync.Once
	r := newRetryRig(t, func(exec.LaunchedInfo) { first.Do(func() { <-hold }) }, func(o *Options) {
		o.Workers, o.Queue = 1, 0
		o.Trace = &Trace{Refused: func(string) { refused <- struct{}{} }}
	})
	started := make(chan string)
	go func() { started <- r.curl(t, "first") }()
	waitFor(t, "the first run is alive", func() bool { running, _ := r.Load(); return running == 1 })
	retried := make(chan string)
	go func() { retried <- r.curl(t, "", "--retry", "5") }()
	<-refused
	close(hold)
	for _, out := range []string{<-started, <-retried} {
		if !strings.Contains(out, `"status":"observed"`) || !strings.Contains(out, `"data":"hi\n"`) {
			t.Errorf("got %s", out)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.answered)
	if r.launched != 2 || len(r.answered) < 3 || !slices.Equal(r.answered[:2], []int{200, 200}) || !slices.Equal(slices.Compact(r.answered[2:]), []int{429}) {
		t.Errorf("%d programs were started, answered %v", r.launched, r.answered)
	}
}
