package e2e

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
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

// TestContractIsServed: /openapi.yaml is the file, byte for byte.
func TestContractIsServed(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	if a := d.get(t, "/openapi.yaml"); !bytes.Equal(a.body, shared.text) {
		t.Errorf("/openapi.yaml is %d bytes, the file %d", len(a.body), len(shared.text))
	}
}
