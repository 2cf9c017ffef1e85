//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// What CI accepts; docs/performance.md says why.
const mostHello = 2.0 // hello over the socket, by plain node

// brief is how long a race of the gate is at first. Where that is not enough to
// say that a bound holds it goes on, up to longer times as long, and what was
// measured keeps counting.
var brief = extent{15, 15, time.Minute}

const longer = 4

// tolerance is how much longer than the other the one may take. A control is
// one that must take longer.
type tolerance struct {
	what       string
	one, other func() series
	most       float64
	control    bool
}

// ratio is that of the median pair or that of the least times, whichever is
// less. Noise only ever adds to a time: it moves the one or the other, and both
// only when there is nothing else for as long as this lasts.
func (x tolerance) ratio() float64 {
	return min(x.one().per(x.other()).median(), x.one().least()/x.other().least())
}

func (x tolerance) fails() bool { return (x.ratio() <= x.most) == x.control }

func (x tolerance) must() string {
	if x.control {
		return fmt.Sprintf("> %.1f", x.most)
	}
	return fmt.Sprintf("<= %.1f", x.most)
}

// BenchmarkGate is the short comparison that CI makes. It fails where a ratio is
// beyond its bound; and where the control, which hashes Node.js for each run, is
// within, because then the bound would notice nothing.
func BenchmarkGate(b *testing.B) {
	r := newReport(b)
	t := &table{title: "Bounds", head: []string{"", "ratio", "must be", "median of pairs", "least to most", "rounds"}, notes: r.ratios.notes}
	var all []tolerance
	if !b.Run("rounds", func(b *testing.B) { all = tolerances(b) }) {
		b.FailNow()
	}
	for _, x := range all {
		pairs := x.one().per(x.other())
		t.row(cells(x.what, []string{fmt.Sprintf("%.2f", x.ratio()), x.must()}, pairs.ratios(), []string{fmt.Sprint(len(pairs))})...)
		if x.fails() {
			b.Errorf("%s is %.2f and must be %s", x.what, x.ratio(), x.must())
		}
	}
	r.add(t)
	r.publish(b)
}

func tolerances(b *testing.B) []tolerance {
	d := benchDaemon(b)
	hello := helloJob(b, d)
	disk := onDisk(b, d, hello)
	plain, here, hashing := enter("plain", disk.plain(disk.five())), enter("confined", overSocket(b, d, hello)), enter("hashing", disk.hashing())
	all := []tolerance{
		{"hello: confined / plain node", here.whole, plain.whole, mostHello, false},
		{"control: plain node, hashed before and after / plain node", hashing.whole, plain.whole, mostHello, true},
	}
	untilTold(b, all, plain, here, hashing)
	d.mustFitContract(b)
	return all
}

// untilTold races until none of these fails, or it has been long enough.
func untilTold(b *testing.B, all []tolerance, field ...*contestant) {
	b.Helper()
	for range longer {
		race(b, brief, field...)
		if !slices.ContainsFunc(all, tolerance.fails) {
			return
		}
	}
}
