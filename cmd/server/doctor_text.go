package main

import (
	"fmt"
	"io"
	"strings"

	"confined/internal/pins"
)

// print writes the report for people: one aligned line for each finding, and
// the cure below what needs one. Paths and what programs said are spelled, so
// that none of it acts on a terminal.
func (r report) print(to io.Writer) error {
	var b strings.Builder
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Name))
	}
	for _, f := range r.Findings {
		mark := map[verdict]string{verdictOK: "✓ ok", verdictNo: "✗ fails", verdictNote: "· note"}[f.Verdict]
		fmt.Fprintf(&b, "%s%s %-*s  %s\n", mark, pad(mark, 9), width, f.Name, oneLine(f.Detail))
		if f.Cure != "" {
			fmt.Fprintf(&b, "%*s  cure: %s\n", 10+width, "", oneLine(f.Cure))
		}
	}
	if r.Able {
		b.WriteString("\nThis host is able to run confined programs.\n")
	} else {
		fmt.Fprintf(&b, "\nThis host is not able to run confined programs: what is marked ✗ above keeps it from that.\n")
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// pad fills text up to width characters; fmt counts bytes.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-len([]rune(text))))
}

func nodeText(rt pins.Runtime) string {
	return fmt.Sprintf("%s, version %s, sha256 %s", rt.Node, rt.NodeVersion, rt.NodeSHA256())
}
