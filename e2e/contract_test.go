package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// filledIn makes a path of a template: names that nothing has.
var filledIn = strings.NewReplacer("{runId}", "nobody", "{name}", "slot-63")

// TestEveryPath: each path that can be asked answers as the contract says, the
// same to HEAD without a body, and refuses the methods it has not.
func TestEveryPath(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for template, item := range shared.contract.Doc.Paths.Map() {
		path, want := filledIn.Replace(template), 200
		if path != template {
			want = 404
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if item.Operations()[method] == nil && !(method == "HEAD" && item.Get != nil) {
				d.mustNotAllow(t, method, path)
			}
		}
		if item.Get == nil {
			continue
		}
		got := d.get(t, path)
		head := d.ask(t, d.newRequest(t, http.MethodHead, path, nil))
		if got.status != want || head.status != want || head.header.Get("Content-Type") != got.header.Get("Content-Type") {
			t.Errorf("%s: GET %d, HEAD %d with %s", path, got.status, head.status, head.header.Get("Content-Type"))
		}
	}
}

// mustNotAllow fails unless a method is refused; that Allow lists the others is
// judged with every answer.
func (d *daemon) mustNotAllow(t *testing.T, method, path string) {
	t.Helper()
	if a := d.ask(t, d.newRequest(t, method, path, strings.NewReader("x"))); a.status != 405 {
		t.Errorf("%s %s: %d", method, path, a.status)
	}
}

// TestUnknownPaths: what is not in the contract is not there.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/runs/", "/V1/runs", "/v1/runs/a/b", "/v1/slots/", "/v1/slots/slot-0/x", "/v1//status", "//v1/status", "/v1/status/", "/v1/status%00", "/v2/runs", "/openapi.json", "/debug/pprof/", "/metrics/", "/../etc/passwd", "/%2e%2e/x"} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			a := d.ask(t, d.newRequest(t, method, path, nil))
			if p := a.problem(t); p.Status != 404 || p.Code != "not-found" {
				t.Errorf("%s %s: %d %s", method, path, p.Status, p.Code)
			}
		}
	}
}

// TestRequestID: the caller's id comes back where it has the form of one.
func TestRequestID(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for id, kept := range map[string]bool{"a": true, "A.b_c-9": true, strings.Repeat("x", 64): true, "": false, "a b": false, strings.Repeat("x", 65): false, "a/b": false, "é": false} {
		r := d.newRequest(t, http.MethodGet, "/nowhere", nil)
		r.Header.Set("X-Request-Id", id)
		a := d.ask(t, r) // checks instance against the header
		if got := a.header.Get("X-Request-Id"); (got == id) != kept || got == "" {
			t.Errorf("%q came back as %q", id, got)
		}
	}
	if other := startDaemon(t); other.instance == d.instance {
		t.Errorf("two daemons have the same instance %s", d.instance)
	}
}

// TestEarlyRefusal: a client that waits to be asked for its body is refused
// without it.
func TestEarlyRefusal(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for accept, want := range map[string]string{"text/html": "406", "application/json": "100"} {
		conn := d.dial(t)
		_, err := io.WriteString(conn, "POST /v1/runs HTTP/1.1\r\nHost: confined\r\nExpect: 100-continue\r\nContent-Length: 1000\r\nAccept: "+accept+"\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("Accept %s: %q, %v", accept, line, err)
		}
	}
}

