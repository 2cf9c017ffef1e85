package sbpl

import "slices"

// parseRule reads (action operation ... filter ...).
func parseRule(n Node) (Rule, error) {
	if n.Kind != List || len(n.List) == 0 || n.List[0].Kind != Symbol {
		return Rule{}, wrong(n.Line, "%s is not a rule", n)
	}
	r := Rule{Action: Action(n.List[0].Text), Line: n.Line}
	if r.Action != Allow && r.Action != Deny {
		return Rule{}, unbound(n.List[0])
	}
	for _, member := range n.List[1:] {
		if err := r.add(member); err != nil {
			return Rule{}, err
		}
	}
	if len(r.Operations) == 0 {
		return Rule{}, wrong(n.Line, "a rule without an operation")
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
		return wrong(n.Line, "%s is not an operation before the filters", n)
	case slices.Contains(r.Operations, n.Text):
		return wrong(n.Line, "a rule names %s twice", n)
	}
	if _, known := lookup(n.Text); !known {
		return unbound(n)
	}
	r.Operations = append(r.Operations, n.Text)
	return nil
}

// parseFilter reads (name value), which must fit each of the operations.
func parseFilter(n Node, operations []string) (Filter, error) {
	if len(n.List) == 0 || n.List[0].Kind != Symbol {
		return Filter{}, wrong(n.Line, "%s is not a filter", n)
	}
	kind, known := filterKindOf(n.List[0].Text)
	if !known {
		return Filter{}, unbound(n.List[0])
	}
	if len(n.List) != 2 {
		return Filter{}, wrong(n.Line, "%s has not exactly one value", n)
	}
	value := n.List[1]
	if value.Kind == Symbol && !slices.Contains(kind.symbols, value.Text) {
		return Filter{}, unbound(value)
	}
	if err := kind.check(value); err != nil {
		return Filter{}, wrong(value.Line, "%v", err)
	}
	for _, name := range operations {
		if o, _ := lookup(name); o.Subject != kind.subject {
			return Filter{}, wrong(n.Line, "the filter %s does not fit the operation %s", kind.name, name)
		}
	}
	return Filter{kind.name, value.Text}, nil
}

// unbound refuses a symbol: in the words of sandbox-exec, or as a part of SBPL that profiles here do not have.
func unbound(n Node) error {
	if slices.Contains(unused(), n.Text) {
		return wrong(n.Line, "%s is a part of SBPL that is not used here", n)
	}
	return wrong(n.Line, "unbound variable: %s", n)
}

// unused are names that SBPL has and no profile here needs. Those of the first three lines could change what other rules mean, unseen by
// the reader and the evaluator. The others are filters, and combinations of filters, that the evaluator does not model.
func unused() []string {
	return []string{
		"version", "default", "debug", "import", "param", "with",
		"begin", "define", "defined?", "if", "lambda", "let", "let*", "string-append", "unless", "when",
		"require-all", "require-any", "require-not",
		"regex", "path", "path-ancestors", "vnode-type", "file-mode", "extension", "xattr", "process-path",
		"global-name", "global-name-prefix", "global-name-regex", "local-name", "ipc-posix-name", "local", "remote", "signal-number",
		"syscall-number", "socket-domain", "socket-type", "socket-protocol", "fcntl-command",
	}
}
