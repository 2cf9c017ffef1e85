package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync"
	"testing"

	"confined"
	"confined/e2e/contract"
	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

// stubExecutor answers what its fields say; it stands for the executor only
// where HTTP itself is tested.
type stubExecutor struct {
	run      func(context.Context, exec.Request) exec.Result
	traced   func(context.Context, exec.Request, *exec.Trace) exec.Result // in the place of run
	describe func(context.Context) (exec.Description, error)
}

func (s *stubExecutor) Run(ctx context.Context, req exec.Request, trace *exec.Trace) (exec.Result, []exec.StageTime) {
	times := []exec.StageTime{{Stage: exec.StagePins, Duration: 1500}}
	if s.traced != nil {
		return s.traced(ctx, req, trace), times
	}
	result := s.run(ctx, req)
	printAll(result, trace)
	return result, times
}

// printAll tells of the output that a result holds, as an executor did before.
func printAll(r exec.Result, trace *exec.Trace) {
	var p exec.ProcessFacts
	switch r := r.(type) {
	case exec.Observed:
		p = r.Process
	case exec.Unresolved:
		p = r.Process
	}
	for s, kept := range []exec.Output{p.Stdout, p.Stderr} {
		if kept.Len() > 0 {
			trace.Output(exec.OutputInfo{RunID: r.ID(), Stream: exec.Stream(s), Kept: kept})
		}
	}
}

func (s *stubExecutor) MaxDescriptors() int64 { return exec.MaxDescriptors }

func (s *stubExecutor) DescribeRuntime(ctx context.Context) (exec.Description, error) {
	return s.describe(ctx)
}

func (s *stubExecutor) ProofOf(pins.Runtime) (pins.Proof, error) {
	return pins.Proof{Kind: pins.ProofBuiltIn}, nil
}

// stubPool is a root as its fields say.
type stubPool struct {
	mu      sync.Mutex
	listing ns.Listing
	err     error
	show    func(name string) (ns.SlotContents, error)
	release func(name, tag string) (ns.Disposition, error)
}

func (p *stubPool) Show(_ context.Context, name string) (ns.SlotContents, error) { return p.show(name) }

func (p *stubPool) Release(_ context.Context, name, tag string) (ns.Disposition, error) {
	return p.release(name, tag)
}

func (p *stubPool) List() (ns.Listing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listing, p.err
}

func (p *stubPool) Others() (int, error) {
	l, err := p.List()
	return othersIn(l), err
}

func (p *stubPool) MaxRetained() int { return 8 }

// rig is an API with everything below it stubbed.
type rig struct {
	*API
	executor *stubExecutor
	pool     *stubPool
	log      *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newRig(t testing.TB, change func(*Options)) *rig {
	t.Helper()
	r := &rig{log: &syncBuffer{}}
	r.executor = &stubExecutor{
		run:      func(_ context.Context, req exec.Request) exec.Result { return observedResult(req.RunID()) },
		describe: func(context.Context) (exec.Description, error) { return describedRuntime(), nil },
	}
	r.pool = &stubPool{listing: ns.Listing{Root: "/r", MaxRetained: 8, Free: 8, Slots: []ns.SlotInfo{{Name: "slot-0", State: ns.Free}}}}
	o := Options{
		Version: "test", Executor: r.executor, Pool: r.pool,
		Profile:     pins.Profile{Name: "confined-linux/1", Digest: digest('b'), Template: "a < b & c\n", Environment: []string{"LC_ALL", "TZ"}},
		HostProblem: func() *exec.HostError { return nil },
		Workers:     2, Queue: 4, UploadMemory: 512 << 20,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "confined_queue 0\n")
		}),
		Trace: &Trace{},
		Log:   slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	api, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.API = api
	return r
}

func digest(c byte) pins.Digest { return pins.Digest("sha256:" + strings.Repeat(string(c), 64)) }