// TestNoRequestAtAll: what is no HTTP request is answered by the parser, barely,
// and ends the connection; a body that ends early is a request, and a bad one.
func TestNoRequestAtAll(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	const host = "Host: confined\r\n"
	for name, row := range map[string]struct {
		sent string
		want string
		bare bool
	}{
		"no host":                     {"GET /healthz HTTP/1.1\r\n\r\n", "400", true},
		"two hosts":                   {"GET /healthz HTTP/1.1\r\n" + host + host + "\r\n", "400", true},
		"no words":                    {"\x16\x03\x01\r\n\r\n", "400", true},
		"a header that is none":       {"GET /healthz HTTP/1.1\r\n" + host + "no colon\r\n\r\n", "400", true},
		"a head too large":            {"GET /healthz HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", "431", true},
		"an unknown expectation":      {"GET /healthz HTTP/1.1\r\n" + host + "Expect: miracles\r\n\r\n", "417", true},
		"another version":             {"GET /healthz HTTP/3.0\r\n" + host + "\r\n", "505", true},
		"two lengths":                 {"POST /v1/snapshots HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", "400", true},
		"a body that ends early":      {"POST /v1/snapshots HTTP/1.1\r\n" + host + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100\r\n\r\n--b--", "400", false},
		"a chunk that is none":        {"POST /v1/snapshots HTTP/1.1\r\n" + host + "Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400", false},
		"a length beyond all bounds":  {"POST /v1/snapshots HTTP/1.1\r\n" + host + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999999999\r\n\r\n", "413", false},
		"the control, a good request": {"GET /healthz HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", "200", false},
	} {
		conn := d.dial(t)
		if _, err := io.WriteString(conn, row.sent); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := conn.CloseWrite(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		answer, _ := io.ReadAll(conn)
		if !strings.HasPrefix(string(answer), "HTTP/1.1 "+row.want) || strings.Contains(string(answer), "X-Request-Id") == row.bare {
			t.Errorf("%s: %.300q", name, answer)
		}
	}
}

// TestSnapshots: the digests of the documented vectors, by this test's own code
// and by the daemon, and what cannot be a snapshot.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for want, f := range map[string]files{
		"sha256:c0043fe4568bd869827ca5681438f9dbf6deb6c9070e7b18d59f18cc69c1be61": {},
		"sha256:375d22506ae6cd2056ecc6e588f8679fc3fa697a7027399d97dfa77f203bdbf7": {"main.mjs": "console.log('hi')\n"},
		"sha256:3317aab87a5603e966da3fc10a0eff96ae777f1251722a1fc5a25740df9ef0bb": {"b/x.js": "", "a.txt": "hello\n", "B.txt": everyByte()},
		"sha256:28dde3b61accdde26535befe581773ec1bea2fa20f4f7085de0a87dc92741fc4": {"node_modules/@a/b+c/index.js": "1\n"},
	} {
		got := d.describe(t, f.list())
		if f.digest() != want || got.Digest != want {
			t.Errorf("%v: this test says %s, the daemon %s, want %s", f.list(), f.digest(), got.Digest, want)
		}
		protocol, bytes := "sf-confined-snapshot/1", int64(0)
		for i, one := range f.list() {
			if strings.ContainsAny(one.path, "@+") {
				protocol = "sf-confined-snapshot/2"
			}
			sum := sha256.Sum256([]byte(one.content))
			if got.Files[i].Path != one.path || got.Files[i].Size != int64(len(one.content)) || got.Files[i].SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("file %d is %+v, want %q", i, got.Files[i], one.path)
			}
			bytes += int64(len(one.content))
		}
		if got.Protocol != protocol || got.Bytes != bytes || len(got.Files) != len(f) {
			t.Errorf("%s: %+v", want, got)
		}
		reversed := f.list()
		slices.Reverse(reversed)
		if again := d.describe(t, reversed); again.Digest != want {
			t.Errorf("in another order: %s", again.Digest)
		}
	}
}

type snapshotFacts struct {
	Digest, Protocol string
	Bytes            int64
	Files            []struct {
		Path   string
		Size   int64
		SHA256 string
	}
}

// describe asks the daemon for the identity of files.
func (d *daemon) describe(t *testing.T, parts []file) snapshotFacts {
	t.Helper()
	r := d.newRequest(t, http.MethodPost, "/v1/snapshots", strings.NewReader(rawForm(parts)))
	r.Header.Set("Content-Type", "multipart/form-data; boundary="+bound)
	a := d.ask(t, r)
	if a.status != 200 {
		t.Fatalf("POST /v1/snapshots: %s", a.body)
	}
	return decode[snapshotFacts](t, a.body)
}

// TestPins: the identities to pin are those of the files on this host, and stay.
func TestPins(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	a := d.get(t, "/v1/runtime")
	rt := decode[struct {
		Digest, ClosureDigest, OS, Arch, OSBuild, NodeVersion, Node, Integrity string
		Files, Launchers                                                       []struct{ Path, SHA256 string }
		Proof                                                                  struct{ Kind string }
	}](t, a.body)
	node, err := filepath.EvalSymlinks(shared.node)
	if err != nil {
		t.Fatal(err)
	}
	if rt.OS != runtime.GOOS || rt.Arch != runtime.GOARCH || strings.TrimPrefix(rt.NodeVersion, "v") != nodeVersion || rt.Node != node || rt.Proof.Kind != "built-in" || rt.OSBuild == "" {
		t.Errorf("runtime: %s", a.body)
	}
	if rt.Digest == rt.ClosureDigest || len(rt.Files) < 3 || len(rt.Launchers) != 1 {
		t.Fatalf("runtime: %s", a.body)
	}
	for _, f := range rt.Files {
		mustHash(t, f.Path, f.SHA256)
	}
	mustHash(t, shared.binary, rt.Launchers[0].SHA256)
	if !strings.Contains(string(a.body), `"`+node+`"`) {
		t.Errorf("Node itself is not among the files: %s", a.body)
	}
	if again := d.get(t, "/v1/runtime"); !bytes.Equal(again.body, a.body) {
		t.Errorf("the runtime changed:\n%s\n%s", a.body, again.body)
	}
	profile := decode[struct {
		Name, Digest, Template string
		Environment            []string
	}](t, d.get(t, "/v1/profile").body)
	slices.Sort(profile.Environment)
	if profile.Name != "confined-linux/1" || len(profile.Template) < 500 || strings.Join(profile.Environment, " ") != "HOME LC_ALL OPENSSL_CONF TMPDIR TZ" {
		t.Errorf("profile: %s, %d bytes, %v", profile.Name, len(profile.Template), profile.Environment)
	}
}

func mustHash(t *testing.T, path, want string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
		t.Errorf("%s has another sha256 than %s", path, want)
	}
}

