package sbpl

import "strings"

// maxPatterns bounds the bytes of all strings of a profile. macOS refuses a profile whose compiled patterns are longer than 65,535 bytes;
// what it counts is not known, so this stays at half of it.
const maxPatterns = 32 << 10

// Action is what a rule does with what it matches.
type Action string

// The actions.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
)

// Profile is a profile of version 1 that denies by default.
type Profile struct{ Rules []Rule }

// Rule is one rule. It matches one of its operations if one of its filters matches, or if it has none.
type Rule struct {
	Action     Action
	Operations []string
	Filters    []Filter
	Line       int // of the text
}

// Filter is a condition, such as (literal "/") or (target self).
type Filter struct{ Name, Value string }

// Parse reads a whole profile: (version 1), (deny default), then rules. A form, operation or filter that is not among those of this package
// is refused in the words of sandbox-exec, `unbound variable: X`, and so is what fits no operation of its rule. There are no modifiers,
// definitions, imports, parameters or combinators.
func Parse(text string) (*Profile, error) {
	nodes, err := Read(text)
	if err != nil {
		return nil, err
	}
	for i, want := range header() {
		if i >= len(nodes) {
			return nil, wrong(1+strings.Count(text, "\n"), "missing: %s", want)
		}
		if !nodes[i].is(want) {
			return nil, wrong(nodes[i].Line, "expected %s, found %s", want, nodes[i])
		}
	}
	p := &Profile{}
	for _, n := range nodes[len(header()):] {
		rule, err := parseRule(n)
		if err != nil {
			return nil, err
		}
		p.Rules = append(p.Rules, rule)
	}
	if err := p.checkPatterns(); err != nil {
		return nil, err
	}
	return p, nil
}

func header() []string { return []string{"(version 1)", "(deny default)"} }

func (p *Profile) checkPatterns() error {
	bytes := 0
	for _, r := range p.Rules {
		for _, f := range r.Filters {
			if bytes += len(f.Value); bytes > maxPatterns {
				return wrong(r.Line, "the strings of the profile are longer than %d bytes", maxPatterns)
			}
		}
	}
	return nil
}

// String is the canonical text.
func (p *Profile) String() string {
	lines := header()
	for _, r := range p.Rules {
		lines = append(lines, r.String())
	}
	return strings.Join(lines, "\n") + "\n"
}

// String is the rule as the canonical text has it.
func (r Rule) String() string {
	n := Node{Kind: List, List: []Node{{Kind: Symbol, Text: string(r.Action)}}}
	for _, name := range r.Operations {
		n.List = append(n.List, Node{Kind: Symbol, Text: name})
	}
	for _, f := range r.Filters {
		n.List = append(n.List, f.node())
	}
	return n.String()
}

func (f Filter) node() Node {
	value := Node{Kind: String, Text: f.Value}
	if k, known := filterKindOf(f.Name); known && len(k.symbols) > 0 {
		value.Kind = Symbol
	}
	return Node{Kind: List, List: []Node{{Kind: Symbol, Text: f.Name}, value}}
}
