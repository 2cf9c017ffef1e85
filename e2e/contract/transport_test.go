package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTransport: every answer is judged, however it is read, and what is not
// read at all is told too.
func TestTransport(t *testing.T) {
	instance := "i"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Request-Id", "id")
		h.Set("Confined-Instance", instance)
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Type", plain)
		if r.URL.Path == "/v1/status" {
			h.Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, filled(statusBody)+r.URL.RawQuery)
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
		if r.URL.RawQuery == "cut" {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	for name, row := range map[string]struct {
		path       string
		change     func()
		read       func(*http.Response)
		complaints int
		unread     int
	}{
		"read to the end":          {path: "/healthz"},
		"wrong, read to the end":   {path: "/v1/status?x", complaints: 1},
		"wrong, closed at the end": {path: "/v1/status?x", read: func(r *http.Response) { io.CopyN(io.Discard, r.Body, r.ContentLength); r.Body.Close() }, complaints: 1},
		"closed half-way":          {path: "/healthz", read: func(r *http.Response) { io.CopyN(io.Discard, r.Body, 7); r.Body.Close() }},
		"undeclared, closed":       {path: "/nowhere", read: func(r *http.Response) { r.Body.Close() }, complaints: 1},
		"broken":                   {path: "/healthz?cut", read: func(r *http.Response) { io.Copy(io.Discard, r.Body) }},
		"never read":               {path: "/healthz", read: func(*http.Response) {}, unread: 1},
		"another instance":         {path: "/healthz", change: func() { instance = "j" }, complaints: 1},
	} {
		t.Run(name, func(t *testing.T) {
			instance = "i"
			way := &Transport{Contract: load(t), Base: &http.Transport{}, Seen: &Ledger{}}
			defer way.CloseIdleConnections()
			client := &http.Client{Transport: way}
			get := func(path string, read func(*http.Response)) {
				response, err := client.Get(server.URL + path)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				if read(response); row.unread != len(way.Unread()) {
					t.Errorf("unread: %v", way.Unread())
				}
			}
			all := func(r *http.Response) { io.Copy(io.Discard, r.Body) }
			if row.change != nil {
				get("/healthz", all)
				row.change()
			}
			if row.read == nil {
				row.read = all
			}
			get(row.path, row.read)
			if got := way.Complaints(); len(got) != row.complaints {
				t.Errorf("complaints: %v", got)
			}
			if len(way.Complaints()) > 0 || len(way.Unread()) > 0 {
				t.Error("complaints were told twice, or a body stays open")
			}
		})
	}
}
