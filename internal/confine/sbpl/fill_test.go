package sbpl

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	template := read(t, head+`
(deny file-read*) ; a rule that never had a filter keeps none
(allow file-read* (literal "/") (literal $files) (subpath $input))
(allow process-exec (literal $node))
(allow file-read-metadata (literal $none) (literal "/usr"))`)
	filled, err := Fill(template, map[string][]string{
		"files": {"/a", "/b c"}, "input": {"/in"}, "node": {`/n"o\d)e`}, "none": {},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := head + `(deny file-read*)
(allow file-read* (literal "/") (literal "/a") (literal "/b c") (subpath "/in"))
(allow process-exec (literal "/n\"o\\d)e"))
(allow file-read-metadata (literal "/usr"))
`
	if got := Print(filled); got != want {
		t.Errorf("filled\n%swant\n%s", got, want)
	}
	if filled[3].List[3].Line != template[3].Line {
		t.Error("a filter forgot the line of its placeholder")
	}
}

func TestFillRefuses(t *testing.T) {
	one := map[string][]string{"x": {"/x"}}
	for _, c := range []struct {
		text   string
		values map[string][]string
		want   string
	}{
		{"\n(allow file-read* (literal $y))", one, "line 2: no value for the placeholder $y"},
		{"(allow file-read* (literal $))", one, "line 1: no value for the placeholder $"},
		{"(allow file-read* (literal \"$x\"))", one, "no filter has the placeholder $x"},
		{"; $x", one, "no filter has the placeholder $x"},
		{"\n(allow file-read* (literal $x))", map[string][]string{"x": {}}, "line 2: no filter is left in (allow file-read* (literal $x))"},
		{"(deny file-read* (literal $x))", map[string][]string{"x": nil}, "no filter is left"},
		{"$x", one, "line 1: the placeholder $x does not stand alone in a filter"},
		{"(allow $x)", one, "does not stand alone in a filter"},
		{"($x file-read* (literal \"/\"))", one, "does not stand alone in a filter"},
		{"(allow file-read* ($x \"/\"))", one, "does not stand alone in a filter"},
		{"(allow file-read* ($x $x))", one, "does not stand alone in a filter"},
		{"(allow file-read*\n(literal $x \"/\"))", one, "line 2: the placeholder $x does not stand alone in a filter"},
		{"(allow file-read* (require-not (literal $x)))", one, "does not stand alone in a filter"},
	} {
		filled, err := Fill(read(t, c.text), c.values)
		refused(t, err, c.want)
		if filled != nil {
			t.Errorf("%q: an error and also %v", c.text, filled)
		}
	}
}

// A value is one string or an error, whatever it holds.
func TestFillKeepsTheTree(t *testing.T) {
	for _, value := range []string{
		`/a")) (allow default) (deny x (literal "`, `/a\`, `/a\"`, `/a\\"))`, "/a;", "/a (", `"`, "$x", "/#\"a\"", " ",
	} {
		if !keepsTree(t, value) {
			t.Errorf("%q is refused", value)
		}
	}
	for _, value := range []string{
		"", "/a\n", "/a\x00", "/a\t", "/\u00e9", "/\xff", "/a\x7f", strings.Repeat("/", maxString+1), "/a\r", "/\u2028", "/\x1b[",
	} {
		if keepsTree(t, value) {
			t.Errorf("%q is accepted", value)
		}
	}
}

// keepsTree fills one value in, prints and reads the result, and demands the tree that was meant. It says whether the value was accepted.
func keepsTree(t *testing.T, value string) bool {
	t.Helper()
	template := read(t, `(allow file-read* (literal $x) (literal "/"))`)
	filled, err := Fill(template, map[string][]string{"x": {value}})
	if err != nil {
		return false
	}
	want := bare(read(t, `(allow file-read* (literal "v") (literal "/"))`))
	want[0].List[2].List[1].Text = value
	if got := read(t, Print(filled)); !reflect.DeepEqual(bare(got), want) {
		t.Errorf("%q became %v", value, got)
	}
	return true
}

func FuzzFill(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) { keepsTree(t, value) })
}

func ExampleFill() {
	template, _ := Read(`(allow file-read* (literal $files)) ; what Node reads`)
	filled, _ := Fill(template, map[string][]string{"files": {"/dev/null", "/dev/urandom"}})
	fmt.Print(Print(filled))
	// Output: (allow file-read* (literal "/dev/null") (literal "/dev/urandom"))
}
