package e2e

import (
	"slices"
	"testing"
	"time"
)

// part is a piece of one run's time, in milliseconds.
type part struct {
	name string
	took float64
}

// whole is the name of the part that is all of the time of a run.
const whole = "whole"

// runner runs one contestant once and says where its time went. What it needs
// is there before, and whether its answer was right is judged after the clock.
type runner func() ([]part, error)

// contestant is one way to run a program, and what was measured of it.
type contestant struct {
	name  string
	run   runner
	order []string // of the parts
	parts map[string]series
}

func enter(name string, run runner) *contestant {
	return &contestant{name: name, run: run, parts: map[string]series{}}
}

func (c *contestant) whole() series { return c.parts[whole] }

// sum is these parts together, round by round.
func (c *contestant) sum(names ...string) series {
	all := make(series, len(c.whole()))
	for _, name := range names {
		all = all.plus(c.parts[name])
	}
	return all
}

func (c *contestant) note(parts []part) {
	for _, p := range parts {
		if _, known := c.parts[p.name]; !known {
			c.order = append(c.order, p.name)
		}
		c.parts[p.name] = append(c.parts[p.name], p.took)
	}
}

// extent is how long a race is: that many rounds, or fewer, but not less than
// least, where they take longer than the time it has.
type extent struct {
	rounds, least int
	longest       time.Duration
}

// race has every contestant run once in each round. The order is another in
// every round and its direction too, so that noise, and what one leaves behind
// for the next, hit all alike. A round before the first finds everything cold
// and counts for nothing.
func race(b *testing.B, e extent, field ...*contestant) (rounds int) {
	b.Helper()
	runRound(b, field, false)
	for began := time.Now(); rounds < e.rounds && (rounds < e.least || time.Since(began) < e.longest); rounds++ {
		order := slices.Concat(field[rounds%len(field):], field[:rounds%len(field)])
		if rounds%2 == 1 {
			slices.Reverse(order)
		}
		runRound(b, order, true)
	}
	return rounds
}

func runRound(b *testing.B, order []*contestant, counts bool) {
	b.Helper()
	for _, c := range order {
		parts, err := c.run()
		if err != nil {
			b.Fatalf("%s: %v", c.name, err)
		}
		if counts {
			c.note(parts)
		}
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// timed is f as the only part of a run.
func timed(f func() error) ([]part, error) {
	began := time.Now()
	err := f()
	return []part{{whole, millis(time.Since(began))}}, err
}
