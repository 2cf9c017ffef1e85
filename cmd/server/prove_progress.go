package main

import (
	"fmt"
	"io"

	"confined/internal/interim/prove"
)

// progress tells on stderr how far the suite is: one line that is written over
// on a terminal, else one line for each phase.
type progress struct {
	to       io.Writer
	terminal bool
	phase    string
}

func newProgress(to io.Writer) *progress { return &progress{to: to, terminal: isTerminal(to)} }

// step is called by the suite, one call at a time.
func (p *progress) step(now prove.Progress) {
	switch {
	case p.terminal:
		fmt.Fprintf(p.to, "\r\x1b[K%s  %d of %d", oneLine(now.Phase), now.Done, now.Total)
	case now.Phase != p.phase:
		fmt.Fprintf(p.to, "confined prove: %s\n", oneLine(now.Phase))
	}
	p.phase = now.Phase
}

// end leaves the line empty for what comes next.
func (p *progress) end() {
	if p.terminal && p.phase != "" {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
