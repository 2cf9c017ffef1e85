package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGoodAnswers: the control of everything below. Together they are every
// kind of success that the contract has.
func TestGoodAnswers(t *testing.T) {
	c, seen := load(t), &Ledger{}
	for _, g := range goods() {
		if err := c.Check(g.answer(), seen); err != nil {
			t.Errorf("%s: %v", g.name, err)
		}
	}
	if err := c.Check(streamOf(lines()...), seen); err != nil {
		t.Errorf("a stream: %v", err)
	}
	for _, k := range seen.Missing(c.Kinds()) {
		if k.Status < 400 {
			t.Errorf("no good answer of the kind %s", k)
		}
	}
}

// harmless are the ways to spoil a field that leave a good answer: a field that
// may be left out, one that may be null, free text, and a negative time.
var harmless = map[string][]string{
	"without":  {"/slot/runId", "/slot/reason", "/slot/message", "/slot/sinceAt", "/entries/sha256", "/proof/receipt", "/proof/provenAt", "/runId of id used"},
	"null":     {"/process/limits", "/process/usage", "/process/exit", "/process/stopped", "/namespace of not started, kept", "/runs/slot", "/runs/startedAt"},
	"a number": {"/process/usage/userMs", "/process/usage/systemMs", "/process/durationMs"},
	"a string": {
		"/message", "/detail", "/title", "/path", "/target", "/environment/0", "/pointer", "/name", "/entry", "/args/0", "/nodeVersion", "/osBuild", "/node", "/root", "/runs/slot",
		"/profile of getStatus", "/template", "/version", "/instance of getStatus", "/process/stdout/data",
	},
}

var index = regexp.MustCompile(`/[0-9]+/`)

// isHarmless says whether way, such as "null at /a/0/b", is one of them. Lists
// of slots and a slot have the same fields.
func isHarmless(way, answer string) bool {
	verb, field, _ := strings.Cut(way, " /")
	field = strings.Replace("/"+index.ReplaceAllString(field, "/"), "/slots/", "/slot/", 1)
	return slices.ContainsFunc(harmless[strings.TrimSuffix(verb, " at")], func(known string) bool {
		known, of, only := strings.Cut(known, " of ")
		return (!only || of == answer) && (field == known || verb == "a string at" && strings.HasSuffix(field, known))
	})
}

