package sbpl

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const head = "(version 1)\n(deny default)\n"

// sample has every filter and every kind of rule.
const sample = head + `(deny file-link file-clone)
(allow process-exec (literal "/n\"o\\de"))
(allow file-read* file-test-existence (literal "/") (subpath "/usr/lib") (prefix "/x/li"))
(allow process-info* signal (target self))
(deny signal (target others))
(allow sysctl-read (sysctl-name "kern.version") (sysctl-name-prefix "hw."))
`

func parse(t *testing.T, text string) *Profile {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	p := parse(t, sample)
	if p.String() != sample {
		t.Errorf("printed\n%swant\n%s", p, sample)
	}
	want := Rule{Action: Allow, Operations: []string{"file-read*", "file-test-existence"}, Line: 5,
		Filters: []Filter{{"literal", "/"}, {"subpath", "/usr/lib"}, {"prefix", "/x/li"}}}
	if got := p.Rules[2]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	loose := "; why\n" + strings.ReplaceAll(sample, " (", " ; why\n  (")
	if got := parse(t, loose).String(); got != sample {
		t.Errorf("with comments\n%swant\n%s", got, sample)
	}
	if names := namesOf(p); !slices.Contains(names, "process-exec") || !slices.Contains(names, "sysctl-name-prefix") || len(names) != 14 {
		t.Errorf("%d names: %v", len(names), names)
	}
	for _, name := range filterNames() {
		if !slices.Contains(namesOf(p), name) {
			t.Errorf("the sample has no filter %s", name)
		}
	}
}

func TestParseRefusesTheHead(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: missing: (version 1)"},
		{"(version 1)\n", "line 2: missing: (deny default)"},
		{"(version 3)\n(deny default)", "line 1: expected (version 1), found (version 3)"},
		{"(version \"1\")(deny default)", `expected (version 1), found (version "1")`},
		{"(deny default)\n(version 1)", "line 1: expected (version 1), found (deny default)"},
		{"(version 1)\n(allow default)", "line 2: expected (deny default), found (allow default)"},
		{"(version 1)\n(deny default (with no-log))", "line 2: expected (deny default), found"},
		{"(version 1)\n(debug deny)\n(deny default)", "line 2: expected (deny default), found (debug deny)"},
		{"(version 1", "line 1: a parenthesis is not closed"},
	} {
		p, err := Parse(c.text)
		refused(t, err, c.want)
		if p != nil {
			t.Errorf("%q: an error and also a profile", c.text)
		}
	}
}

// The rule of each row begins on line 3.
func TestParseRefusesRules(t *testing.T) {
	for _, c := range []struct{ rule, want string }{
		{"x", "line 3: x is not a rule"},
		{"()", "line 3: () is not a rule"},
		{"(\"allow\" file-read*)", "line 3: (\"allow\" file-read*) is not a rule"},
		{"(permit file-read*)", "line 3: unbound variable: permit"},
		{"(allow)", "line 3: a rule without an operation"},
		{"(allow (literal \"/\"))", "line 3: (literal \"/\") is not an operation before the filters"},
		{"(allow file-reed*)", "line 3: unbound variable: file-reed*"},
		{"(allow\n file-read*\n file-reed-data)", "line 5: unbound variable: file-reed-data"},
		{"(allow FILE-READ*)", "line 3: unbound variable: FILE-READ*"},
		{"(allow default)", "line 3: default is a part of SBPL that is not used here"},
		{"(deny default)", "line 3: default is a part of SBPL that is not used here"},
		{"(allow file-read* file-read*)", "line 3: a rule names file-read* twice"},
		{"(allow file-read* (literal \"/\") file-ioctl)", "line 3: file-ioctl is not an operation before the filters"},
		{"(allow file-read* \"/\")", "line 3: \"/\" is not an operation before the filters"},
		{"(allow file-read* 1)", "line 3: 1 is not an operation before the filters"},
		{"(allow file-read*\n ())", "line 4: () is not a filter"},
		{"(allow file-read* (\"/\"))", "is not a filter"},
		{"(allow file-read*\n (litteral \"/\"))", "line 4: unbound variable: litteral"},
		{"(allow file-read*\n (literal))", "line 4: (literal) has not exactly one value"},
		{"(allow file-read* (literal \"/a\" \"/b\"))", "has not exactly one value"},
		{"(allow file-read* (literal $node))", "line 3: unbound variable: $node"},
		{"(allow file-read* (literal self))", "line 3: unbound variable: self"},
		{"(allow file-read* (literal 1))", "line 3: literal takes a string, not 1"},
		{"(allow file-read* (literal (param \"X\")))", "literal takes a string, not (param \"X\")"},
		{"(allow file-read*\n (literal\n \"a\"))", "line 5: literal \"a\" is not absolute"},
		{"(allow file-read* (prefix \"a\"))", "prefix \"a\" is not absolute"},
		{"(allow file-read* (literal \"/a/\"))", "literal \"/a/\" is not a clean path"},
		{"(allow file-read* (subpath \"/a/../b\"))", "is not a clean path"},
		{"(allow signal (target \"self\"))", "target takes a symbol, not \"self\""},
		{"(allow signal (target children))", "unbound variable: children"},
		{"(allow signal (target 2))", "target takes a symbol, not 2"},
	} {
		_, err := Parse(head + c.rule)
		refused(t, err, c.want)
	}
}

// What SBPL has and profiles here have not is refused by name, as a form, as an operation and as a filter.
func TestParseRefusesByName(t *testing.T) {
	for _, name := range unused() {
		want := "line 3: " + name + " is a part of SBPL that is not used here"
		for _, form := range []string{"(%s \"x\")", "(allow %s)", "(allow file-read* (%s \"/x\"))"} {
			_, err := Parse(head + fmt.Sprintf(form, name))
			refused(t, err, want)
		}
	}
}

// Each filter fits the operations with its subject, wildcards included, and no other; nor one that fits but a part of a rule's operations.
func TestFiltersFitOperations(t *testing.T) {
	values := map[string]string{"target": "self"}
	for _, k := range filterKinds() {
		value, isSymbol := values[k.name]
		if !isSymbol {
			value = `"/x"`
		}
		for _, o := range Operations() {
			filter := fmt.Sprintf("(%s %s))", k.name, value)
			_, err := Parse(head + "(deny " + o.Name + " " + filter)
			_, mixedErr := Parse(head + "(deny dynamic-code-generation " + o.Name + " " + filter)
			if fits := err == nil; fits != (o.Subject == k.subject) || mixedErr == nil {
				t.Errorf("%s in %s: %v, with a misfit: %v", k.name, o.Name, err, mixedErr)
			}
		}
	}
}

func TestPatternsAreBounded(t *testing.T) {
	filter := fmt.Sprintf(" (literal \"/%s\")", strings.Repeat("a", 1023))
	most := head + "(allow file-read*" + strings.Repeat(filter, 16) + ")\n(allow file-read*" + strings.Repeat(filter, 16)
	parse(t, most+")")
	_, err := Parse(most + " (literal \"/\"))")
	refused(t, err, "line 4: the strings of the profile are longer than 32768 bytes")
}

// namesOf are the operations and filters that a profile uses, each once, sorted.
func namesOf(p *Profile) []string {
	var names []string
	for _, r := range p.Rules {
		names = append(names, r.Operations...)
		for _, f := range r.Filters {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// filterNames are the filters that a profile may have.
func filterNames() []string {
	var names []string
	for _, k := range filterKinds() {
		names = append(names, k.name)
	}
	return names
}
