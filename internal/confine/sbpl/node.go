package sbpl

import "strings"

// Kind says what an expression is.
type Kind string

// The kinds of expressions.
const (
	List   Kind = "list"
	Symbol Kind = "symbol"
	String Kind = "string"
	Number Kind = "number"
)

// Node is one expression. A symbol, a string and a number have a Text, a list has a List. The text of a string is its value, without quotes
// and escapes. A Line of 0 belongs to what no text was read for.
type Node struct {
	Kind Kind
	Text string
	List []Node
	Line int
}

// Print is the canonical text: one expression a line, one space between the members of a list, no comment. Read gives the same expressions
// back if they came from Read or Fill.
func Print(nodes []Node) string {
	var b strings.Builder
	for _, n := range nodes {
		n.print(&b)
		b.WriteByte('\n')
	}
	return b.String()
}

func (n Node) String() string {
	var b strings.Builder
	n.print(&b)
	return b.String()
}

func (n Node) print(b *strings.Builder) {
	switch n.Kind {
	case List:
		b.WriteByte('(')
		for i, member := range n.List {
			if i > 0 {
				b.WriteByte(' ')
			}
			member.print(b)
		}
		b.WriteByte(')')
	case String:
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n.Text) + `"`)
	default:
		b.WriteString(n.Text)
	}
}

// is says whether n prints as the given text.
func (n Node) is(text string) bool { return n.String() == text }
