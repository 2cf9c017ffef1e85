package e2e

import (
	"fmt"
	"strings"
)

// object is the part of the document that pointer lies in, and its name there.
func object(doc map[string]any, pointer string) (map[string]any, string) {
	names := strings.Split(pointer[1:], "/")
	for _, name := range names[:len(names)-1] {
		doc = doc[name].(map[string]any)
	}
	return doc, names[len(names)-1]
}

// set makes the field at pointer hold value.
func set(pointer string, value any) func(map[string]any) {
	return func(doc map[string]any) {
		in, name := object(doc, pointer)
		in[name] = value
	}
}

// without leaves the field at pointer out.
func without(pointer string) func(map[string]any) {
	return func(doc map[string]any) {
		in, name := object(doc, pointer)
		delete(in, name)
	}
}

// written makes the field hold value, written exactly so.
func written(field, value string) func(string) string {
	return func(doc string) string {
		before, after, _ := strings.Cut(doc, `"`+field+`":`)
		end := strings.IndexAny(after, ",}")
		return before + `"` + field + `":` + value + after[end:]
	}
}

// The fields of a request, and what each must be.
var (
	requiredFields = []string{"/runtime", "/profile", "/program", "/program/digest", "/program/entry", "/input", "/input/digest", "/timeoutMs", "/maxOutputBytes", "/cpuSeconds", "/maxDescriptors"}
	optionalFields = []string{"/id", "/program/args"}
	numbers        = []string{"/timeoutMs", "/maxOutputBytes", "/cpuSeconds", "/maxDescriptors"}
	digests        = []string{"/runtime", "/profile", "/program/digest", "/input/digest"}
)

// badFields: unknown, missing, null and of the wrong type.
func badFields() []bad {
	rows := []bad{
		{name: "unknown field", change: set("/extra", 1), faults: []string{"unknown-field /extra"}},
		{name: "unknown field with an odd name", change: set("/a~b", 1), faults: []string{"unknown-field /a~0b"}},
		{name: "unknown field of the program", change: set("/program/cwd", "/"), faults: []string{"unknown-field /program/cwd"}},
		{name: "unknown field of the input", change: set("/input/files", []any{}), faults: []string{"unknown-field /input/files"}, mentions: []string{"beside this document"}},
		{name: "wrong case", rewrite: func(doc string) string { return strings.Replace(doc, `"timeoutMs"`, `"TimeoutMs"`, 1) }, faults: []string{"unknown-field /TimeoutMs", "missing-field /timeoutMs"}, mentions: []string{"spelt timeoutMs"}},
		{name: "an array instead of the document", rewrite: func(string) string { return `[]` }, faults: []string{"wrong-type "}},
		{name: "null instead of the document", rewrite: func(string) string { return `null` }, faults: []string{"wrong-type "}},
		{name: "program is a string", change: set("/program", "main.mjs"), faults: []string{"wrong-type /program"}},
		{name: "input is an array", change: set("/input", []any{}), faults: []string{"wrong-type /input"}},
		{name: "args is an object", change: set("/program/args", map[string]any{}), faults: []string{"wrong-type /program/args"}},
		{name: "args is a string", change: set("/program/args", "a b"), faults: []string{"wrong-type /program/args"}},
		{name: "an argument is a number", change: set("/program/args", []any{"a", 1, nil}), faults: []string{"wrong-type /program/args/1", "wrong-type /program/args/2"}},
		{name: "entry is a number", change: set("/program/entry", 1), faults: []string{"wrong-type /program/entry"}},
		{name: "id is a number", change: set("/id", 7), faults: []string{"wrong-type /id"}},
	}
	for _, p := range requiredFields {
		rows = append(rows, bad{name: "without " + p, change: without(p), faults: []string{"missing-field " + p}})
	}
	for _, p := range append(optionalFields, requiredFields...) {
		rows = append(rows, bad{name: "null at " + p, change: set(p, nil), faults: []string{"wrong-type " + p}})
	}
	for _, p := range numbers {
		rows = append(rows, bad{name: "a string at " + p, change: set(p, "100"), faults: []string{"wrong-type " + p}})
	}
	for _, p := range digests {
		rows = append(rows, bad{name: "a boolean at " + p, change: set(p, true), faults: []string{"wrong-type " + p}})
	}
	return rows
}

