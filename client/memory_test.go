package client

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestMemory: a large result takes the memory of its bytes and of the output
// decoded from JSON, and as a stream also that of its line, once in pieces and
// once whole. It is not parallel: it counts all allocations.
func TestMemory(t *testing.T) {
	o, r := fuzzOrder(t)
	output := strings.Repeat("\xff", 2<<20)
	coded := base64.StdEncoding.EncodeToString([]byte(output))
	result := replace(observed(r), `{"encoding":"utf-8","data":"<ü&>`+"\u2028"+`\n"}`, `{"encoding":"base64","data":"`+coded+`"}`)

	response := &http.Response{
		ContentLength: int64(len(result)), Body: io.NopCloser(strings.NewReader(result)),
		Header: http.Header{"Content-Digest": {digestOf(result)}},
	}
	var got *Result
	var err error
	taken := allocated(func() { got, err = o.answer(response) })
	if err != nil || len(got.Stdout()) != len(output) {
		t.Fatal(got, err)
	}
	if unit := int64(len(result)); taken > 2*unit+512<<10 {
		t.Errorf("a result of %d bytes took %d", unit, taken)
	}

	e := events(r)
	last := strings.Replace(replace(e[7], digestOf(observed(r)), digestOf(result), observed(r), result), `"seq":7`, `"seq":3`, 1)
	lines := strings.Join([]string{e[0], e[1], strings.Replace(e[3], `"seq":3`, `"seq":2`, 1), last, ""}, "\n")
	s := stream{order: o, lines: bufio.NewReaderSize(strings.NewReader(lines), 64<<10), tell: func(Event) {}, stdout: sha256.New(), stderr: sha256.New()}
	s.stdout.Write([]byte(output)) // as if told of
	taken = allocated(func() { got, err = s.follow() })
	if err != nil || len(got.Stdout()) != len(output) {
		t.Fatal(got, err)
	}
	if unit := int64(len(result)); taken > 4*unit+512<<10 {
		t.Errorf("a stream with a result of %d bytes took %d", unit, taken)
	}
}

// allocated is how many bytes do allocates in all.
func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
