package sbpl

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// bare is the expressions without their lines.
func bare(nodes []Node) []Node {
	var list []Node
	for _, n := range nodes {
		list = append(list, Node{Kind: n.Kind, Text: n.Text, List: bare(n.List)})
	}
	return list
}

func read(t *testing.T, text string) []Node {
	t.Helper()
	nodes, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// refused holds an error against what it must say. An empty want accepts no error at all.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || want == "" || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func TestReadAndPrint(t *testing.T) {
	text := "; why\n(allow  file-read*\n (literal \"/a; \\\"b\\\\\"); why (\n (literal $node) 12 ())\n\nx\n; the end"
	nodes := read(t, text)
	canonical := "(allow file-read* (literal \"/a; \\\"b\\\\\") (literal $node) 12 ())\nx\n"
	if got := Print(nodes); got != canonical {
		t.Errorf("printed\n%swant\n%s", got, canonical)
	}
	if again := read(t, canonical); !reflect.DeepEqual(bare(again), bare(nodes)) {
		t.Errorf("read again: %v", again)
	}
	path := nodes[0].List[2].List[1]
	if want := (Node{Kind: String, Text: `/a; "b\`, Line: 3}); !reflect.DeepEqual(path, want) {
		t.Errorf("the path is %+v, want %+v", path, want)
	}
	if nodes[1].Line != 6 {
		t.Errorf("x is on line %d", nodes[1].Line)
	}
}

func TestReadRefuses(t *testing.T) {
	deep := strings.Repeat("(", maxDepth+1) + strings.Repeat(")", maxDepth+1)
	for _, c := range []struct{ text, want string }{
		{"a\n(b\n(c)", "line 2: a parenthesis is not closed"},
		{"(a)\n)", "line 2: a parenthesis closes nothing"},
		{"a\n\"b\nc\"", "line 2: a string does not end on its line"},
		{"\"b", "line 1: a string does not end on its line"},
		{`"b\`, `line 1: a string has an escape other than`},
		{`"b\n"`, `line 1: a string has an escape other than`},
		{`"b\x22"`, `line 1: a string has an escape other than`},
		{`""`, "line 1: a string of 0 bytes"},
		{`"` + strings.Repeat("a", maxString+1) + `"`, "line 1: a string of 1025 bytes"},
		{`"a"b`, `line 1: "b" follows a string without a space`},
		{`"a""b"`, `follows a string without a space`},
		{`a"b"`, "line 1: \"a\\\"b\\\"\" is neither a symbol nor a number"},
		{`#"a"`, "neither a symbol nor a number"},
		{"'a", "neither a symbol nor a number"},
		{"(a . b)", `"." is neither a symbol nor a number`},
		{"$a$b", "neither a symbol nor a number"},
		{"-1", "neither a symbol nor a number"},
		{"01", "neither a symbol nor a number"},
		{"1e3", "neither a symbol nor a number"},
		{"1234567890123456", "neither a symbol nor a number"},
		{"a\n\tb", "line 2: byte 0x09 is not printable ASCII"},
		{"a\r\n", "line 1: byte 0x0d is not printable ASCII"},
		{"; \u00e9", "line 1: byte 0xc3 is not printable ASCII"},
		{"\"a\x00\"", "line 1: byte 0x00 is not printable ASCII"},
		{"\"\x7f\"", "line 1: byte 0x7f is not printable ASCII"},
		{deep, "line 1: more than 8 lists within lists"},
		{strings.Repeat("\n", maxText+1), "more than 262144"},
	} {
		nodes, err := Read(c.text)
		refused(t, err, c.want)
		if nodes != nil {
			t.Errorf("%.40q: an error and also %v", c.text, nodes)
		}
	}
}

// The bounds themselves are accepted, so that each refusal above is for what lies beyond.
func TestReadAcceptsItsBounds(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", maxDepth) + strings.Repeat(")", maxDepth),
		`"` + strings.Repeat("a", maxString) + `"`,
		strings.Repeat("\n", maxText),
		"123456789012345", "0", "let* defined? SYS_statfs64 $preload-path", `("a")`, "\"a\";b", "",
	} {
		if _, err := Read(text); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// fuzzSeeds are texts that reach every part of the reader and of the parser.
func fuzzSeeds() []string {
	seeds := []string{
		"", "(", ")", "()", "(())", "\"", `"\"\\"`, "; x", "1 01 -1", "$x", "#\"x\"", "(allow",
		sample, strings.ReplaceAll(sample, "\n", " "), sample + "(allow file-read*)(allow)",
	}
	for _, name := range append(unused(), filterNames()...) {
		seeds = append(seeds, head+fmt.Sprintf("(allow file-read* signal sysctl-read (%s \"/x\" self))", name))
	}
	return seeds
}

func FuzzRead(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := Read(text)
		p, parseErr := Parse(text)
		if err != nil {
			if nodes != nil || p != nil || parseErr == nil {
				t.Fatalf("refused with %v, and also %v, %v", err, nodes, p)
			}
			return
		}
		printed := Print(nodes)
		again, err := Read(printed)
		if err != nil || !reflect.DeepEqual(bare(again), bare(nodes)) || Print(again) != printed {
			t.Fatalf("%q is printed as %q and read as %v, %v", text, printed, again, err)
		}
		if parseErr != nil {
			if p != nil {
				t.Fatalf("%v, and also a profile", parseErr)
			}
			return
		}
		if p.String() != printed {
			t.Fatalf("the profile prints as %q, its expressions as %q", p, printed)
		}
	})
}
