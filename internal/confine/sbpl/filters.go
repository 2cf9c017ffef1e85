package sbpl

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// filterKind is a filter that a profile may have: what operations it fits, and what it matches.
type filterKind struct {
	name    string
	subject Subject
	symbols []string // its possible values, which are symbols; empty if its value is a string
	matches func(value string, q Query) bool
}

// filterKinds are all there are. Their names are names of macOS 14.4. No profile of ours has a prefix: it is what a rule on a path would be
// that forgot the borders of names, and the tests of the profile see to it that this is noticed.
var filterKinds = sync.OnceValue(func() []filterKind {
	return []filterKind{
		{"literal", AFile, nil, func(v string, q Query) bool { return q.Path.Resolved == v }},
		{"subpath", AFile, nil, func(v string, q Query) bool { return within(q.Path.Resolved, v) }},
		{"prefix", AFile, nil, func(v string, q Query) bool { return strings.HasPrefix(q.Path.Resolved, v) }},
		{"target", Process, []string{string(Self), string(Others)}, func(v string, q Query) bool { return string(q.Target) == v }},
		{"sysctl-name", Sysctl, nil, func(v string, q Query) bool { return q.Name == v }},
		{"sysctl-name-prefix", Sysctl, nil, func(v string, q Query) bool { return strings.HasPrefix(q.Name, v) }},
	}
})

// within says whether p is root or below it, on the borders of names.
func within(p, root string) bool {
	return p == root || strings.HasPrefix(p, strings.TrimSuffix(root, "/")+"/")
}

func filterKindOf(name string) (filterKind, bool) {
	kinds := filterKinds()
	i := slices.IndexFunc(kinds, func(k filterKind) bool { return k.name == name })
	if i < 0 {
		return filterKind{}, false
	}
	return kinds[i], true
}

// check judges the value of a filter of this kind. Whether its symbols hold a symbol is judged before.
func (k filterKind) check(value Node) error {
	switch {
	case len(k.symbols) > 0 && value.Kind != Symbol:
		return fmt.Errorf("%s takes a symbol, not %s", k.name, value)
	case len(k.symbols) == 0 && value.Kind != String:
		return fmt.Errorf("%s takes a string, not %s", k.name, value)
	case k.subject == AFile && !strings.HasPrefix(value.Text, "/"):
		return fmt.Errorf("%s %s is not absolute", k.name, value)
	case (k.name == "literal" || k.name == "subpath") && path.Clean(value.Text) != value.Text:
		return fmt.Errorf("%s %s is not a clean path", k.name, value)
	}
	return nil
}
