package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// Texts that are no JSON, or that two readers could read differently.

// lexeme is one piece of a JSON text.
type lexeme struct{ start, end int }

// lexemeForm finds strings, numbers, words and punctuation: white space is in none.
var lexemeForm = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-0-9][-+.eE0-9]*|[a-z]+|[][{}:,]`)

func lexemesOf(text string) []lexeme {
	var out []lexeme
	for _, at := range lexemeForm.FindAllStringIndex(text, -1) {
		out = append(out, lexeme{at[0], at[1]})
	}
	return out
}

// onLexeme changes one of the tokens that begin with any of these characters.
func onLexeme(n uint64, first string, change func(string) string) func(string) string {
	return func(text string) string {
		all := slices.DeleteFunc(lexemesOf(text), func(t lexeme) bool { return !strings.ContainsRune(first, rune(text[t.start])) })
		if len(all) == 0 {
			return change(text)
		}
		t := all[n%uint64(len(all))]
		return text[:t.start] + change(text[t.start:t.end]) + text[t.end:]
	}
}

const digits = "-0123456789"

// textDefects make texts that cannot be read.
func textDefects(r *rand.Rand, b *base) []defect {
	if b.document == nil {
		return nil
	}
	var out []defect
	add := func(name string, change func(string) string) {
		out = append(out, defect{name: "text: " + name, code: "malformed-request", change: func(d *draft) { d.text = change }})
	}
	n := r.Uint64()
	within := func(in string) func(string) string { // a string
		return func(s string) string { i := 1 + int(n%uint64(len(s)-1)); return s[:i] + in + s[i:] }
	}
	instead := func(s string) func(string) string { return func(string) string { return s } }
	cut := r.Float64()
	add("cut off", func(s string) string { return s[:int(cut*float64(strings.LastIndexByte(s, '}')))] })
	add("nothing", instead(""))
	add("white space", instead(pick(r, " ", "\n", "\t \r\n")))
	after := pick(r, "{}", "x", ",", "]", "}", `"`, "\x00", "1", "null", "//", "\ufeff", "\f", "\v")
	add(fmt.Sprintf("%q after the end", after), func(s string) string { return s + after })
	add("twice", func(s string) string { return s + s })
	before := pick(r, "\ufeff", ",", "x", "//\n", ")]}'\n", "\x00", "\u00a0")
	add(fmt.Sprintf("%q before it", before), func(s string) string { return before + s })
	mark := pick(r, "\ufeff", "")
	add("UTF-16", func(s string) string {
		var wide strings.Builder
		for _, c := range utf16.Encode([]rune(mark + s)) {
			wide.WriteByte(byte(c))
			wide.WriteByte(byte(c >> 8))
		}
		return wide.String()
	})
	for _, bad := range []string{"\xff", "\xc3(", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf"} {
		add(fmt.Sprintf("%q in a string", bad), onLexeme(n, `"`, notInEscape(within(bad))))
	}
	for _, bad := range []string{`\ud800`, `\udc00`, `\ud83d\ud83d`, `\ud83dx`, `\x41`, `\'`, `\u12g4`, `\U00000041`, "\n", "\t", "\x00", "\x1f"} {
		add(fmt.Sprintf("%q in a string", bad), onLexeme(n, `"`, notInEscape(within(bad))))
	}
	add("single quotes", onLexeme(n, `"`, func(s string) string { return "'" + s[1:len(s)-1] + "'" }))
	add("no quotes", onLexeme(n, `"`, func(s string) string { return s[1 : len(s)-1] }))
	add("a quote less", onLexeme(n, `"`, func(s string) string { return s[:len(s)-1] }))
	for _, bad := range []string{"NaN", "Infinity", "-Infinity", "+1", "01", "-01", ".5", "1.", "0x10", "1e", "1e+", "-", "--1", "1_000", "1,000", "undefined", "True", "nul", "'x'", "`x`", "1.2.3", "1n", "²", "1 2"} {
		if b.media == jsonType && b.operation == "describeSnapshot" {
			add(bad+" for a string", onLexeme(n, `"`, instead(bad)))
			continue
		}
		add(bad+" for a number", onLexeme(n, digits, instead(bad)))
	}
	for _, missing := range []string{"{", "}", "[", "]", ":", ","} {
		add("without a "+missing, onLexeme(n, missing, instead("")))
		add("two "+missing, onLexeme(n, missing, func(s string) string { return s + s }))
	}
	add("= for :", onLexeme(n, ":", instead("=")))
	add("; for ,", onLexeme(n, ",", instead(";")))
	add("a comma before the end", onLexeme(n, "}]", func(s string) string { return "," + s }))
	comment := pick(r, "// hi\n", "/* hi */", "# hi\n", "<!-- hi -->")
	add("a comment", onLexeme(n, "{}[],:", func(s string) string { return s + comment }))
	add("a name twice", onLexeme(n, "{", func(s string) string { return s + `"twice":1,"twice":1,` }))
	add("a name twice, once escaped", onLexeme(n, "{", func(s string) string { return s + `"tw\u0069ce":1,"twice":1,` }))
	depth := 33 + r.IntN(2000)
	add("too deep", onLexeme(n, "{", func(s string) string {
		return s + `"deep":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + ","
	}))
	add("endlessly deep", instead(strings.Repeat(pick(r, "[", `{"a":`), 100_000)))
	add("too many values", onLexeme(n, "{", func(s string) string { return s + `"many":[` + strings.Repeat("1,", 10_001) + "1]," }))
	large := strings.Repeat(" ", 1<<20)
	if b.media == jsonType { // where white space costs nothing
		large = `"large":"` + strings.Repeat("x", 1<<20+1) + `",`
	}
	out = append(out, defect{name: "text: too large", code: "too-large", change: func(d *draft) { d.text = onLexeme(0, "{", func(s string) string { return s + large }) }})
	return out
}

// notInEscape keeps what goes into a string out of the middle of an escape,
// which it would make another fault, or none.
func notInEscape(change func(string) string) func(string) string {
	return func(s string) string {
		if strings.Contains(s, `\`) {
			s = `"plain"`
		}
		return change(s)
	}
}

// valueDefects have the right types, and break a rule that the schema cannot
// say.
func valueDefects(r *rand.Rand, b *base) []defect {
	var out []defect
	add := func(name string, faults []string, tree func(map[string]any)) {
		out = append(out, defect{name: "value: " + name, code: "invalid-request", faults: faults, change: func(d *draft) { d.tree = tree }})
	}
	if b.document != nil {
		other := pick(r, "[]", "null", "1", `"x"`, "true", "[{}]")
		out = append(out, defect{name: "value: " + other + " for the document", code: "invalid-request", faults: []string{"wrong-type "}, change: func(d *draft) {
			d.text = func(string) string { return other }
		}})
	}
	if b.operation == "createRun" {
		zeros := "sha256:" + strings.Repeat("0", 64)
		for _, tree := range []string{"program", "input"} {
			add("another digest of "+tree, []string{"digest-mismatch /" + tree + "/digest"}, set("/"+tree+"/digest", zeros))
		}
		for _, entry := range []string{"other.mjs", "./main.mjs", "/main.mjs", "program/main.mjs", "main.mjs/x.mjs", "MAIN.mjs", "../main.mjs"} {
			add("entry "+entry, []string{"entry-missing /program/entry"}, set("/program/entry", entry))
		}
		for _, entry := range []string{"", "main", "main.json", "main.mjs ", "main.mjs\n", "main.MJS", "main.wasm"} {
			add("entry "+entry, []string{"entry-missing /program/entry"}, set("/program/entry", entry))
		}
		add("an argument too long in bytes", []string{"bad-argument /program/args/1"}, set("/program/args", []any{"ok", strings.Repeat("é", 2049+r.IntN(2000))}))
		add("an argument with a NUL", []string{"bad-argument /program/args/0"}, set("/program/args", []any{"a\x00" + strings.Repeat("b", r.IntN(9))}))
		for _, field := range numbers {
			for _, way := range []string{"1e2", "100.0", "1E+2", "5.00e1"} {
				out = append(out, defect{name: "value: " + way + " at " + field, code: "invalid-request", faults: []string{"wrong-type " + field}, change: func(d *draft) {
					d.tree = set(field, json.Number(way))
				}})
			}
		}
	}
	if b.media == jsonType {
		list := map[string]string{"createRun": "/program/files", "describeSnapshot": "/files"}[b.operation]
		for _, data := range []string{"*", "aGk", "aGk==", "aGk=\n", "aGk= ", "aGk=aGk=", "aGl=", "a", "-_8=", "====", "ü"} {
			add(fmt.Sprintf("base64 %q", data), []string{"wrong-type " + list + "/0/content/data"}, func(doc map[string]any) {
				in, name := object(doc, list)
				file := in[name].([]any)[0].(map[string]any)
				file["content"] = map[string]any{"encoding": "base64", "data": data}
			})
		}
	}
	return out
}