// TestContractIsServed: /openapi.yaml is the file, byte for byte.
func TestContractIsServed(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	if a := d.get(t, "/openapi.yaml"); !bytes.Equal(a.body, shared.text) {
		t.Errorf("/openapi.yaml is %d bytes, the file %d", len(a.body), len(shared.text))
	}
}

// fieldOrder is the order in which every object of an observed result is
// encoded: the reference's.
const fieldOrder = `status runId attributable problems identities process namespace
identities: program input runtime profile bounds
identities.program: digest entry args
identities.profile: name digest instantiated
identities.bounds: timeoutMs maxOutputBytes cpuSeconds maxDescriptors
process: pid admission limits exit pipesClosed stopped killSent stdout stderr outputBytes durationMs usage
process.limits: cpuSeconds descriptors coreBlocks fileBlocks
process.limits.cpuSeconds: soft hard
process.exit: code signal
process.stdout: encoding data
process.usage: userMs systemMs maxRssBytes
namespace: state durable`

// TestResultBytes: a result is encoded in one order and one way, and the same
// request has the same identities each time.
func TestResultBytes(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := d.script(t, `console.log('<a href="x">&\u2028')`, "<", "\u2028", "é")
	first, raw, header := d.postRun(t, r)
	d.mustBeRight(t, r, first)
	second, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, second)
	// The text of a profile names the inodes of its slot: it is each run's own.
	second.Identities.Profile.Instantiated = first.Identities.Profile.Instantiated
	if text(t, first.Identities) != text(t, second.Identities) || first.Process.Stdout != second.Process.Stdout {
		t.Errorf("twice the same request: %+v, %+v", first.Identities, second.Identities)
	}
	for line := range strings.Lines(fieldOrder) {
		path, want, nested := strings.Cut(strings.TrimSpace(line), ": ")
		if !nested {
			path, want = "", path
		}
		if got := keysOf(t, raw, path); got != want {
			t.Errorf("%q has the fields %s, want %s", path, got, want)
		}
	}
	if bytes.HasSuffix(raw, []byte("\n")) || bytes.Contains(raw, []byte(`\u003c`)) || bytes.Contains(raw, []byte(": ")) || !bytes.Contains(raw, []byte(`<a href=\"x\">&`)) {
		t.Errorf("encoded differently: %s", raw)
	}
	if ct := header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type is %q", ct)
	}
}

// keysOf are the names of the object at path in doc, in the order they stand.
func keysOf(t *testing.T, doc []byte, path string) string {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		if name != "" {
			doc = decode[map[string]json.RawMessage](t, doc)[name]
		}
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	var keys []string
	for depth, key := 0, true; ; {
		token, err := dec.Token()
		if err == io.EOF {
			return strings.Join(keys, " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			if depth == 1 && key {
				keys, key = append(keys, token.(string)), false
				continue
			}
		}
		key = key || depth == 1
	}
}

var sample = regexp.MustCompile(`^[a-z_]+(\{([a-z_]+="[^"]*",?)*\})? [-+0-9.eE]+(Inf|NaN)?$`)

// TestMetrics: the text parses, holds every name of the contract, and counts.
func TestMetrics(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	mustRun(t, d)
	d.ask(t, bad{body: func(string) string { return "" }}.request(t, d))
	body := string(d.get(t, "/metrics").body)
	for line := range strings.Lines(body) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") && !sample.MatchString(line) {
			t.Errorf("no sample: %q", line)
		}
	}
	for _, name := range strings.Fields("slots slots_limit runs_total stops_total admissions_total run_problems_total quarantines_total stage_seconds queue queue_wait_seconds refusals_total upload_bytes output_bytes ready boundary_info build_info") {
		if !strings.Contains(body, "# TYPE confined_"+name+" ") {
			t.Errorf("confined_%s is missing", name)
		}
	}
	if strings.Contains(body, d.root) || strings.Contains(body, "main.mjs") {
		t.Error("a path is in the metrics")
	}
	for series, want := range map[string]float64{
		`confined_runs_total{reason="",status="observed"}`: 1, `confined_runs_total{reason="aborted",status="not-started"}`: 0, `confined_runs_total{reason="",status="unresolved"}`: 0,
		`confined_admissions_total{value="admitted"}`: 1, `confined_refusals_total{code="malformed-request"}`: 1, `confined_refusals_total{code="internal"}`: 0,
		`confined_slots{state="free"}`: 8, `confined_slots{state="running"}`: 0, `confined_slots_limit`: 8, `confined_queue`: 0,
		`confined_stage_seconds_count{stage="settle"}`: 1, `confined_output_bytes_sum`: 3, `confined_queue_wait_seconds_count`: 1, `confined_upload_bytes_count`: 1,
	} {
		if got := d.metric(t, series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	open := d.newRequest(t, http.MethodGet, "/metrics", nil)
	open.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	if a := d.ask(t, open); !strings.HasPrefix(a.header.Get("Content-Type"), "application/openmetrics-text") || !bytes.HasSuffix(a.body, []byte("# EOF\n")) {
		t.Errorf("OpenMetrics: %s", a.header.Get("Content-Type"))
	}
}
