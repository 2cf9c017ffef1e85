//go:build linux

package e2e

import (
	"fmt"
	"os"
	"testing"
)

// growth says what more files, and more leftovers in the root, cost.
func (r *report) growth(b *testing.B, p plan) {
	d := benchDaemon(b)
	t := &table{title: "By the number of files", head: []string{"files", "ms", "least to most", "x one file", "ms for each more"}}
	var field []*contestant
	counts := []int{1, 100, 1000, 10_000}
	for _, n := range counts {
		field = append(field, enter(fmt.Sprint(n), overSocket(b, d, fileHeavy(b, d, n))))
	}
	race(b, p.growth, field...)
	d.mustFitContract(b)
	for i, c := range field {
		each := "-"
		if i > 0 {
			each = fmt.Sprintf("%.3f", c.whole().minus(field[0].whole()).median()/float64(counts[i]-1))
		}
		t.row(cells(c.name, c.whole().times(), []string{c.whole().per(field[0].whole()).ratio(), each})...)
	}
	r.add(t)
	r.retained(b, p.retained)
}

// retained has more and more of the root taken by what earlier runs left.
func (r *report) retained(b *testing.B, e extent) {
	d := benchDaemon(b, withFlags("--max-retained=64"))
	t := &table{title: "By what is left in the root", head: []string{"leftovers", "ms", "least to most", "x none"}}
	run := overSocket(b, d, helloJob(b, d))
	var field []*contestant
	for _, n := range []int{0, 8, 32, 63} {
		field = append(field, enter(fmt.Sprint(n), d.beside(n, run)))
	}
	race(b, e, field...)
	d.mustFitContract(b)
	for _, c := range field {
		t.row(cells(c.name, c.whole().times(), []string{c.whole().per(field[0].whole()).ratio()})...)
	}
	r.ratio("hello: 63 leftovers / none", field[len(field)-1].whole().per(field[0].whole()))
	r.add(t)
}

// beside is run with n slots that nobody uses, which come and go outside its
// time.
func (d *daemon) beside(n int, run runner) runner {
	return func() ([]part, error) {
		for i := range n {
			slot := fmt.Sprintf("%s/slot-%d", d.root, i)
			if err := os.Mkdir(slot, 0o700); err != nil {
				return nil, err
			}
			defer os.Remove(slot)
		}
		return run()
	}
}
