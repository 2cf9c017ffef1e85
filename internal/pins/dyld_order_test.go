package pins

import (
	"slices"
	"strings"
	"testing"
)

// TestMacSearchOrder: by whose run paths a library is searched follows from the order in which dyld goes through libraries.
// Each row is worked out by hand from JustInTimeLoader::loadDependents.
func TestMacSearchOrder(t *testing.T) {
	const x = "@rpath/x.dylib"
	for name, row := range map[string]struct {
		node      string            // what it needs
		rpath     string            // of Node
		libraries map[string]string // what each needs, and after a | its run path
		want      string
	}{
		"deep before wide":      {"a b", "", map[string]string{"a": "c", "b": "d|one", "c": "d|two", "d": x}, "two"},
		"an earlier sister":     {"a b", "one", map[string]string{"a": "b|two", "b": x}, "two"},
		"a later sister":        {"b a", "one", map[string]string{"a": "b|two", "b": x}, "one"},
		"its own come first":    {"a", "two", map[string]string{"a": "b|two", "b": x + "|one"}, "one"},
		"a cycle":               {"a", "one", map[string]string{"a": "b|two", "b": "a c", "c": x}, "two"},
		"Node's are those left": {"a b", "one", map[string]string{"a": "c", "b": "d|two", "c": x}, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newMacTree(t)
			spec := func(kind machoKind, names, rpath string) machoSpec {
				s := machoSpec{kind: kind}
				for _, n := range strings.Fields(names) {
					if n != x {
						n = tr.at("l/" + n)
					}
					s.dylibs = append(s.dylibs, needs(n)...)
				}
				if rpath != "" {
					s.rpaths = []string{tr.at(rpath)}
				}
				return s
			}
			tr.macho("Cellar/node/26.8.1/bin/node", spec(machoExecute, row.node, row.rpath))
			tr.macho("l/d", machoSpec{})
			for library, says := range row.libraries {
				names, rpath, _ := strings.Cut(says, "|")
				tr.macho("l/"+library, spec(0, names, rpath))
			}
			tr.macho("one/x.dylib", machoSpec{})
			tr.macho("two/x.dylib", machoSpec{})
			got := tr.paths(tr.must(tr.take("bin/node")))
			other := map[string]string{"one": "two", "two": "one"}[row.want]
			if !slices.Contains(got, row.want+"/x.dylib") || slices.Contains(got, other+"/x.dylib") {
				t.Errorf("%q, want that of %s", got, row.want)
			}
		})
	}
}

// TestMacSystemIsNotAllBelowIt: everybody's files have a name below /System too.
func TestMacSystemIsNotAllBelowIt(t *testing.T) {
	for _, name := range []string{"/System/Volumes/Data/Users/me/x.dylib", "/System/x.dylib"} {
		tr := newMacTree(t)
		tr.need(name)
		if _, err := tr.take("bin/node"); err == nil || !strings.Contains(err.Error(), "which is not there") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMacSearchIsBounded: weak libraries that are nowhere, in many places each.
func TestMacSearchIsBounded(t *testing.T) {
	tr := newMacTree(t)
	var many []machoDylib
	for range maxDylibs {
		many = append(many, machoDylib{name: "@rpath/none.dylib", weak: true})
	}
	spec := machoSpec{dylibs: many[1:], rpaths: slices.Repeat([]string{"/nowhere"}, maxRPaths)}
	for i := range 9 {
		next := machoDylib{name: tr.at("many/" + string(rune('a'+i)))}
		tr.macho("many/"+string(rune('a'+i-1)), machoSpec{dylibs: append(slices.Clone(spec.dylibs), next), rpaths: spec.rpaths})
	}
	tr.macho("many/i", machoSpec{})
	tr.need(tr.at("many/a"))
	if _, err := tr.take("bin/node"); err == nil || !strings.Contains(err.Error(), "more than 131072 places") {
		t.Error(err)
	}
}
