package contract

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// contractText is openapi.yaml.
func contractText(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var loaded = sync.OnceValues(func() (*Contract, error) {
	text, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		return nil, err
	}
	return Load(text)
})

func load(t testing.TB) *Contract {
	t.Helper()
	c, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// In the bodies below D stands for a digest, H for its hexadecimal, T for a time.
func filled(body string) string {
	hex := strings.Repeat("a", 64)
	return strings.NewReplacer(`"D"`, `"sha256:`+hex+`"`, `"H"`, `"`+hex+`"`, `"T"`, `"2026-11-01T10:00:00.000Z"`, "\n", "").Replace(body)
}

const (
	identities = `{"program":{"digest":"D","entry":"main.mjs","args":["one"]},"input":"D","runtime":"D",
"profile":{"name":"confined-linux/1","digest":"D","instantiated":"D"},
"bounds":{"timeoutMs":1,"maxOutputBytes":0,"cpuSeconds":1,"maxDescriptors":32}}`
	process = `{"pid":7,"admission":"admitted","limits":{"cpuSeconds":{"soft":1,"hard":1},"descriptors":{"soft":32,"hard":32},
"coreBlocks":{"soft":0,"hard":0},"fileBlocks":{"soft":0,"hard":"unlimited"}},"exit":{"code":0,"signal":null},"pipesClosed":true,
"stopped":"timeout","killSent":true,"stdout":{"encoding":"utf-8","data":"hi"},"stderr":{"encoding":"base64","data":"/w=="},
"outputBytes":3,"durationMs":1.5,"usage":{"userMs":1,"systemMs":0.5,"maxRssBytes":9}}`
	quarantined = `{"state":"quarantined","path":"/r/slot-0","reason":"unresolved","message":"m"}`
	observed    = `{"status":"observed","runId":"run","attributable":true,"problems":[],"identities":` + identities + `,"process":` + process + `,"namespace":{"state":"removed","durable":true}}`
	unresolved  = `{"status":"unresolved","runId":"run","problems":[{"code":"not-reaped","message":"m"}],"identities":` + identities + `,"process":` + process + `,"namespace":` + quarantined + `}`
	notStarted  = `{"status":"not-started","runId":"run","reason":"aborted","message":"m","namespace":null}`
	kept        = `{"status":"not-started","runId":"run","reason":"setup-failed","message":"m","namespace":` + quarantined + `}`
	runtimeBody = `{"digest":"D","closureDigest":"D","os":"linux","arch":"amd64","osBuild":"b","nodeVersion":"26.8.1","node":"/n","files":[{"path":"/n","size":1,"sha256":"H"}],
"aliases":[{"path":"/a","target":"/n"}],"launchers":[{"path":"/c","size":1,"sha256":"H"}],"proof":{"kind":"receipt","receipt":"D","provenAt":"T"},"integrity":"rehashed"}`
	slotBody   = `{"name":"slot-0","state":"quarantined","runId":"run","reason":"unresolved","message":"m","sinceAt":"T"}`
	statusBody = `{"version":"1","instance":"i","startedAt":"T","ready":false,"notReady":[{"code":"draining","detail":"d"}],"workers":{"limit":1,"now":0},
"queue":{"limit":1,"now":0},"slots":{"limit":1,"now":0},"profile":"p"}`
	liveBody = `{"runs":[{"runId":"run","stage":"queued","receivedAt":"T","startedAt":null,"slot":null,"timeoutMs":1,"program":"D","entry":"e"},
{"runId":"run2","stage":"admitted","receivedAt":"T","startedAt":"T","slot":"slot-0","timeoutMs":1,"program":"D","entry":"e"}]}`
	detailBody = `{"slot":` + slotBody + `,"entries":[{"path":"p","kind":"file","size":1,"sha256":"H"}],"users":[1]}`
)

// good is one answer that has nothing wrong with it.
type good struct {
	name         string
	method, path string
	status       int
	media, body  string
	header       http.Header
}

func (g good) answer() Answer {
	h := http.Header{"X-Request-Id": {"id"}, "Confined-Instance": {"i"}, "Cache-Control": {"no-store"}}
	if g.media != "" {
		h.Set("Content-Type", g.media)
	}
	for name, values := range g.header {
		h[name] = values
	}
	body := filled(g.body)
	if strings.HasPrefix(body, `{"status":`) && g.path == "/v1/runs" && g.status == 200 {
		status, _, _ := strings.Cut(strings.TrimPrefix(body, `{"status":"`), `"`)
		h.Set("Confined-Run-Id", "run")
		h.Set("Confined-Status", status)
		h.Set("Content-Digest", contentDigest([]byte(body)))
		h.Set("Server-Timing", "queue;dur=0.1, pins;dur=2")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	return Answer{Method: g.method, Path: g.path, Status: g.status, Header: h, Body: []byte(body)}
}

const ndjson, plain, problemJSON = "application/x-ndjson", "text/plain; charset=utf-8", "application/problem+json"

// goods has every successful kind of answer and every shape of body.
func goods() []good {
	etag := http.Header{"Etag": {`"e"`}}
	problem := func(code string, status int, more string) string {
		return `{"type":"urn:confined:problem:` + code + `","title":"t","status":` + strconv.Itoa(status) + `,"detail":"d","instance":"urn:confined:request:id","code":"` + code + `"` + more + `}`
	}
	fault := `,"errors":[{"code":"wrong-type","pointer":"/x","detail":"d"}]`
	return []good{
		{"observed", "POST", "/v1/runs", 200, "application/json", observed, nil},
		{"unresolved", "POST", "/v1/runs", 200, "application/json", unresolved, nil},
		{"not started", "POST", "/v1/runs", 200, "application/json", notStarted, nil},
		{"not started, kept", "POST", "/v1/runs", 200, "application/json", kept, nil},
		{"listRuns", "GET", "/v1/runs", 200, "application/json", liveBody, nil},
		{"cancelRun", "DELETE", "/v1/runs/run", 202, "", "", nil},
		{"describeSnapshot", "POST", "/v1/snapshots", 200, "application/json", `{"digest":"D","protocol":"sf-confined-snapshot/1","bytes":1,"files":[{"path":"p","size":1,"sha256":"H"}]}`, nil},
		{"getRuntime", "GET", "/v1/runtime", 200, "application/json", runtimeBody, nil},
		{"getProfile", "GET", "/v1/profile", 200, "application/json", `{"name":"n","digest":"D","template":"t","environment":["TZ"]}`, nil},
		{"listSlots", "GET", "/v1/slots", 200, "application/json", `{"root":"/r","maxRetained":1,"counted":1,"free":0,"slots":[` + slotBody + `]}`, nil},
		{"getSlot", "GET", "/v1/slots/slot-0", 200, "application/json", detailBody, etag},
		{"releaseSlot", "DELETE", "/v1/slots/slot-0", 200, "application/json", `{"state":"removed","durable":true}`, nil},
		{"releaseSlot, kept", "DELETE", "/v1/slots/slot-0", 200, "application/json", quarantined, nil},
		{"getStatus", "GET", "/v1/status", 200, "application/json", statusBody, nil},
		{"healthz", "GET", "/healthz", 200, plain, "ok", nil},
		{"readyz", "GET", "/readyz", 200, plain, "ok", nil},
		{"metrics", "GET", "/metrics", 200, "text/plain; version=0.0.4", "m 0", nil},
		{"OpenMetrics", "GET", "/metrics", 200, "application/openmetrics-text; version=1.0.0", "# EOF", nil},
		{"contract", "GET", "/openapi.yaml", 200, plain, "openapi: 3.1.0", nil},
		{"invalid", "POST", "/v1/runs", 422, problemJSON, problem("invalid-request", 422, fault), nil},
		{"id used", "POST", "/v1/runs", 409, problemJSON, problem("run-id-used", 409, `,"runId":"run"`), nil},
		{"full", "POST", "/v1/runs", 429, problemJSON, problem("queue-full", 429, `,"retryAfterMs":2000`), http.Header{"Retry-After": {"2"}}},
		{"no runtime", "GET", "/v1/runtime", 503, problemJSON, problem("runtime-unavailable", 503, `,"retryAfterMs":60000`), http.Header{"Retry-After": {"60"}}},
		{"not ready", "GET", "/readyz", 503, problemJSON, problem("not-ready", 503, `,"retryAfterMs":1000`+strings.Replace(fault, "wrong-type", "not-ready", 1)), http.Header{"Retry-After": {"1"}}},
		{"no path", "GET", "/nowhere", 404, problemJSON, problem("not-found", 404, ""), nil},
		{"no method", "PUT", "/v1/runs", 405, problemJSON, problem("method-not-allowed", 405, ""), http.Header{"Allow": {"GET, HEAD, POST"}}},
		{"forbidden", "GET", "/healthz", 403, problemJSON, problem("forbidden", 403, ""), nil},
		{"internal", "GET", "/healthz", 500, problemJSON, problem("internal", 500, ""), nil},
	}
}

// lines are the events of a good stream, in order.
func lines() []string {
	out := []string{
		`{"seq":0,"at":"T","type":"accepted","runId":"run","elapsedMs":0,"position":0}`,
		`{"seq":1,"at":"T","type":"stage","runId":"run","elapsedMs":0.5,"stage":"counted"}`,
		`{"seq":2,"at":"T","type":"output","runId":"run","elapsedMs":1,"stream":"stdout","bytes":{"encoding":"utf-8","data":"hi"}}`,
		`{"seq":3,"at":"T","type":"heartbeat","runId":"run","elapsedMs":15000}`,
		`{"seq":4,"at":"T","type":"output","runId":"run","elapsedMs":15001,"stream":"stderr","bytes":{"encoding":"base64","data":"/w=="}}`,
		`{"seq":5,"at":"T","type":"result","runId":"run","elapsedMs":15002,"contentDigest":"` + contentDigest([]byte(filled(observed))) + `","result":` + observed + `}`,
	}
	for i, line := range out {
		out[i] = filled(line)
	}
	return out
}

// streamOf is the answer that has these lines.
func streamOf(lines ...string) Answer {
	h := http.Header{"X-Request-Id": {"id"}, "Confined-Instance": {"i"}, "Cache-Control": {"no-store"}, "Content-Type": {ndjson}, "Confined-Run-Id": {"run"}}
	return Answer{Method: "POST", Path: "/v1/runs", Status: 200, Header: h, Body: []byte(strings.Join(lines, "\n") + "\n")}
}