// badValues: the right type, and outside what the field allows.
func badValues() []bad {
	rows := []bad{
		{name: "entry is no file of the program", change: set("/program/entry", "other.mjs"), faults: []string{"entry-missing /program/entry"}, mentions: []string{"other.mjs"}},
		{name: "entry is a folder's name too much", change: set("/program/entry", "program/main.mjs"), faults: []string{"entry-missing /program/entry"}},
		{name: "entry is empty", change: set("/program/entry", ""), faults: []string{"entry-missing /program/entry"}},
		{name: "entry has another spelling", change: set("/program/entry", "./main.mjs"), faults: []string{"entry-missing /program/entry"}},
		{
			name: "entry is no program file", faults: []string{"entry-type /program/entry", "digest-mismatch /program/digest"}, change: set("/program/entry", "data.json"),
			reorder: func(parts []file) []file { return append(parts, file{"program/data.json", "{}"}) },
		},
		{name: "65 arguments", change: set("/program/args", make([]string, 65)), faults: []string{"out-of-range /program/args"}},
		{name: "a long argument", change: set("/program/args", []string{strings.Repeat("é", 2048), strings.Repeat("é", 2049)}), faults: []string{"bad-argument /program/args/1"}},
		{name: "an argument with a NUL", change: set("/program/args", []string{"a\x00b"}), faults: []string{"bad-argument /program/args/0"}},
	}
	for _, id := range []string{"", "-a", ".a", "a b", "a/b", "é", strings.Repeat("a", 65), "a\n"} {
		rows = append(rows, bad{name: fmt.Sprintf("id %.10q", id), change: set("/id", id), faults: []string{"out-of-range /id"}})
	}
	for _, p := range digests {
		for _, form := range []string{"", "sha256:", "SHA256:" + strings.Repeat("a", 64), "sha256:" + strings.Repeat("A", 64), strings.Repeat("a", 64), "sha256:" + strings.Repeat("a", 63), "sha256:" + strings.Repeat("a", 65), "sha256:" + strings.Repeat("g", 64), " sha256:" + strings.Repeat("a", 64)} {
			rows = append(rows, bad{name: fmt.Sprintf("%s is %.12q", p, form), change: set(p, form), faults: []string{"digest-form " + p}})
		}
	}
	good, wrong := files{"main.mjs": "console.log('hi')\n"}, "sha256:"+strings.Repeat("0", 64)
	rows = append(rows,
		bad{name: "another program's digest", change: set("/program/digest", wrong), faults: []string{"digest-mismatch /program/digest"}, mentions: []string{wrong, good.digest(), "1 file", "18 bytes"}},
		bad{name: "another input's digest", change: set("/input/digest", files(nil).digest()), faults: []string{"digest-mismatch /input/digest"}, mentions: []string{"c0043fe4568bd869", "2 files", "5 bytes"}},
	)
	for _, limit := range []struct {
		field     string
		low, high int64
	}{{"timeoutMs", 1, 600_000}, {"maxOutputBytes", 0, 16 << 20}, {"cpuSeconds", 1, 600}, {"maxDescriptors", 32, 4096}} {
		p := "/" + limit.field
		for _, v := range []int64{limit.low - 1, limit.high + 1, -1 << 63, 1<<63 - 1} {
			rows = append(rows, bad{name: fmt.Sprint(p, " is ", v), change: set(p, v), faults: []string{"out-of-range " + p}})
		}
		for _, v := range []string{"100000000000000000000000000000", "-9223372036854775809"} {
			rows = append(rows, bad{name: p + " is " + v, rewrite: written(limit.field, v), faults: []string{"out-of-range " + p}})
		}
		for _, v := range []string{"100.0", "1e2", "1E2", "100.5", "1e400"} {
			rows = append(rows, bad{name: p + " is " + v, rewrite: written(limit.field, v), faults: []string{"wrong-type " + p}})
		}
	}
	return rows
}

// badDocuments: text that is no JSON, or JSON that two readers could read
// differently.
func badDocuments() []bad {
	rows := []bad{}
	for _, row := range []struct {
		name    string
		rewrite func(string) string
	}{
		{"nothing", func(string) string { return "" }},
		{"white space", func(string) string { return " \n" }},
		{"half of it", func(doc string) string { return doc[:len(doc)/2] }},
		{"a key twice", func(doc string) string { return strings.Replace(doc, `"timeoutMs"`, `"timeoutMs":5,"timeoutMs"`, 1) }},
		{"a key twice, once escaped", func(doc string) string {
			return strings.Replace(doc, `"timeoutMs"`, `"timeout\u004ds":5,"timeoutMs"`, 1)
		}},
		{"a key twice, deeper", func(doc string) string { return strings.Replace(doc, `"entry"`, `"entry":"x.mjs","entry"`, 1) }},
		{"a second document", func(doc string) string { return doc + "{}" }},
		{"data after the end", func(doc string) string { return doc + "x" }},
		{"a byte order mark", func(doc string) string { return "\ufeff" + doc }},
		{"invalid UTF-8", func(doc string) string { return strings.Replace(doc, `"one"`, "\"\xff\"", 1) }},
		{"a lone surrogate", func(doc string) string { return strings.Replace(doc, `"one"`, `"\ud800"`, 1) }},
		{"surrogates in the wrong order", func(doc string) string { return strings.Replace(doc, `"one"`, `"\ude00\ud83d"`, 1) }},
		{"a control character in a string", func(doc string) string { return strings.Replace(doc, `"one"`, "\"\n\"", 1) }},
		{"an unknown escape", func(doc string) string { return strings.Replace(doc, `"one"`, `"\x41"`, 1) }},
		{"a comment", func(doc string) string { return "// hi\n" + doc }},
		{"a trailing comma", func(doc string) string { return strings.Replace(doc, `"two"]`, `"two",]`, 1) }},
		{"single quotes", func(doc string) string { return strings.ReplaceAll(doc, `"`, `'`) }},
		{"NaN", written("timeoutMs", "NaN")},
		{"a leading zero", written("timeoutMs", "0100")},
		{"a leading plus", written("timeoutMs", "+100")},
		{"a bare point", written("timeoutMs", "1.")},
		{"hexadecimal", written("timeoutMs", "0x10")},
		{"deep nesting", func(string) string { return strings.Repeat("[", 100_000) }},
		{"UTF-16", func(string) string { return "\xff\xfe{\x00}\x00" }},
	} {
		rows = append(rows, bad{name: "document: " + row.name, rewrite: row.rewrite, status: 400, code: "malformed-request"})
	}
	return append(rows, bad{name: "document: more than a mebibyte", rewrite: func(doc string) string { return strings.Repeat(" ", 1<<20) + doc }, status: 413, code: "too-large"})
}
