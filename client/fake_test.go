package client

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"confined/client/api"
)

// fake is a daemon that answers exactly what a test tells it to.
type fake struct {
	socket string
	mu     sync.Mutex
	got    []received // every request that arrived whole
}

// received is one request.
type received struct {
	*http.Request
	body []byte
}

// newFake answers each request with the text that answer makes of it, and then
// closes the connection.
func newFake(t testing.TB, answer func(received) string) *fake {
	t.Helper()
	return newFakeConn(t, func(f *fake, conn net.Conn) {
		r, err := f.read(bufio.NewReader(conn))
		if err != nil {
			t.Errorf("the fake daemon cannot read a request: %v", err)
			return
		}
		_, _ = io.WriteString(conn, answer(r)) // a client that is gone misses it
	})
}

// newFakeConn calls serve for each connection, which ends with it.
func newFakeConn(t testing.TB, serve func(*fake, net.Conn)) *fake {
	t.Helper()
	f := &fake{socket: shortDir(t) + "/s"}
	listener, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				serve(f, conn)
			})
		}
	})
	return f
}

// shortDir is a folder whose path leaves room for a socket.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// read takes one whole request.
func (f *fake) read(from *bufio.Reader) (received, error) {
	request, err := http.ReadRequest(from)
	if err != nil {
		return received{}, err
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return received{}, err
	}
	r := received{request, body}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, r)
	return r, nil
}

// requests are those that arrived so far.
func (f *fake) requests() []received {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]received{}, f.got...)
}

// part is one part of a form.
type part struct{ name, content string }

// parts are the form that a request holds.
func (r received) parts() ([]part, error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	form := multipart.NewReader(bytes.NewReader(r.body), params["boundary"])
	var out []part
	for {
		p, err := form.NextRawPart()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		out = append(out, part{p.FormName(), string(content)})
	}
}

// document is what a run asks for.
func (r received) document() api.RunRequest {
	var doc api.RunRequest
	parts, err := r.parts()
	if err == nil && len(parts) > 0 {
		err = json.Unmarshal([]byte(parts[0].content), &doc)
	}
	if err != nil {
		panic(fmt.Sprintf("a run without a document: %v", err))
	}
	return doc
}

// What the answers of fakes say a program printed. The standard error is no
// UTF-8, the standard output holds what encoders like to escape.
const (
	printed = "<ü&>\u2028\n"
	warned  = "\xffé"
)

// observed is a sound result of the run that r asks for.
func observed(r received) string {
	doc := r.document()
	var args api.Args = []string{}
	if doc.Program.Args != nil {
		args = *doc.Program.Args
	}
	return `{"status":"observed","runId":` + text(*doc.ID) + `,"attributable":true,"problems":[],` +
		`"identities":{"program":{"digest":` + text(doc.Program.Digest) + `,"entry":` + text(doc.Program.Entry) + `,"args":` + text(args) + `},` +
		`"input":` + text(doc.Input.Digest) + `,"runtime":` + text(doc.Runtime) + `,` +
		`"profile":{"name":"confined-linux/1","digest":` + text(doc.Profile) + `,"instantiated":"sha256:5"},` +
		fmt.Sprintf(`"bounds":{"timeoutMs":%d,"maxOutputBytes":%d,"cpuSeconds":%d,"maxDescriptors":%d}},`,
			doc.TimeoutMs, doc.MaxOutputBytes, doc.CPUSeconds, doc.MaxDescriptors) +
		`"process":{"pid":4711,"admission":"admitted","limits":null,"exit":{"code":3,"signal":null},"pipesClosed":true,"stopped":null,"killSent":false,` +
		`"stdout":{"encoding":"utf-8","data":"<ü&>` + "\u2028" + `\n"},"stderr":{"encoding":"base64","data":"/8Op"},` +
		`"outputBytes":12,"durationMs":12.345,"usage":{"userMs":40,"systemMs":1.5,"maxRssBytes":52428800}},` +
		`"namespace":{"state":"removed","durable":true}}`
}

// notStarted is a sound result of a run that was not started.
func notStarted(r received) string {
	return `{"status":"not-started","runId":` + text(*r.document().ID) + `,"reason":"retained-limit","message":"full","namespace":null}`
}

// unresolved is a sound result of a run whose process may still be there.
func unresolved(r received) string {
	return replace(observed(r),
		`"status":"observed"`, `"status":"unresolved"`,
		`"attributable":true,"problems":[]`, `"problems":[{"code":"not-reaped","message":"still there"}]`,
		`"exit":{"code":3,"signal":null}`, `"exit":null`,
		`{"state":"removed","durable":true}`, `{"state":"quarantined","path":"/r/slot-0","reason":"unresolved","message":"kept"}`)
}

// problem is one that the daemon could answer with.
func problem(status int, code string) string {
	return fmt.Sprintf(`{"type":"urn:confined:problem:%s","title":"no","status":%d,"detail":"why","instance":"urn:confined:request:1","code":%q}`, code, status, code)
}

// answerOf is a whole HTTP answer with more header fields, each "Name: value".
func answerOf(status int, mediaType, body string, fields ...string) string {
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n", status, http.StatusText(status), mediaType, len(body))
	for _, field := range fields {
		head += field + "\r\n"
	}
	return head + "\r\n" + body
}

// resultAnswer is the whole answer with a result.
func resultAnswer(result string) string {
	return answerOf(200, resultType, result, "Content-Digest: "+digestOf(result))
}

// digestOf is a Content-Digest.
func digestOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// text is v as JSON, unescaped.
func text(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(buf.String())
}

// replace replaces each old with its new, once; a replacement that changes
// nothing would make a test that cannot fail.
func replace(text string, oldnew ...string) string {
	for i := 0; i < len(oldnew); i += 2 {
		changed := strings.Replace(text, oldnew[i], oldnew[i+1], 1)
		if changed == text {
			panic(fmt.Sprintf("%q is not in %s", oldnew[i], text))
		}
		text = changed
	}
	return text
}

// job is a small one, with pins.
func job(t testing.TB) Job {
	t.Helper()
	return Job{
		Pins:    Pins{Runtime: "sha256:aa", Profile: "sha256:bb"},
		Program: tree(t, "main.mjs", "console.log(1)\n", "lib/a.mjs", ""), Entry: "main.mjs", Args: []string{"<a>", "é \"\\\n"},
		Input: tree(t, "data@1.bin", "\x00\xff--\r\n"),
	}
}

// tree is one of these paths and contents.
func tree(t testing.TB, pathsAndContents ...string) Tree {
	t.Helper()
	var files []File
	for i := 0; i < len(pathsAndContents); i += 2 {
		files = append(files, File{pathsAndContents[i], []byte(pathsAndContents[i+1])})
	}
	out, err := NewTree(files...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
