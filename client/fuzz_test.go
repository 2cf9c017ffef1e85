package client

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// fuzzOrder is the job that the seeds answer, and the request as a daemon sees it.
func fuzzOrder(t testing.TB) (order, received) {
	o := order{job(t)}
	o.ID, o.Bounds = "run-1", DefaultBounds()
	f := o.form()
	var body bytes.Buffer
	if _, err := body.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	return o, received{&http.Request{Header: http.Header{"Content-Type": {f.contentType}}}, body.Bytes()}
}

// FuzzStream: whatever a stream holds, following it ends, with a result only if
// that is the one asked for and the very bytes that its last line digests.
func FuzzStream(f *testing.F) {
	o, r := fuzzOrder(f)
	sound := strings.Join(events(r), "\n") + "\n"
	for _, seed := range []string{
		sound, strings.Replace(sound, `"stderr","bytes"`, `"stdout","bytes"`, 1), "", "\n", sound + "\n", sound[:len(sound)-1], strings.Replace(sound, `"seq":3`, `"seq":4`, 1),
		strings.Join([]string{events(r)[0], problemEvent(r, 1, 503)}, "\n") + "\n", `{"seq":0,"type":"result","runId":"run-1","result":null}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		told := int64(0)
		s := stream{order: o, lines: bufio.NewReaderSize(bytes.NewReader(body), 16), stdout: sha256.New(), stderr: sha256.New()}
		s.tell = func(e Event) {
			if e.Seq != told {
				t.Errorf("told of event %d as number %d", e.Seq, told)
			}
			told++
		}
		result, err := s.follow()
		if (result == nil) == (err == nil) {
			t.Fatalf("result %v, error %v", result, err)
		}
		if result != nil {
			soundResult(t, o, result)
			if !bytes.Contains(body, result.Raw) || !bytes.Contains(body, []byte(digestOf(string(result.Raw)))) || body[len(body)-1] != '\n' {
				t.Errorf("the result is not the one of the stream: %s", result.Raw)
			}
		}
	})
}

// FuzzResult: what passes is the result of what was asked for.
func FuzzResult(f *testing.F) {
	o, r := fuzzOrder(f)
	for _, seed := range []string{observed(r), unresolved(r), notStarted(r), "", "null", "[]", `{"status":"observed","runId":"run-1"}`, replace(observed(r), `"program":`, `"program":null,"x":`), replace(observed(r), "/8Op", "/8O")} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		result, err := o.check(raw)
		if (result == nil) == (err == nil) {
			t.Fatalf("result %v, error %v", result, err)
		}
		if result != nil {
			soundResult(t, o, result)
		}
	})
}

// soundResult states again, from the JSON, what a checked result must be.
func soundResult(t *testing.T, o order, r *Result) {
	t.Helper()
	var v struct {
		Status     string
		RunID      string
		Identities struct {
			Program struct{ Digest, Entry string }
			Input   string
		}
	}
	if err := json.Unmarshal(r.Raw, &v); err != nil || v.Status != r.Status() || v.RunID != o.ID || r.RunID != o.ID {
		t.Fatalf("%v: %s", err, r.Raw)
	}
	if r.NotStarted == nil && (v.Identities.Program.Digest != o.Program.Digest() || v.Identities.Program.Entry != o.Entry || v.Identities.Input != o.Input.Digest()) {
		t.Errorf("the result of another job: %s", r.Raw)
	}
	_, _, _ = r.Stdout(), r.Stderr(), r.Problems()
}