// TestSpoiltBodies: whatever is done to a field of any good answer is noticed:
// left out, null, of another type, renamed, and one that nobody declared.
func TestSpoiltBodies(t *testing.T) {
	c, count := load(t), 0
	for _, g := range goods() {
		if !strings.HasPrefix(g.body, "{") {
			continue
		}
		a := g.answer()
		for name, body := range spoilt(t, a.Body) {
			b := a
			b.Body, b.Header = body, a.Header.Clone()
			b.Header.Del("Content-Length")
			if b.Header.Get("Content-Digest") != "" { // what is found must be more than another digest
				b.Header.Set("Content-Digest", contentDigest(body))
			}
			count++
			if noticed := c.Check(b, nil) != nil; noticed == isHarmless(name, g.name) {
				t.Errorf("%s, %s: noticed is %v in %s", g.name, name, noticed, body)
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d bodies were spoilt", count)
	}
}

// TestSpoiltHeads: a status, a header or a type that is not the right one.
func TestSpoiltHeads(t *testing.T) {
	c := load(t)
	for _, g := range goods() {
		for name, change := range map[string]func(*Answer){
			"a status that no operation has": func(a *Answer) { a.Status = 418 },
			"another success":                func(a *Answer) { a.Status = 201 },
			"a redirection":                  func(a *Answer) { a.Status = 304 },
			"another problem's status":       func(a *Answer) { a.Status = 400 },
			"another type":                   func(a *Answer) { a.Header.Set("Content-Type", "text/html") },
			"no request id":                  func(a *Answer) { a.Header.Del("X-Request-Id") },
			"a request id that is none":      func(a *Answer) { a.Header.Set("X-Request-Id", "a b") },
			"another's request id":           func(a *Answer) { a.Asked = http.Header{"X-Request-Id": {"mine"}} },
			"no instance":                    func(a *Answer) { a.Header.Del("Confined-Instance") },
			"may be cached":                  func(a *Answer) { a.Header.Del("Cache-Control") },
			"a byte too few":                 func(a *Answer) { a.Header.Set("Content-Length", "100000") },
			"Retry-After":                    func(a *Answer) { a.Header.Set("Retry-After", "61") },
			"Allow":                          func(a *Answer) { a.Header.Set("Allow", "BREW") },
			"HEAD has a body":                func(a *Answer) { a.Method, a.Body = "HEAD", append(a.Body, 'x') },
			"data after the end":             func(a *Answer) { a.Body = append(a.Body, "{}"...); a.Header.Del("Content-Length") },
			"cut in half":                    func(a *Answer) { a.Body = a.Body[:len(a.Body)/2]; a.Header.Del("Content-Length") },
		} {
			a := g.answer()
			a.Header = a.Header.Clone()
			change(&a)
			text := strings.HasPrefix(g.media, "text/") || strings.HasPrefix(g.media, "application/openmetrics-text")
			unseen := text && (name == "data after the end" || name == "cut in half") || g.body == "" && (name == "cut in half")
			if noticed := c.Check(a, nil) != nil; noticed == unseen {
				t.Errorf("%s, %s: noticed is %v", g.name, name, noticed)
			}
		}
		a := g.answer()
		for header := range a.Header {
			b := g.answer()
			b.Header.Del(header)
			if noticed := c.Check(b, nil) != nil; noticed == (header == "Content-Length") {
				t.Errorf("%s without %s: noticed is %v", g.name, header, noticed)
			}
		}
	}
}

// TestForeignCodes: a code that the contract has, where it is not declared.
func TestForeignCodes(t *testing.T) {
	c := load(t)
	kinds := c.Kinds()
	for code, status := range c.codes {
		for _, g := range goods() {
			at := c.find(g.path)
			if g.status >= 400 || at.operation(g.method) == nil {
				continue
			}
			operation := at.operation(g.method).OperationID
			body := fmt.Sprintf(`{"type":"urn:confined:problem:%[1]s","title":"t","status":%[2]d,"detail":"d","instance":"urn:confined:request:id","code":"%[1]s"}`, code, status)
			g.status, g.media, g.body = status, problemJSON, body
			if status == 429 || status == 503 {
				g.header = http.Header{"Retry-After": {"1"}}
				g.body = strings.Replace(body, "}", `,"retryAfterMs":1000}`, 1)
			}
			if code == "invalid-request" || code == "not-ready" && operation == "readyz" {
				g.body = strings.Replace(g.body, `"code"`, `"errors":[{"code":"not-ready","pointer":"","detail":"d"}],"code"`, 1)
			}
			err := c.Check(g.answer(), nil)
			if declared := slices.Contains(kinds, Kind{operation, status, code}); (err == nil) != declared {
				t.Errorf("%s %s: declared is %v: %v", operation, code, declared, err)
			}
		}
	}
}

// TestSpoiltStreams: lines that are each valid, in an order that is not.
func TestSpoiltStreams(t *testing.T) {
	c := load(t)
	replaced := func(i int, old, new string) func([]string) []string {
		return func(l []string) []string { l[i] = strings.Replace(l[i], old, new, 1); return l }
	}
	last := len(lines()) - 1
	for name, change := range map[string]func([]string) []string{
		"the control":          nil,
		"no line":              func([]string) []string { return nil },
		"without the last":     func(l []string) []string { return l[:last] },
		"without the first":    func(l []string) []string { return l[1:] },
		"a gap":                func(l []string) []string { return slices.Delete(l, 1, 2) },
		"a line after":         func(l []string) []string { return append(l, strings.Replace(l[3], `"seq":3`, `"seq":6`, 1)) },
		"two ends":             func(l []string) []string { return append(l, strings.Replace(l[last], `"seq":5`, `"seq":6`, 1)) },
		"accepted twice":       func(l []string) []string { l[1] = strings.Replace(l[0], `"seq":0`, `"seq":1`, 1); return l },
		"an empty line":        func(l []string) []string { return append(l, "") },
		"another run's line":   replaced(1, `"run"`, `"walk"`),
		"another run's result": replaced(last, `"status":"observed","runId":"run"`, `"status":"observed","runId":"walk"`),
		"other bytes":          replaced(last, `"code":0`, `"code":1`),
		"result is not last":   replaced(last, `"durable":true}}}`, `"durable":true}},"x":1}`),
		"other output":         replaced(2, `"hi"`, `"ho"`),
		"more output":          replaced(2, `"hi"`, `"hi!"`),
		"output elsewhere":     replaced(2, `"stdout"`, `"stderr"`),
		"needless base64":      replaced(2, `"utf-8","data":"hi"`, `"base64","data":"aGk="`),
		"an unknown stage":     replaced(1, `"counted"`, `"cooked"`),
		"an unknown type":      replaced(3, `"heartbeat"`, `"pulse"`),
		"a time with a zone":   replaced(3, `00.000Z`, `00.000+00:00`),
		"a time too fine":      replaced(3, `00.000Z`, `00.0001Z`),
		"a time in seconds":    replaced(3, `00.000Z`, `00Z`),
		"a day that is none":   replaced(3, `-01T`, `-31T`),
		"an undeclared field":  replaced(3, `{`, `{"x":1,`),
	} {
		l := lines()
		if change != nil {
			l = change(l)
		}
		a := streamOf(l...)
		if len(l) == 0 {
			a.Body = nil
		}
		if noticed := c.Check(a, nil) != nil; noticed != (change != nil) {
			t.Errorf("%s: noticed is %v", name, noticed)
		}
	}
	cut := streamOf(lines()[:3]...)
	cut.Body, cut.Cut = append(cut.Body, `{"seq":`...), true
	if err := c.Check(cut, nil); err != nil {
		t.Errorf("a stream that was cut: %v", err)
	}
	for header, value := range map[string]string{"Confined-Status": "observed", "Content-Digest": "x", "Server-Timing": "queue;dur=1", "Confined-Run-Id": "walk"} {
		a := streamOf(lines()...)
		a.Header.Set(header, value)
		if c.Check(a, nil) == nil {
			t.Errorf("%s on a stream: not noticed", header)
		}
	}
}

// TestEndsInProblem: a stream may end with a problem that the run could have
// been answered with, and with no other.
func TestEndsInProblem(t *testing.T) {
	c := load(t)
	for code, good := range map[string]bool{"draining": true, "internal": true, "slot-busy": false, "not-found": false} {
		body := fmt.Sprintf(`{"seq":1,"at":"T","type":"problem","runId":"run","elapsedMs":1,"problem":{"type":"urn:confined:problem:%[1]s","title":"t","status":%[2]d,"detail":"d","instance":"urn:confined:request:id","code":"%[1]s"}}`, code, c.codes[code])
		if err := c.Check(streamOf(lines()[0], filled(body)), nil); (err == nil) != good {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestContradictions: a contract that does not agree with itself is refused.
func TestContradictions(t *testing.T) {
	text := contractText(t)
	for name, pair := range map[string][2]string{
		"the control":                      {},
		"a code that is none":              {"x-problems: [run-unknown]", "x-problems: [run-unheard-of]"},
		"a code without its status":        {"x-problems: [run-unknown]", "x-problems: []"},
		"a status without its code":        {"x-problems: [not-ready]", "x-problems: [not-ready, queue-full]"},
		"a code of everybody":              {"x-problems: [run-unknown]", "x-problems: [run-unknown, internal]"},
		"a code that is described nowhere": {"`queue-full`\n        (429)", "it\n        (429)"},
		"a code with two statuses":         {"`queue-full`\n        (429)", "`queue-full`\n        (429), `queue-full` (430)"},
	} {
		changed := strings.Replace(text, pair[0], pair[1], 1)
		if _, err := Load([]byte(changed)); (err == nil) != (pair[0] == "") {
			t.Errorf("%s: %v", name, err)
		}
		if pair[0] != "" && changed == text {
			t.Errorf("%s: nothing was changed", name)
		}
	}
}
