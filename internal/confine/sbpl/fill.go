package sbpl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fill gives the placeholders of a template their values. A placeholder is the symbol `$name`, alone in a filter as in (literal $name). Its
// filter becomes as many filters as it has values, each with that value as a string, so no value can become anything but one string. Values
// must be printable ASCII and not empty. A placeholder without values, or values without a placeholder, is an error. So is a rule that had
// filters and has none left: Seatbelt would take it for everything.
func Fill(nodes []Node, values map[string][]string) ([]Node, error) {
	f := filler{values: values, used: map[string]bool{}}
	filled := make([]Node, 0, len(nodes))
	for _, n := range nodes {
		rule, err := f.rule(n)
		if err != nil {
			return nil, err
		}
		filled = append(filled, rule)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !f.used[name] {
			return nil, fmt.Errorf("sbpl: no filter has the placeholder $%s", name)
		}
	}
	return filled, nil
}

type filler struct {
	values map[string][]string
	used   map[string]bool
}

func (f filler) rule(n Node) (Node, error) {
	filled := Node{Kind: n.Kind, Text: n.Text, Line: n.Line}
	if err := notPlaced(filled); err != nil {
		return Node{}, err
	}
	lists, left := 0, 0
	for _, member := range n.List {
		filters, err := f.filter(member)
		if err != nil {
			return Node{}, err
		}
		if member.Kind == List {
			lists++
			left += len(filters)
		}
		filled.List = append(filled.List, filters...)
	}
	if lists > 0 && left == 0 {
		return Node{}, wrong(n.Line, "no filter is left in %s", n)
	}
	return filled, nil
}

// filter is what one member of a rule becomes.
func (f filler) filter(n Node) ([]Node, error) {
	if n.Kind != List || len(n.List) != 2 || n.List[0].isPlaceholder() || !n.List[1].isPlaceholder() {
		return []Node{n}, notPlaced(n)
	}
	name := n.List[1].Text[1:]
	values, known := f.values[name]
	if !known {
		return nil, wrong(n.Line, "no value for the placeholder $%s", name)
	}
	f.used[name] = true
	var filters []Node
	for _, v := range values {
		if err := checkString(v); err != nil {
			return nil, wrong(n.Line, "$%s: %v", name, err)
		}
		value := Node{Kind: String, Text: v, Line: n.Line}
		filters = append(filters, Node{Kind: List, List: []Node{n.List[0], value}, Line: n.Line})
	}
	return filters, nil
}

func (n Node) isPlaceholder() bool { return n.Kind == Symbol && strings.HasPrefix(n.Text, "$") }

// notPlaced refuses placeholders anywhere in n.
func notPlaced(n Node) error {
	if n.isPlaceholder() {
		return wrong(n.Line, "the placeholder %s does not stand alone in a filter", n.Text)
	}
	for _, member := range n.List {
		if err := notPlaced(member); err != nil {
			return err
		}
	}
	return nil
}
