package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"confined/internal/exec"
	"confined/internal/ns"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func ptr[T any](v T) *T { return &v }

func identitiesOf() exec.Identities {
	return exec.Identities{
		Program: exec.ProgramIdentity{Digest: digest('1'), Entry: "main.mjs", Args: []string{"<a>", "é\u2028\"\\\n"}},
		Input:   digest('2'), Runtime: digest('3'),
		Profile: exec.ProfileIdentity{Name: "confined-linux/1", Digest: digest('4'), Instantiated: digest('5')},
		Bounds:  exec.Bounds{TimeoutMs: 600_000, MaxOutputBytes: 0, CPUSeconds: 7, MaxDescriptors: 4096},
	}
}

func observedResult(id string) exec.Observed {
	pair := func(n exec.Limit) exec.LimitPair { return exec.LimitPair{Soft: n, Hard: n} }
	return exec.Observed{
		RunID: id, Attributable: true, Problems: nil, Identities: identitiesOf(),
		Process: exec.ProcessFacts{
			PID: 4711, Admission: exec.AdmissionAdmitted,
			Limits: &exec.MeasuredLimits{CPUSeconds: pair(7), Descriptors: pair(4096), CoreBlocks: pair(0), FileBlocks: exec.LimitPair{Hard: exec.Unlimited}},
			Exit:   &exec.Exit{Code: ptr(0)}, PipesClosed: true,
			Stdout: exec.OutputOf([]byte("hi <&> \x00\t\r\n\x7f ü\u2029")), Stderr: exec.OutputOf([]byte("\xff\xfe")), OutputBytes: 20,
			Duration: 12_345_678 * time.Nanosecond,
			Usage:    &exec.Usage{User: 40 * time.Millisecond, System: 1500 * time.Microsecond, MaxRSSBytes: 50 << 20},
		},
		Namespace: ns.Disposition{State: ns.StateRemoved, Durable: true},
	}
}

// results has one of each kind and of each optional part.
func results() map[string]exec.Result {
	quarantined := ns.Disposition{State: ns.StateQuarantined, Path: "/r/slot-0", Reason: ns.NamespaceChanged, Message: "program/main.mjs has 2 links"}
	stopped := observedResult("signalled")
	stopped.Attributable = false
	stopped.Problems = []exec.Problem{{Code: exec.ProblemAdmissionAbsent, Message: "bytes \xff of a message"}, {Code: exec.ProblemNamespaceChanged, Message: "m"}}
	stopped.Process.Admission, stopped.Process.Limits, stopped.Process.Usage = exec.AdmissionAbsent, nil, nil
	stopped.Process.Exit, stopped.Process.Stopped, stopped.Process.KillSent = &exec.Exit{Signal: ptr("SIGKILL")}, exec.StopTimeout, true
	stopped.Process.Stdout, stopped.Process.Stderr = exec.Output{}, exec.Output{}
	stopped.Identities.Program.Args = nil
	stopped.Namespace = quarantined
	unresolved := exec.Unresolved{
		RunID: "unresolved", Problems: []exec.Problem{{Code: exec.ProblemNotReaped, Message: "m"}}, Identities: identitiesOf(), Process: stopped.Process,
		Namespace: ns.Disposition{State: ns.StateQuarantined, Path: "/r/slot-1", Reason: ns.Unresolved, Message: "m"},
	}
	unresolved.Process.Exit, unresolved.Process.PipesClosed = nil, false
	return map[string]exec.Result{
		"not-started":           exec.NotStarted{RunID: "a", Reason: exec.ReasonRetainedLimit, Message: "the root is full: <8>"},
		"not-started-removed":   exec.NotStarted{RunID: "b", Reason: exec.ReasonAborted, Message: "m", Namespace: &ns.Disposition{State: ns.StateRemoved}},
		"not-started-kept":      exec.NotStarted{RunID: "c", Reason: exec.ReasonSnapshotMismatch, Message: "m", Namespace: &quarantined},
		"observed":              observedResult("d"),
		"observed-with-signal":  stopped,
		"unresolved-not-reaped": unresolved,
	}
}

func encoded(t testing.TB, r exec.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encodeResult(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestResultGoldens(t *testing.T) {
	for name, r := range results() {
		t.Run(name, func(t *testing.T) {
			got := encoded(t, r)
			path := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; create it with go test -run Goldens -update, then read it", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if !json.Valid(got) || !utf8.Valid(got) || !bytes.Equal(got, encoded(t, r)) {
				t.Errorf("not valid JSON in UTF-8, or not the same twice: %s", got)
			}
		})
	}
}

// TestAnswerIsTheFrozenResult checks the whole answer against the contract, and
// its headers against its bytes.
func TestAnswerIsTheFrozenResult(t *testing.T) {
	for name, r := range results() {
		t.Run(name, func(t *testing.T) {
			rig := newRig(t, nil)
			rig.executor.run = executorGiving(r)
			body, contentType := helloForm(func(m map[string]any) { m["id"] = r.ID() })
			w := rig.post(t, "/v1/runs", body, contentType)
			sum := sha256.Sum256(w.Body.Bytes())
			want := map[string]string{
				"Content-Type": "application/json", "Content-Length": strconv.Itoa(w.Body.Len()),
				"Content-Digest":  "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":",
				"Confined-Run-Id": r.ID(), "Confined-Status": string(r.Status()),
			}
			for k, v := range want {
				if w.Header().Get(k) != v {
					t.Errorf("%s is %q, want %q", k, w.Header().Get(k), v)
				}
			}
			if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), encoded(t, r)) {
				t.Errorf("answer %d %s", w.Code, w.Body)
			}
			if timing := w.Header().Get("Server-Timing"); !serverTimingForm.MatchString(timing) {
				t.Errorf("Server-Timing is %q", timing)
			}
		})
	}
}

// TestBytesAreNeverAltered encodes random bytes, mostly near the edges of UTF-8
// and torn anywhere, and reads them back with the standard decoder.
func TestBytesAreNeverAltered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "\"", "\\", "\x00", "\x1f", "\x7f", "\n", "<", "é", "\u2028", "\ufffd", "😀", "\xff", "\xc3", "\xed\xa0\x80"}
	for range 3000 {
		var b []byte
		for range rng.IntN(12) {
			b = append(b, alphabet[rng.IntN(len(alphabet))]...)
		}
		r := observedResult("x")
		one, other := rng.IntN(len(b)+1), rng.IntN(len(b)+1)
		one, other = min(one, other), max(one, other)
		r.Process.Stdout = exec.OutputOf(b[:one], b[one:other], b[other:])
		text := encoded(t, r)
		var got struct{ Process struct{ Stdout Bytes } }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		back := []byte(got.Process.Stdout.Data)
		if got.Process.Stdout.Encoding == BytesEncodingBase64 {
			back, _ = base64.StdEncoding.DecodeString(got.Process.Stdout.Data)
		}
		if !bytes.Equal(back, b) || utf8.Valid(b) != (got.Process.Stdout.Encoding == BytesEncodingUTF8) {
			t.Fatalf("%q came back as %q (%s)", b, back, got.Process.Stdout.Encoding)
		}
	}
}
