package main

import (
	"fmt"
	"io"

	"confined/internal/prove"
)

// progress tells on stderr how far the suite is: one line that is written over
// on a terminal, else one line for each step.
type progress struct {
	to       io.Writer
	terminal bool
	width    func() int // of a line, see widthOf
	now      string     // the step
}

func newProgress(to io.Writer) *progress {
	return &progress{to: to, terminal: isTerminal(to), width: func() int { return widthOf(to) }}
}

// tell is called by the suite, one call at a time.
func (p *progress) tell(what prove.Progress) {
	p.now = oneLine(what.Phase)
	switch {
	case p.terminal:
		line := fmt.Sprintf("%d of %d  %s", what.Done, what.Total, p.now)
		if width := p.width(); width > 0 {
			line = cut(line, width-1) // one that is full may go on below
		}
		fmt.Fprint(p.to, "\r\x1b[K", line)
	case what.Row == nil:
		fmt.Fprintf(p.to, "confined prove: %s\n", p.now)
	}
}

// end leaves the line empty for what comes next.
func (p *progress) end() {
	if p.terminal && p.now != "" {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
