package sbpl

import (
	"errors"
	"fmt"
	"slices"
)

// parseRule reads (action operation ... filter ...).
func parseRule(n Node) (Rule, error) {
	if n.Kind != List || len(n.List) == 0 || n.List[0].Kind != Symbol {
		return Rule{}, fmt.Errorf("%s is not a rule", n)
	}
	r := Rule{Action: Action(n.List[0].Text), Line: n.Line}
	if r.Action != Allow && r.Action != Deny {
		return Rule{}, unbound(n.List[0].Text)
	}
	for _, member := range n.List[1:] {
		if err := r.add(member); err != nil {
			return Rule{}, err
		}
	}
	if len(r.Operations) == 0 {
		return Rule{}, errors.New("a rule without an operation")
	}
	return r, nil
}

// add takes one more operation or filter. Operations come first.
func (r *Rule) add(n Node) error {
	switch {
	case n.Kind == List && len(r.Operations) > 0:
		f, err := parseFilter(n, r.Operations)
		r.Filters = append(r.Filters, f)
		return err
	case n.Kind != Symbol || len(r.Filters) > 0:
		return fmt.Errorf("%s is not an operation before the filters", n)
	case n.Text == "default":
		return errors.New("the default is set but once")
	case slices.Contains(r.Operations, n.Text):
		return fmt.Errorf("a rule names %s twice", n.Text)
	}
	if _, known := lookup(n.Text); !known {
		return unbound(n.Text)
	}
	r.Operations = append(r.Operations, n.Text)
	return nil
}

// parseFilter reads (name value), which must fit each of the operations.
func parseFilter(n Node, operations []string) (Filter, error) {
	if len(n.List) == 0 || n.List[0].Kind != Symbol {
		return Filter{}, fmt.Errorf("%s is not a filter", n)
	}
	kind, known := filterKindOf(n.List[0].Text)
	if !known {
		return Filter{}, unbound(n.List[0].Text)
	}
	if len(n.List) != 2 {
		return Filter{}, fmt.Errorf("%s has not exactly one value", n)
	}
	if err := kind.check(n.List[1]); err != nil {
		return Filter{}, err
	}
	for _, name := range operations {
		if o, _ := lookup(name); o.Subject != kind.subject {
			return Filter{}, fmt.Errorf("the filter %s does not fit the operation %s", kind.name, name)
		}
	}
	return Filter{kind.name, n.List[1].Text}, nil
}

// unbound refuses a name: as sandbox-exec does, or as a part of SBPL that profiles here do not have.
func unbound(name string) error {
	if slices.Contains(unused(), name) {
		return fmt.Errorf("%s is a part of SBPL that is not used here", name)
	}
	return fmt.Errorf("unbound variable: %s", name)
}

// unused are well-known names of SBPL that no profile here needs. The first lines could change what other rules mean, which neither a reader
// nor the evaluator would then see; the last are filters whose matching is not well enough known.
func unused() []string {
	return []string{
		"version", "default", "debug", "import", "param", "with",
		"begin", "define", "defined?", "if", "lambda", "let", "let*", "string-append", "unless", "when",
		"require-all", "require-any", "require-not",
		"regex", "path", "path-ancestors", "vnode-type", "file-mode", "extension", "local-name", "remote", "local",
	}
}
