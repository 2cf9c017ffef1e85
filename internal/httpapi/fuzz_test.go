package httpapi

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"confined/internal/exec"
)

// The seeds are in the code, so that they cannot vanish.

func requestSeeds() []string {
	seeds := []string{
		requestWith(nil), `{}`, `[]`, `null`, `{"id":"a","id":"b"}`, `{"a":{"b":[1,2.5e-3,"\ud83d\ude00"]}}`, "\ufeff{}", `"\ud800"`, `{"timeoutMs":1e3}`, `-0`,
		`{"program":null,"input":[]}`, strings.Repeat("[", 33),
	}
	return append(seeds, requestWith(func(m object) { m["id"] = "é"; program(m)["args"] = []any{"\x00", 1} }))
}

func formSeeds() []string {
	whole := raw(rawRequest(), rawProgram())
	return []string{
		whole, whole[:len(whole)/2], "", "--b--", "--b\n" + rawRequest() + "\n--b--\n", raw(rawProgram(), rawRequest()), raw(rawRequest(), rawPart("input/../x", "\xff")),
		raw(rawRequest(), "Content-Transfer-Encoding: base64\r\n"+rawPart("input/a", "eA==")), raw(rawRequest(), rawPart("", "")), raw(endMark + ": 1\r\n\r\n"),
		raw(rawRequest(), rawPart("Input/a", ""), rawPart("input/a", ""), rawPart("input/A", "")), strings.ReplaceAll(whole, "\r\n", "\n"),
	}
}

func TestSeedsAreThere(t *testing.T) {
	if len(requestSeeds()) < 13 || len(formSeeds()) < 12 {
		t.Error("seeds are missing")
	}
}

// FuzzRequestJSON: what is accepted has one reading, and encoding/json has the
// same; what is not gives nothing. Decoding never panics, and every pointer and
// code is one of the contract's.
func FuzzRequestJSON(f *testing.F) {
	for _, s := range requestSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		n, err := parseStrict(doc)
		if (n == nil) != (err != nil) {
			t.Fatalf("%v and %v", n, err)
		}
		if err != nil {
			return
		}
		var want any
		d := json.NewDecoder(strings.NewReader(string(doc)))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if got := plain(n); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", doc, got, want)
		}
		var found faults
		spec := decodeRequest(n, &found)
		_, rest := exec.NewRequest(spec, math.MaxInt64)
		found.ofRequest(rest)
		seen := map[string]bool{}
		for _, fault := range found.list {
			if seen[fault.Pointer] || fault.Detail == "" || fault.Pointer != "" && fault.Pointer[0] != '/' {
				t.Fatalf("%+v", found.list)
			}
			seen[fault.Pointer] = true
		}
	})
}

// FuzzMultipart: any body at all is either a run or a 4xx problem that fits the
// contract, and nothing is held afterwards.
func FuzzMultipart(f *testing.F) {
	for _, s := range formSeeds() {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	r := newRig(f, nil)
	f.Fuzz(func(t *testing.T, body []byte, snapshot bool) {
		path := "/v1/runs"
		if snapshot {
			path = "/v1/snapshots"
		}
		w := r.post(t, path, string(body), rawType)
		if w.Code != 200 {
			checkRefusal(t, w)
		}
		if running, waiting := r.Load(); running+waiting != 0 || r.memory.used.Load() != 0 {
			t.Fatalf("left: %d, %d, %d bytes", running, waiting, r.memory.used.Load())
		}
	})
}

func checkRefusal(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	p := problemOf(t, w)
	if w.Code < 400 || w.Code > 499 || (p.Code == ProblemCodeInvalidRequest) != (len(p.Errors) > 0) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}
