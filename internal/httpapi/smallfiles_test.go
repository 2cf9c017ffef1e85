package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"confined/internal/pins"
)

// TestSmallFilesCostLittle: of ten thousand files of a byte each, in any form, no
// more stays in memory than what is reserved for them, and our own reader of
// JSON allocates no more on the way than the garbage collector can follow.
func TestSmallFilesCostLittle(t *testing.T) {
	var files []file
	for i := range pins.MaxSnapshotFiles {
		files = append(files, file{name: fmt.Sprintf("d%d/f%d", i%100, i), content: "a"})
	}
	form, boundary := formOf(files...)
	inline := func(entry func(path, content string) string) sending {
		var entries []string
		for _, f := range files {
			entries = append(entries, entry(f.name, f.content))
		}
		return sending{`{"files":[` + strings.Join(entries, ",") + `]}`, jsonType}
	}
	for name, s := range map[string]sending{
		"multipart":        {form, boundary},
		"tar":              {tarOf(files...), "application/x-tar"},
		"JSON":             inline(asText),
		"JSON in base64":   inline(asBase64),
		"JSON, keys first": inline(backwards),
	} {
		r := newRig(t, nil)
		q := httptest.NewRequest("POST", "/v1/snapshots", io.NopCloser(strings.NewReader(s.body)))
		q.Header.Set("Content-Type", s.contentType)
		c := &call{body: newBody(httptest.NewRecorder(), q, r.memory)}
		q = q.WithContext(context.WithValue(q.Context(), callKey{}, c))
		if err := checkForm(q); err != nil {
			t.Fatal(err)
		}
		before, allocated := heap(), allocations()
		snapshot, err := c.readSnapshot()
		if err != nil || len(snapshot.Files()) != len(files) {
			t.Fatalf("%s: %v", name, err)
		}
		// The readers of the other forms are the library's, and the race detector makes their pools leak.
		if each := (allocations() - allocated) / uint64(len(files)); each > 4<<10 && s.contentType == jsonType {
			t.Errorf("%s: %d bytes were allocated for each file", name, each)
		}
		c.form = nil
		if kept := int64(heap()) - int64(before); kept > c.body.held {
			t.Errorf("%s: %d bytes stay, and %d are reserved", name, kept, c.body.held)
		}
		runtime.KeepAlive(snapshot)
		c.body.release()
	}
}

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
