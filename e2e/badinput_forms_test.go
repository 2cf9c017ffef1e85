package e2e

import (
	"fmt"
	"net/http"
	"strings"
)

// escaped is a path as part of a pointer.
func escaped(path string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(path) }

// with adds parts at the end.
func with(parts ...file) func([]file) []file {
	return func(good []file) []file { return append(good, parts...) }
}

// badPaths: paths that no snapshot can hold.
func badPaths() []bad {
	rows := []bad{}
	for _, path := range []string{
		"", "/etc/passwd", "..", "../x", "a/../b", ".", "./a", "a/.", "a//b", "a/", "a b", `a\b`, "a:b", "a~b", "ü", "a%2fb", "a%00b", "a*b", "$HOME", "a\xffb",
		strings.Repeat("a", 257), strings.Repeat("d/", 16) + "f",
	} {
		for _, tree := range []string{"program", "input"} {
			pointer := "/" + tree + "/files/" + escaped(strings.ToValidUTF8(path, "\ufffd"))
			rows = append(rows, bad{name: fmt.Sprintf("path %.12q in %s", path, tree), reorder: with(file{tree + "/" + strings.ReplaceAll(path, `\`, `\\`), "x"}), faults: []string{"bad-path " + pointer}})
		}
	}
	return rows
}

// badTrees: files that cannot be in one snapshot together, and what belongs to
// none.
func badTrees() []bad {
	many := func(n int, tree string) []file {
		parts := make([]file, n)
		for i := range parts {
			parts[i].path = fmt.Sprintf("%s/f%05d", tree, i)
		}
		return parts
	}
	return []bad{
		{name: "a path twice", reorder: with(file{"input/data.txt", "1\n"}), faults: []string{"duplicate-path /input/files/data.txt"}},
		{name: "a file and a folder", reorder: with(file{"input/more", ""}), faults: []string{"path-clash /input/files/more"}},
		{name: "a folder and a file", reorder: with(file{"program/main.mjs/x", ""}), faults: []string{"path-clash /program/files/main.mjs~1x"}},
		{name: "two cases of one name", reorder: with(file{"input/DATA.txt", ""}), faults: []string{"path-clash /input/files/DATA.txt"}},
		{name: "two cases of one folder", reorder: with(file{"input/More/other", ""}), faults: []string{"path-clash /input/files/More~1other"}},
		{name: "a part with another name", reorder: with(file{"other", ""}), faults: []string{"unknown-field /other"}},
		{name: "a part named program", reorder: with(file{"program", ""}), faults: []string{"unknown-field /program"}},
		{name: "a part named nearly so", reorder: with(file{"Program/main.mjs", ""}), faults: []string{"unknown-field /Program~1main.mjs"}},
		{name: "10,001 files of input", reorder: with(many(9_999, "input")...), faults: []string{"too-many-files /input/files/f09998"}, mentions: []string{"10001 files", "10000"}},
		{name: "10,001 files of program", reorder: with(many(10_000, "program")...), faults: []string{"too-many-files /program/files/f09999"}},
		{
			name: "no files at all", reorder: func(parts []file) []file { return parts[:1] },
			faults: []string{"digest-mismatch /program/digest", "digest-mismatch /input/digest", "entry-missing /program/entry"}, mentions: []string{"0 files"},
		},
	}
}

// badForms: bodies that cannot be read as a form of named parts.
func badForms() []bad {
	const start, second = "--" + bound + "\r\n", "\r\nContent-Disposition: form-data; name=\"program/main.mjs\"\r\n"
	replace := func(from, to string) func(string) string {
		return func(body string) string { return strings.Replace(body, from, to, 1) }
	}
	cut := func(until string) func(string) string {
		return func(body string) string { return body[:strings.Index(body, until)] }
	}
	rows := []bad{
		{name: "request is not first", reorder: func(p []file) []file { return append(p[1:], p[0]) }, mentions: []string{"first"}},
		{name: "no request", reorder: func(p []file) []file { return p[1:] }},
		{name: "request twice", reorder: func(p []file) []file { return append(p, p[0]) }, mentions: []string{"two parts"}},
		{name: "an empty body", body: func(string) string { return "" }},
		{name: "no part", body: func(string) string { return "--" + bound + "--\r\n" }},
		{name: "another boundary", body: func(body string) string { return strings.ReplaceAll(body, bound, "other") }},
		{name: "cut before the last boundary", body: cut("--" + bound + "--")},
		{name: "cut within the last boundary", body: func(body string) string { return body[:len(body)-4] }},
		{name: "cut within a file", body: cut("('hi')")},
		{name: "cut within a head", body: cut(`/main.mjs"`)},
		{name: "cut after a head", body: cut("console")},
		{name: "cut within request", body: cut("cpuSeconds")},
		{name: "several files in one part", body: replace(second, second+"Content-Type: multipart/mixed; boundary=inner\r\n"), mentions: []string{"curl"}},
		{name: "a transfer encoding", body: replace(second, second+"Content-Transfer-Encoding: base64\r\n"), mentions: []string{"Content-Transfer-Encoding"}},
		{name: "quoted-printable", body: replace(second, second+"Content-Transfer-Encoding: quoted-printable\r\n")},
		{name: "no disposition", body: replace(second, "\r\nX-Other: 1\r\n")},
		{name: "two dispositions", body: replace(second, second+second[2:])},
		{name: "an attachment", body: replace(second, strings.Replace(second, "form-data", "attachment", 1))},
		{name: "no name", body: replace(second, strings.Replace(second, "; name=", "; filename=", 1))},
		{name: "a name without quotes", body: replace(second, "\r\nContent-Disposition: form-data; name=program/main.mjs\r\n")},
		{name: "a name twice", body: replace(`name="program/main.mjs"`, `name="program/main.mjs"; name="input/x"`)},
		{name: "a control character in a name", body: replace(`name="program/main.mjs"`, "name=\"program/\x7f\"")},
		{name: "a head that is none", body: replace(start, start+"no colon here\r\n")},
	}
	for i := range rows {
		rows[i].name, rows[i].status, rows[i].code = "form: "+rows[i].name, 400, "malformed-request"
	}
	return append(rows, bad{name: "form: a head of 11 MiB", body: replace(second, second+"X: "+strings.Repeat("x", 11<<20)+"\r\n"), status: 413, code: "too-large"})
}

// badHeads: the head of a request already decides.
func badHeads() []bad {
	rows := []bad{}
	for _, contentType := range []string{"application/jsonl", "text/plain", "application/x-www-form-urlencoded", "multipart/mixed; boundary=" + bound, "multipart/form-dataa; boundary=" + bound, "application/octet-stream", ";", "multipart"} {
		rows = append(rows, bad{name: "Content-Type " + contentType, head: func(h http.Header) { h.Set("Content-Type", contentType) }, status: 415, code: "unsupported-media-type"})
	}
	for _, accept := range []string{"text/html", "application/json;q=0", "application/x-ndjson;q=0, application/problem+json", "text/*, image/png"} {
		rows = append(rows, bad{name: "Accept " + accept, head: func(h http.Header) { h.Set("Accept", accept) }, status: 406, code: "not-acceptable"})
	}
	for _, contentType := range []string{"application/json", "application/x-tar"} { // another form than the body is in
		rows = append(rows, bad{name: "Content-Type " + contentType, head: func(h http.Header) { h.Set("Content-Type", contentType) }, status: 400, code: "malformed-request"})
	}
	return append(rows,
		bad{name: "no Content-Type", head: func(h http.Header) { h.Del("Content-Type") }, status: 415, code: "unsupported-media-type"},
		bad{name: "two Content-Types", head: func(h http.Header) { h.Add("Content-Type", "multipart/form-data; boundary="+bound) }, status: 415, code: "unsupported-media-type"},
		bad{name: "a body that is packed", head: func(h http.Header) { h.Set("Content-Encoding", "gzip") }, status: 415, code: "unsupported-media-type"},
		bad{name: "no boundary", head: func(h http.Header) { h.Set("Content-Type", "multipart/form-data") }, status: 400, code: "malformed-request"},
		bad{name: "an empty boundary", head: func(h http.Header) { h.Set("Content-Type", `multipart/form-data; boundary=""`) }, status: 400, code: "malformed-request"},
	)
}

// manyFaults: one request with something wrong everywhere gets all of it.
func manyFaults() []bad {
	return []bad{{
		name: "everything at once",
		change: func(doc map[string]any) {
			delete(doc, "profile")
			doc["runtime"], doc["extra"], doc["id"], doc["cpuSeconds"], doc["timeoutMs"] = "sha256:no", 1, "-", "1", 0
			doc["input"].(map[string]any)["digest"] = files(nil).digest()
			program := doc["program"].(map[string]any)
			program["entry"], program["args"], program["more"] = "main.txt", []any{"ok", 1, "a\x00"}, nil
		},
		rewrite: written("maxDescriptors", "1.5e1"),
		reorder: with(file{"program/a b", ""}, file{"program/MAIN.mjs", ""}, file{"program/main.mjs", ""}, file{"stray", ""}),
		faults: []string{
			"missing-field /profile", "digest-form /runtime", "unknown-field /extra", "out-of-range /id", "wrong-type /cpuSeconds", "out-of-range /timeoutMs",
			"wrong-type /maxDescriptors", "digest-mismatch /input/digest", "entry-type /program/entry", "wrong-type /program/args/1", "bad-argument /program/args/2",
			"unknown-field /program/more", "bad-path /program/files/a b", "path-clash /program/files/MAIN.mjs", "duplicate-path /program/files/main.mjs", "unknown-field /stray",
		},
		mentions: []string{"16 faults"},
	}}
}
