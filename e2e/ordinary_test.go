package e2e

import (
	"slices"
	"strings"
	"testing"
)

// ordinary is one row: a program that must behave behind the boundary as under
// plain Node. Standard output, standard error, exit code and signal are
// compared with a plain run of the same tree; see plainNode and neutral.
type ordinary struct {
	name    string
	program files  // without one: main.mjs holding source
	source  string // an ES module
	entry   string // main.mjs when empty
	input   files
	args    []string

	stdout string   // exactly this, when not empty
	holds  []string // each of these in stdout and stderr together
	code   int      // exactly this
	signal string   // exactly this
	loose  bool     // what it prints differs from run to run: not compared

	resident int64 // at least so many bytes of memory at its peak
}

func (o ordinary) request(t *testing.T, d *daemon) runRequest {
	t.Helper()
	entry, program := orElse(o.entry, "main.mjs"), o.program
	if program == nil {
		program = files{entry: o.source}
	}
	r := d.run(t, program, entry, o.args...)
	r.input = o.input
	return r
}

func (o ordinary) check(t *testing.T, d *daemon) {
	r := o.request(t, d)
	observed, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, observed)
	if p := observed.Process; p.Stopped != nil || p.KillSent {
		t.Errorf("it was stopped: %v, killSent %v", *p.Stopped, p.KillSent)
	}
	if n := observed.Process.Usage.MaxRSSBytes; n < o.resident {
		t.Errorf("at most %d bytes of memory were in use, want %d", n, o.resident)
	}
	got, want := d.outcome(t, observed), plainNode(t, r)
	if o.loose {
		want.stdout, want.stderr = got.stdout, got.stderr
	}
	if got != want {
		t.Errorf("confined:   %s\nplain Node: %s\n%s", got, want, got.parts(want))
	}
	if o.stdout != "" && got.stdout != o.stdout {
		t.Errorf("stdout is %.1000q, want %.1000q", got.stdout, o.stdout)
	}
	for _, part := range o.holds {
		if !strings.Contains(got.stdout+got.stderr, part) {
			t.Errorf("%q is not in what it printed: %s", part, got)
		}
	}
	if wantCode := o.code; (o.signal == "" && got.code != wantCode) || got.signal != o.signal {
		t.Errorf("it ended with %d %s, want %d %s", got.code, got.signal, wantCode, o.signal)
	}
}

// TestOrdinaryPrograms: what people run every day behaves as under plain Node.
func TestOrdinaryPrograms(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	rows := slices.Concat(
		modulePrograms(), typedPrograms(), importingPrograms(), bigTrees(), computations(), compiledIn(), librariesOfNode(),
		hostFacts(t), inputFiles(t), endings(), outputs(), arguments(),
	)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.check(t, d)
		})
	}
}
