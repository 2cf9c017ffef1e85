package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"confined/client"
	"confined/client/api"
)

// sink is where one stream of a program goes. After the first write that fails
// it drops everything, and keeps why: a run is not ended by its reader.
type sink struct {
	to       io.Writer
	shown    *visible // what to is, where control characters are spelt out
	terminal bool
	taken    int64 // bytes of the program that were written
	lost     error
	open     bool // the last line has no newline yet
}

// newSink writes to w verbatim, unless w is a terminal and raw was not asked for.
func newSink(w io.Writer, raw bool) *sink {
	s := &sink{to: w, terminal: isTerminal(w)}
	if s.terminal && !raw {
		s.shown = &visible{to: w}
		s.to = s.shown
	}
	return s
}

func (s *sink) write(p []byte) {
	if s.lost != nil || len(p) == 0 {
		return
	}
	n, err := s.to.Write(p)
	s.taken += int64(n)
	s.lost = err
	s.open = p[len(p)-1] != '\n'
}

func (s *sink) flush() {
	if s.shown != nil && s.lost == nil {
		s.lost = s.shown.Flush()
	}
}

// readerLeft says that whoever read it had enough, as head does, and not that
// something failed.
func readerLeft(err error) bool { return errors.Is(err, syscall.EPIPE) }

// output is both streams of a program, and what follows them on stderr.
type output struct {
	stdout, stderr *sink
	last           io.Writer // stderr
	together       bool      // stdout and stderr are one file, pipe or terminal
}

func newOutput(in surroundings, raw bool) *output {
	return &output{
		stdout: newSink(in.stdout, raw), stderr: newSink(in.stderr, raw),
		last: in.stderr, together: sameStream(in.stdout, in.stderr),
	}
}

// event writes what the program printed.
func (o *output) event(e client.Event) {
	switch {
	case e.Type != client.EventOutput:
	case e.Stream == api.OutputEventStreamStdout:
		o.stdout.write(e.Output)
	default:
		o.stderr.write(e.Output)
	}
}

// conclude ends both streams, and adds the facts, if any, on a line of their own.
func (o *output) conclude(facts string) {
	o.stdout.flush()
	o.stderr.flush()
	if facts != "" && (o.stderr.open || o.together && o.stdout.open) {
		fmt.Fprintln(o.last)
	}
	if facts != "" {
		fmt.Fprintf(o.last, "confined: %s\n", facts)
	}
	if o.stdout.lost != nil {
		fmt.Fprintf(o.last, "confined: stdout was not taken whole: %v after %d bytes\n", o.stdout.lost, o.stdout.taken)
	}
}

// lost reports whether something was not written, for another reason than that
// its reader went away.
func (o *output) lost() bool {
	for _, s := range []*sink{o.stdout, o.stderr} {
		if s.lost != nil && !readerLeft(s.lost) {
			return true
		}
	}
	return false
}

func sameStream(a, b io.Writer) bool {
	one, ok1 := a.(*os.File)
	two, ok2 := b.(*os.File)
	if !ok1 || !ok2 {
		return false
	}
	info1, err1 := one.Stat()
	info2, err2 := two.Stat()
	return err1 == nil && err2 == nil && os.SameFile(info1, info2)
}
