package e2e

import (
	"math"
	"slices"
	"testing"
)

// series are the values of one measured thing, one of each round, in the order
// of the rounds.
type series []float64

// median is the middle value, or the mean of the middle two.
func (s series) median() float64 {
	sorted, half := slices.Sorted(slices.Values(s)), len(s)/2
	switch {
	case len(s) == 0:
		return math.NaN()
	case len(s)%2 == 1:
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

func (s series) least() float64 { return slices.Min(s) }

func (s series) most() float64 { return slices.Max(s) }

// per is s divided by other, round by round: what slows a whole round down
// leaves its ratio alone. Both must be of the same race.
func (s series) per(other series) series {
	return s.with(other, func(a, b float64) float64 { return a / b })
}

func (s series) plus(other series) series {
	return s.with(other, func(a, b float64) float64 { return a + b })
}

func (s series) minus(other series) series {
	return s.with(other, func(a, b float64) float64 { return a - b })
}

func (s series) with(other series, f func(a, b float64) float64) series {
	if len(s) != len(other) {
		panic("e2e: bug: series of different races")
	}
	out := make(series, len(s))
	for i := range s {
		out[i] = f(s[i], other[i])
	}
	return out
}

// TestSeries: a median is that of the values whatever their order, and a ratio
// is taken within each round and not of the medians.
func TestSeries(t *testing.T) {
	t.Parallel()
	odd, even := series{3, 1, 20}, series{4, 1, 3, 20}
	if odd.median() != 3 || even.median() != 3.5 || odd.least() != 1 || odd.most() != 20 {
		t.Errorf("%v: %v, %v to %v; %v: %v", odd, odd.median(), odd.least(), odd.most(), even, even.median())
	}
	if !slices.Equal(odd, series{3, 1, 20}) {
		t.Errorf("a median reorders: %v", odd)
	}
	if !math.IsNaN(series{}.median()) {
		t.Error("nothing has a median")
	}
	// The second and the third round were slow for both.
	one, other := series{2, 20, 6}, series{1, 10, 4}
	if got := one.per(other); !slices.Equal(got, series{2, 2, 1.5}) || got.median() == one.median()/other.median() {
		t.Errorf("paired: %v", got)
	}
	if !slices.Equal(one.plus(other).minus(one), other) {
		t.Errorf("sum and difference: %v, %v", one.plus(other), other)
	}
}
