package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"confined/internal/exec"
)

// event is one line of a stream, of whatever type.
type event struct {
	Seq           int64
	At            time.Time
	Type          string
	RunID         string
	ElapsedMs     float64
	Position      int
	Stage         Stage
	Stream        string
	Bytes         Bytes
	ContentDigest string
	Result        json.RawMessage
	Problem       *Problem
}

// eventsOf reads a stream as far as it came, and checks it.
func eventsOf(t testing.TB, text []byte) []event {
	t.Helper()
	var out []event
	for line := range bytes.Lines(text) {
		out = append(out, eventAfter(t, out, line))
	}
	return out
}

// eventAfter reads one line, and checks it against the contract and against the
// lines before it.
func eventAfter(t testing.TB, before []event, line []byte) event {
	t.Helper()
	doc := mustContract(t).Doc
	var e event
	var value any
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatalf("%v in %.300q", err, line)
	}
	_ = json.Unmarshal(line, &value)
	if err := doc.Components.Schemas["Event"].Value.VisitJSON(shortened(value), openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse()); err != nil {
		t.Errorf("not as in the contract: %v: %.300s", err, line)
	}
	if e.Seq != int64(len(before)) || !eventHead.Match(line) || !bytes.HasSuffix(line, []byte("}\n")) {
		t.Errorf("event %d is %.300q", len(before), line)
	}
	if n := len(before); n > 0 && (e.ElapsedMs < before[n-1].ElapsedMs || e.RunID != before[0].RunID) {
		t.Errorf("%.300q comes after %+v", line, before[n-1])
	}
	if e.Type == "result" {
		sum := sha256.Sum256(e.Result)
		if e.ContentDigest != "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":" || !bytes.HasSuffix(line, slices.Concat([]byte(`,"result":`), e.Result, []byte("}\n"))) {
			t.Errorf("contentDigest %s of %.300s", e.ContentDigest, line)
		}
	}
	return e
}

// shortened is a document with its long texts cut, over which the validator
// would take seconds.
func shortened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = shortened(member)
		}
	case string:
		return v[:min(len(v), 1000)]
	}
	return v
}

var eventHead = regexp.MustCompile(`^\{"seq":\d+,"at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","type":"[a-z]+","runId":"[^"]+","elapsedMs":[0-9.]+[,}]`)

// outline is the events in short: their types, or stages, and output in order.
func outline(list []event) string {
	var words []string
	for _, e := range list {
		switch e.Type {
		case "stage":
			words = append(words, string(e.Stage))
		case "output":
			words = append(words, e.Stream+":"+string(e.Bytes.Encoding)+":"+e.Bytes.Data[:min(len(e.Bytes.Data), 50)])
		default:
			words = append(words, e.Type)
		}
	}
	return strings.Join(words, " ")
}

// plainBytes is the bytes themselves.
func plainBytes(t testing.TB, b Bytes) []byte {
	t.Helper()
	if b.Encoding == BytesEncodingUTF8 {
		return []byte(b.Data)
	}
	out, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// printedIn is all output of one stream in the events.
func printedIn(t testing.TB, list []event, stream string) []byte {
	t.Helper()
	var out []byte
	for _, e := range list {
		if e.Type == "output" && e.Stream == stream {
			out = append(out, plainBytes(t, e.Bytes)...)
		}
	}
	return out
}

// streamed posts the hello form, asking for a stream, and returns its events.
func (r *rig) streamed(t testing.TB, edit func(object)) (*httptest.ResponseRecorder, []event) {
	t.Helper()
	body, contentType := helloForm(edit)
	w := r.post(t, "/v1/runs", body, contentType, "Accept", mediaStream)
	if got := w.Header().Get("Content-Type"); w.Code != 200 || got != mediaStream {
		t.Fatalf("%d %s: %s", w.Code, got, w.Body)
	}
	return w, eventsOf(t, w.Body.Bytes())
}

// printer stands for the program of a run: it prints through the hooks of a trace.
type printer struct {
	trace *exec.Trace
	id    string
	kept  [2][]byte
	parts [2][][]byte // of kept, one for each print
}

func (p *printer) print(s exec.Stream, text string) {
	at := len(p.kept[s])
	p.kept[s], p.parts[s] = append(p.kept[s], text...), append(p.parts[s], []byte(text))
	p.trace.Output(exec.OutputInfo{RunID: p.id, Stream: s, Kept: exec.OutputOf(p.parts[s]...), At: at})
}

// result is what a run that printed this comes to.
func (p *printer) result() exec.Observed {
	r := observedResult(p.id)
	r.Process.Stdout, r.Process.Stderr = exec.OutputOf(p.parts[exec.Stdout]...), exec.OutputOf(p.parts[exec.Stderr]...)
	r.Process.OutputBytes = int64(r.Process.Stdout.Len() + r.Process.Stderr.Len())
	return r
}

// running makes the executor's runs reach every stage and, while their program
// runs, do body.
func (r *rig) running(body func(p *printer)) {
	r.executor.traced = func(_ context.Context, req exec.Request, trace *exec.Trace) exec.Result {
		p := &printer{trace: trace, id: req.RunID()}
		trace.Counted(exec.CountedInfo{RunID: p.id})
		trace.Materialised(exec.MaterialisedInfo{RunID: p.id, Namespace: "/r/slot-3"})
		trace.Launched(exec.LaunchedInfo{RunID: p.id, Namespace: "/r/slot-3"})
		trace.Admitted(exec.AdmittedInfo{RunID: p.id, Namespace: "/r/slot-3"})
		body(p)
		trace.Collected(exec.CollectedInfo{RunID: p.id, Namespace: "/r/slot-3"})
		result := p.result()
		trace.Settled(exec.SettledInfo{RunID: p.id, Result: result})
		return result
	}
}

// openTickets are those whose client is not answered yet.
func (r *rig) openTickets() int {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.queue.open
}
