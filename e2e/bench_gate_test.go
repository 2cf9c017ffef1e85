//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// What CI accepts of the median of pairs. See docs/performance.md for why.
const (
	mostHello = 1.6 // hello over the socket, by plain node
	mostFiles = 2.0 // the stages that keep files, by cp -r and rm -r
)

// brief is how long a race of the gate is at first. Where that is not enough to
// say that a bound holds it goes on, and what was measured keeps counting.
var brief = extent{15, 15, time.Minute}

const longer = 3 // times as much

// tolerance is what a ratio has to be. A control is one that has to be beyond it.
type tolerance struct {
	what    string
	got     func() series
	most    float64
	control bool
}

func (x tolerance) holds() bool { return (x.got().median() <= x.most) != x.control }

func (x tolerance) sign() string {
	if x.control {
		return ">"
	}
	return "<="
}

// BenchmarkGate is the short comparison that CI makes. It fails where a ratio is
// beyond its bound; and where the control, which hashes Node.js for each run, is
// within, because then the bound would notice nothing.
func BenchmarkGate(b *testing.B) {
	r := newReport(b)
	t := &table{title: "Bounds", head: []string{"", "median", "least to most", "must be", "rounds"}}
	var all []tolerance
	if !b.Run("rounds", func(b *testing.B) { all = tolerances(b) }) {
		b.FailNow()
	}
	for _, x := range all {
		got := x.got()
		t.row(cells(x.what, got.ratios(), []string{fmt.Sprintf("%s %.1f", x.sign(), x.most), fmt.Sprint(len(got))})...)
		if !x.holds() {
			b.Errorf("%s: %s, and must be %s %.1f", x.what, got.ratio(), x.sign(), x.most)
		}
	}
	r.add(t)
	r.publish(b)
}

func tolerances(b *testing.B) []tolerance {
	d := benchDaemon(b)
	hello, many := helloJob(b, d), fileHeavy(b, d, 2000)
	disk := onDisk(b, hello)
	plain, here, hashing := enter("plain", disk.plain(disk.five())), enter("confined", overSocket(b, d, hello)), enter("hashing", disk.hashing())
	kept, copied := enter("confined", overSocket(b, d, many)), enter("copied", onDisk(b, many).copied())
	first := []tolerance{
		{"hello: confined / plain node", func() series { return here.whole().per(plain.whole()) }, mostHello, false},
		{"control: plain node that is hashed before and after / plain node", func() series { return hashing.whole().per(plain.whole()) }, mostHello, true},
	}
	second := []tolerance{
		{"2,000 files of 4 KiB: keeping them / cp -r, rm -r", func() series { return kept.sum(keeping...).per(copied.whole()) }, mostFiles, false},
	}
	until(b, first, plain, here, hashing)
	until(b, second, kept, copied)
	d.mustFitContract(b)
	return append(first, second...)
}

// until races until all of these hold, or it has been long enough.
func until(b *testing.B, all []tolerance, field ...*contestant) {
	b.Helper()
	fails := func(x tolerance) bool { return !x.holds() }
	race(b, brief, field...)
	for range longer {
		if slices.ContainsFunc(all, fails) {
			race(b, brief, field...)
		}
	}
}
