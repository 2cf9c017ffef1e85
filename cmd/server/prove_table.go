package main

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"confined/internal/pins"
	"confined/internal/prove"
)

// Widths below which a column of words says nothing. Evidence is left out then.
const (
	narrowestEvidence = 16
	narrowestProbe    = 12
)

// Columns that are words, by their place in a line.
const (
	columnProbe    = 0
	columnEvidence = 4
)

// ditto stands for evidence that is that of the row above.
const ditto = `"`

// legend says what the words of the table mean.
const legend = `by          who acts: js, a program in JavaScript; native, one in C; look, nobody:
            the host looks at the live process
unconfined  the same with nothing around it: it took place, or a look found less
            ("weaker"); "not done" for one of the reasons counted below
confined    the code that the program was told; "nothing": no error says so, but
            what it looks for is not there; of a look "as promised"
evidence    what the host judges by; " is the same as above

`

// widthOf is how many characters a line of a terminal holds, and 0 for what is
// no terminal: nothing is cut there.
func widthOf(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// writeTable writes the rows under a heading for each family, in the order in
// which families and rows first come. Where width is not 0 no line is longer,
// as far as that can be: the probe's name and the evidence are cut, and evidence
// that would say nothing is left out.
func writeTable(b *strings.Builder, rows []pins.Row, width int) {
	rows = byFamily(rows)
	head := [6]string{"probe", "by", "unconfined", "confined", "evidence", "verdict"}
	cells := [][6]string{head}
	for _, row := range rows {
		cells = append(cells, cellsOf(row))
	}
	widths := fit(cells, width)
	if len(rows) > 0 {
		writeLine(b, "", head, widths)
	}
	family, evidence := "", ""
	for i, row := range rows {
		line := cells[i+1]
		switch {
		case row.Family != family:
			family = row.Family
			fmt.Fprintf(b, "%s\n", oneLine(family))
		case row.Evidence == evidence:
			line[columnEvidence] = ditto
		}
		evidence = row.Evidence
		writeLine(b, markOf(row.Verdict), line, widths)
	}
	if len(rows) > 0 {
		b.WriteString("\n")
	}
}

// byFamily brings the rows of each family together.
func byFamily(rows []pins.Row) []pins.Row {
	var families []string
	of := map[string][]pins.Row{}
	for _, row := range rows {
		if of[row.Family] == nil {
			families = append(families, row.Family)
		}
		of[row.Family] = append(of[row.Family], row)
	}
	grouped := make([]pins.Row, 0, len(rows))
	for _, family := range families {
		grouped = append(grouped, of[family]...)
	}
	return grouped
}

// cellsOf is one row as it is printed: probe, who acts, what came of it
// unconfined and confined, evidence, verdict.
func cellsOf(row pins.Row) [6]string {
	outcome := outcomeText
	if row.Kind == string(prove.Look) {
		outcome = lookText
	}
	unconfined := outcome(row.Control)
	if row.NoControl != "" {
		unconfined = "not done"
	}
	return [6]string{oneLine(row.Name), byText(row.Kind), unconfined, outcome(row.Confined), oneLine(row.Evidence), verdictText(row)}
}

// verdictText is the word for the verdict of a row. Where nobody acts nothing is
// denied: what the host looked for holds.
func verdictText(row pins.Row) string {
	if row.Verdict == pins.Denied && row.Kind == string(prove.Look) {
		return "holds"
	}
	return string(row.Verdict)
}

// outcomeText is what came of an act: whether it took place, and what the
// program was told.
func outcomeText(o *pins.Outcome) string {
	switch {
	case o == nil:
		return "-"
	case o.Took && o.Code != "":
		return "took place, " + oneLine(o.Code)
	case o.Took:
		return "took place"
	case o.Code == prove.Nothing:
		return "nothing"
	case o.Code != "":
		return oneLine(o.Code)
	}
	return "did not"
}

// lookText is what the host saw where nobody acts.
func lookText(o *pins.Outcome) string {
	switch {
	case o == nil:
		return "-"
	case o.Took:
		return "weaker"
	}
	return "as promised"
}

// byText is who acts, in few letters.
func byText(kind string) string {
	if kind == string(prove.JavaScript) {
		return "js"
	}
	return oneLine(kind)
}

func markOf(v pins.Verdict) string {
	return map[pins.Verdict]string{pins.Denied: "✓", pins.Allowed: "✓", pins.Failed: "✗", pins.NotShown: "?", pins.Untried: "·"}[v]
}

// fit is the width of each column.
func fit(cells [][6]string, width int) [6]int {
	var widths [6]int
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if width == 0 {
		return widths
	}
	rest := 4 + 2*(len(widths)-2) // the mark, its margins, and two spaces between columns, but for evidence's
	for i, w := range widths {
		if i != columnProbe && i != columnEvidence {
			rest += w
		}
	}
	room := max(width-rest, narrowestProbe)
	evidence := min(widths[columnEvidence], max(room-2-widths[columnProbe], room*2/5))
	if evidence < narrowestEvidence {
		evidence = -2 // without the spaces before it
	}
	widths[columnProbe] = min(widths[columnProbe], room-2-evidence)
	widths[columnEvidence] = max(0, evidence)
	return widths
}

// writeLine writes one line of the table; the verdict follows the mark.
func writeLine(b *strings.Builder, mark string, cells [6]string, widths [6]int) {
	line := "  " + mark + pad(mark, 1) + " " + cells[5] + pad(cells[5], widths[5])
	for i, cell := range cells[:5] {
		cell = cut(cell, widths[i])
		line += "  " + cell + pad(cell, widths[i])
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// cut shortens text to width characters.
func cut(text string, width int) string {
	runes := []rune(text)
	switch {
	case len(runes) <= width:
		return text
	case width == 0:
		return ""
	}
	return string(runes[:width-1]) + "…"
}
