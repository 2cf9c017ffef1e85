package e2e

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table is one table of docs/performance.md: what `make bench` prints is what
// stands there.
type table struct {
	title string
	notes []string
	head  []string
	rows  [][]string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// String is t in Markdown, in columns that a terminal shows as such.
func (t *table) String() string {
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "### %s\n\n", t.title)
	line := func(cells []string) {
		for i, cell := range cells {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				cell, pad = pad+cell, ""
			}
			fmt.Fprintf(&out, "| %s%s ", cell, pad)
		}
		out.WriteString("|\n")
	}
	line(t.head)
	for i, w := range width {
		rule := strings.Repeat("-", w+1)
		if i > 0 {
			rule += ":"
		} else {
			rule = ":" + rule
		}
		fmt.Fprintf(&out, "|%s", rule)
	}
	out.WriteString("|\n")
	for _, row := range t.rows {
		line(row)
	}
	for _, note := range t.notes {
		fmt.Fprintf(&out, "\n%s\n", note)
	}
	return out.String()
}

// spread is the least and the most.
func (s series) spread(digits int) string {
	return fmt.Sprintf("%.*f to %.*f", digits, s.least(), digits, s.most())
}

// millis is a median in milliseconds, and ratio one without a unit.
func (s series) millis() string { return fmt.Sprintf("%.1f", s.median()) }
func (s series) ratio() string  { return fmt.Sprintf("%.2f", s.median()) }

// ratios and times are two cells: a median and its spread.
func (s series) ratios() []string { return []string{s.ratio(), s.spread(2)} }
func (s series) times() []string  { return []string{s.millis(), s.spread(1)} }

func cells(first string, rest ...[]string) []string {
	out := []string{first}
	for _, r := range rest {
		out = append(out, r...)
	}
	return out
}
