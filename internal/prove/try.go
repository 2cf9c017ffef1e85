package prove

import (
	"context"
	"runtime"
	"slices"

	"confined/internal/pins"
)

// try tries every row of a kind: in one confined run beside the neighbour, and unconfined once for each user that rows need. c is nil
// when nobody can act.
func (s *suite) try(ctx context.Context, kind Kind, c *subject) error {
	var table, alone, untried []Probe
	for _, p := range Probes() {
		switch {
		case c != nil && p.Kind == c.kind && isSolo(p):
			alone = append(alone, p)
		case c != nil && c.does(p):
			table = append(table, p)
		case p.Kind == kind, p.Kind == Look && kind == JavaScript:
			untried = append(untried, p)
		}
	}
	for _, p := range untried {
		s.add(pins.Row{Family: p.Family, Name: p.Name, Kind: string(p.Kind), NoControl: p.NoControl, Evidence: p.Evidence.Text, Verdict: pins.Untried})
	}
	if s.trouble != "" || len(table) == 0 {
		for _, p := range append(table, alone...) {
			s.add(judge(p, findings{trouble: s.trouble}, findings{}))
		}
		return nil
	}
	if err := s.tryAll(ctx, c, table); err != nil {
		return err
	}
	for _, p := range alone {
		if err := s.tryAlone(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

// isSolo says whether a row is one of those whose denial ends the process.
func isSolo(p Probe) bool {
	return slices.ContainsFunc(soloActs(runtime.GOARCH), func(solo Probe) bool { return solo.Name == p.Name })
}

// tryAlone does one act whose denial ends the process, in a run of its own. What the program is told is the signal.
func (s *suite) tryAlone(ctx context.Context, c *subject, p Probe) (err error) {
	var undo cleanup
	defer undo.now(&err)
	input := files{"world.txt": "slot\t" + s.daemon.root + "/slot-1\n"}
	trial, err := c.confined(ctx, "act-alone", c.program(nil), input, &undo, "act", p.Act)
	if err == nil {
		err = trial.await(ctx, trial.over)
	}
	if err != nil {
		return err
	}
	f := findings{outcomes: map[string]pins.Outcome{p.Name: {Code: trial.signal, Took: len(trial.output) > 0}}}
	if trial.signal == "" { // which is how it must end
		f.trouble = trial.ending
	}
	s.add(judge(p, f, findings{}))
	return nil
}

// add is one more row.
func (s *suite) add(row pins.Row) {
	s.rows = append(s.rows, row)
	s.tell(&row)
}

func (s *suite) tryAll(ctx context.Context, c *subject, table []Probe) error {
	confined, err := s.tryConfined(ctx, c, table)
	if err != nil {
		return err
	}
	controls := map[user]findings{}
	for _, u := range slices.Compact([]user{runUser(1), us()}) {
		if controls[u], err = s.tryUnconfined(ctx, c, u, controlled(table, u)); err != nil {
			return err
		}
	}
	for _, p := range table {
		s.add(judge(p, confined, controls[controlUser(p)]))
	}
	return nil
}

// controlUser is whom a row's act is done by, unconfined.
func controlUser(p Probe) user {
	if p.Owner {
		return us()
	}
	return runUser(1)
}

// controlled are the rows of a table that a user does unconfined.
func controlled(table []Probe, u user) []Probe {
	return slices.DeleteFunc(slices.Clone(table), func(p Probe) bool { return p.NoControl != "" || controlUser(p) != u })
}

// tryConfined does the acts of a table in a confined run, in slot-1.
func (s *suite) tryConfined(ctx context.Context, c *subject, table []Probe) (found findings, err error) {
	var undo cleanup
	defer undo.now(&err)
	fixture, err := s.newFixture(c, s.daemon.root+"/slot-1", runUser(1), table, &undo)
	if err != nil {
		return findings{}, err
	}
	input, err := c.input(fixture, table)
	if err != nil {
		return findings{}, err
	}
	p, err := c.confined(ctx, "acts-"+string(c.kind), c.program(table), input, &undo)
	if err != nil {
		return findings{}, err
	}
	if err := fixture.perform(ctx, p); err != nil {
		return findings{}, err
	}
	return fixture.findings(table)
}

// tryUnconfined does the acts of a table as a user, with nothing around them.
func (s *suite) tryUnconfined(ctx context.Context, c *subject, u user, table []Probe) (found findings, err error) {
	var undo cleanup
	defer undo.now(&err)
	fixture, err := s.newFixture(c, "", u, table, &undo)
	if err != nil {
		return findings{}, err
	}
	if err := c.furnish(fixture, table); err != nil {
		return findings{}, err
	}
	p, err := c.unconfined(ctx, fixture, &undo)
	if err != nil {
		return findings{}, err
	}
	if err := fixture.perform(ctx, p); err != nil {
		return findings{}, err
	}
	return fixture.findings(table)
}

// newFixture makes a fixture, and says what its process will be held against.
func (s *suite) newFixture(c *subject, slot string, u user, table []Probe, undo *cleanup) (*fixture, error) {
	if err := s.daemon.leaveOpen(); err != nil { // the launch has closed it by now to all that is started after it
		return nil, err
	}
	fixture, err := newFixture(s.daemon, slot, u, undo)
	if err != nil {
		return nil, err
	}
	fixture.view = view{slot: fixture.slot, user: u, runtime: c.runtime, sealed: c.sealed, other: s.neighbour.process.Pid}
	fixture.sights = slices.DeleteFunc(slices.Clone(table), func(p Probe) bool { return p.Kind != Look })
	return fixture, nil
}
