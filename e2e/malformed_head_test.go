package e2e

import (
	"math/rand/v2"
	"net/http"
	"strings"
)

// headDefects are about the head of a request with a body.
func headDefects(r *rand.Rand, b *base) []defect {
	if b.media == "" {
		return nil
	}
	var out []defect
	add := func(name, code string, change func(http.Header)) {
		out = append(out, defect{name: "head: " + name, code: code, change: func(d *draft) { change(d.header) }})
	}
	sets := func(name, code string, values ...string) {
		for _, v := range values {
			add(name+": "+v, code, func(h http.Header) { h.Set(name, v) })
		}
	}
	sets("Content-Type", "unsupported-media-type",
		"text/plain", "application/octet-stream", "application/x-www-form-urlencoded", "multipart/mixed; boundary="+bound, "multipart/form-dataa; boundary="+bound,
		"application/jsonp", "application/json5", "application/x-ndjson", "application/problem+json", "application/gzip", "application/x-gtar", "text/json", "json", ";", "/", "*/*", pick(r, "application", "multipart", "x/"+word(r)))
	sets("Content-Encoding", "unsupported-media-type", "gzip", "br", "deflate", "zstd", "identity, gzip", word(r))
	add("no Content-Type", "unsupported-media-type", func(h http.Header) { h.Del("Content-Type") })
	second := pick(r, jsonType, formType, tarType, "text/plain")
	add("two Content-Types", "unsupported-media-type", func(h http.Header) { h.Add("Content-Type", second) })
	for _, other := range []string{formType + "; boundary=" + bound, jsonType, tarType} {
		if !strings.HasPrefix(other, b.media) {
			add("declared as "+other, "malformed-request", func(h http.Header) { h.Set("Content-Type", other) })
		}
	}
	if b.media == formType {
		sets("Content-Type", "malformed-request", formType, formType+`; boundary=""`, formType+"; boundary", formType+"; charset=utf-8", formType+"; boundary="+word(r))
	}
	if b.operation == "createRun" {
		sets("Accept", "not-acceptable",
			"text/html", "text/*", "image/png, text/plain;q=0.5", "application/json;q=0", "application/json;q=0.0, application/x-ndjson;q=0", "*/*;q=0", "application/xml", "application/problem+json", "json", "application", word(r))
	}
	return out
}

// targetDefects ask for a path or a method that is not there.
func targetDefects(r *rand.Rand, b *base) []defect {
	var out []defect
	add := func(name, code string, change func(*draft)) {
		out = append(out, defect{name: "target: " + name, code: code, change: change})
	}
	paths := []string{
		"/" + word(r), "/" + word(r) + b.path, b.path + "/", b.path + "/" + word(r) + "/x", strings.ToUpper(b.path), "/" + b.path, "/v2" + strings.TrimPrefix(b.path, "/v1"),
		"/..%2f" + b.path[1:], "/%2e%2e" + b.path, "/", "/v1", "/debug/pprof/", "/.env", "/index.html",
	}
	if b.template == b.path { // else they are names too
		paths = append(paths, b.path+"%20", b.path+"%00", b.path+";x", b.path+"%2f", b.path+".json", b.path+word(r))
	}
	for _, path := range paths {
		add(path, "not-found", func(d *draft) { d.path = path })
	}
	item := shared.contract.Doc.Paths.Value(b.template)
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", strings.ToUpper(word(r)), strings.ToLower(b.method)} {
		if item.Operations()[method] == nil {
			add(method, "method-not-allowed", func(d *draft) { d.method = method })
		}
	}
	return append(out, nameDefects(r, b)...)
}

// nameDefects put names into a path that nothing can have, and leave out what
// a release must quote.
func nameDefects(r *rand.Rand, b *base) []defect {
	code := map[string]string{"{runId}": "run-unknown", "{name}": "slot-unknown"}[b.template[strings.LastIndexByte(b.template, '/')+1:]]
	if code == "" {
		return nil
	}
	var out []defect
	for _, name := range []string{
		word(r), "-" + word(r), "." + word(r), "..%2f" + word(r), "a%20b", "%00", "%ff", "%c3%bc", "a%2fb", "a%5cb", strings.Repeat("a", 65+r.IntN(500)), "*", "~", "slot-", "slot-100", "slot-00", "slot--1", "Slot-0", "slot-0%00", "%27", "%0a",
	} {
		out = append(out, defect{name: "name: " + name, code: code, change: func(d *draft) {
			d.path = strings.Replace(b.template, b.template[strings.IndexByte(b.template, '{'):], name, 1)
		}})
	}
	if b.operation == "releaseSlot" {
		out = append(out,
			defect{name: "no If-Match", code: "precondition-required", change: func(d *draft) { d.header.Del("If-Match") }},
			defect{name: "two If-Match", code: "slot-changed", change: func(d *draft) { d.header.Add("If-Match", `"another"`) }},
			defect{name: "an empty If-Match", code: "slot-changed", change: func(d *draft) { d.header.Set("If-Match", "") }},
		)
	}
	return out
}
