package e2e

import (
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