func describedRuntime() exec.Description {
	return exec.Description{
		Runtime: pins.Runtime{
			Closure: pins.Closure{Node: "/opt/node", Files: []pins.RuntimeFile{{Path: "/opt/node", Size: 3}}, Aliases: []pins.Alias{{Path: "/usr/bin/node", Target: "/opt/node"}}},
			OS:      "linux", Arch: "amd64", NodeVersion: "26.8.1", Digest: digest('a'), ClosureDigest: digest('c'),
		},
		Proof: pins.Proof{Kind: "built-in"}, Integrity: exec.IntegrityRehashed,
	}
}

// file is one part of a form.
type file struct {
	name, content string
	header        textproto.MIMEHeader
}

// formOf is a well-formed body and its Content-Type.
func formOf(parts ...file) (string, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.name + `"; filename="blob"`}}
		for k, v := range p.header {
			h[k] = v
		}
		pw, err := w.CreatePart(h)
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(pw, p.content)
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

const helloSource = "console.log('hi')\n"

// requestWith is a valid request for helloSource and no input; edit may change it.
func requestWith(edit func(m map[string]any)) string {
	m := map[string]any{
		"runtime": string(digest('a')), "profile": string(digest('b')),
		"program":   map[string]any{"digest": "sha256:375d22506ae6cd2056ecc6e588f8679fc3fa697a7027399d97dfa77f203bdbf7", "entry": "main.mjs"},
		"input":     map[string]any{"digest": "sha256:c0043fe4568bd869827ca5681438f9dbf6deb6c9070e7b18d59f18cc69c1be61"},
		"timeoutMs": 1000, "maxOutputBytes": 1000, "cpuSeconds": 1, "maxDescriptors": 64,
	}
	if edit != nil {
		edit(m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func helloForm(edit func(m map[string]any)) (string, string) {
	return formOf(file{name: "request", content: requestWith(edit)}, file{name: "program/main.mjs", content: helloSource})
}

// post sends a body and returns the answer, which fits the contract.
func (r *rig) post(t testing.TB, path, body, contentType string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return r.do(t, req)
}

func (r *rig) get(t testing.TB, path string) *httptest.ResponseRecorder {
	t.Helper()
	return r.do(t, httptest.NewRequest(http.MethodGet, path, nil))
}

func (r *rig) do(t testing.TB, req *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	fits(t, req, w.Code, w.Header(), w.Body.Bytes())
	return w
}

// problemOf decodes a problem and checks what every problem has.
func problemOf(t testing.TB, w *httptest.ResponseRecorder) Problem {
	t.Helper()
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("no problem: %v: %s", err, w.Body)
	}
	status, _ := statusOf(p.Code)
	if w.Code != status || p.Status != status || p.Type != "urn:confined:problem:"+string(p.Code) || p.Instance != "urn:confined:request:"+w.Header().Get("X-Request-Id") {
		t.Errorf("answer %d with %s", w.Code, w.Body)
	}
	retry := w.Header().Get("Retry-After")
	if retryable(w.Code) != (retry != "") || (p.RetryAfterMs != nil) != (retry != "") {
		t.Errorf("status %d, Retry-After %q, retryAfterMs %v", w.Code, retry, p.RetryAfterMs)
	}
	return p
}

func retryable(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// loadContract reads openapi.yaml as an independent reader understands it.
var loadContract = sync.OnceValues(func() (*contract.Contract, error) {
	return contract.Load([]byte(confined.Contract()))
})

func mustContract(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fits fails the test when an answer is not what the contract allows.
func fits(t testing.TB, req *http.Request, status int, header http.Header, body []byte) {
	t.Helper()
	fitsAndNotes(t, req, status, header, body, nil)
}

// fitsAndNotes also notes the kind of the answer. A recorder has the body that a
// server leaves out of an answer to HEAD.
func fitsAndNotes(t testing.TB, req *http.Request, status int, header http.Header, body []byte, seen *contract.Ledger) {
	t.Helper()
	if req.Method == http.MethodHead {
		body = nil
	}
	if err := mustContract(t).Check(contract.AnswerTo(req, status, header, body), seen); err != nil {
		t.Errorf("%s %s: %d does not fit the contract: %v\n%.2000s", req.Method, req.URL.Path, status, err, body)
	}
}
