//go:build linux

package e2e

import (
	"fmt"
	"testing"
)

// parallel compares how many hellos come to an end in a second, with as many
// clients as there are plain Nodes at once.
func (r *report) parallel(b *testing.B, p plan) {
	t := &table{title: "Throughput", head: []string{"at once", "workers", "x plain", "least to most", "confined/s", "plain/s"}}
	for _, row := range []struct{ lanes, workers int }{{1, 1}, {1, 2}, {2, 2}, {4, 2}, {4, 4}, {8, 2}, {8, 8}} {
		var speedup, here, plain series
		if !b.Run(fmt.Sprintf("%d by %d", row.lanes, row.workers), func(b *testing.B) {
			speedup, here, plain = throughput(b, p.parallel, row.lanes, row.workers)
		}) {
			b.FailNow()
		}
		t.row(cells(fmt.Sprint(row.lanes), []string{fmt.Sprint(row.workers)}, speedup.ratios(), []string{here.millis(), plain.millis()})...)
		if row.lanes == 2 {
			r.ratio("throughput: 2 workers / 2 plain nodes at once", speedup)
		}
	}
	t.notes = append(t.notes, "More is better. Each round is 8 runs, or 2 for each at once.")
	r.add(t)
}

// throughput is runs a second, and the one by the other.
func throughput(b *testing.B, e extent, lanes, workers int) (speedup, here, plain series) {
	d := benchDaemon(b, withFlags(fmt.Sprintf("--workers=%d", workers)))
	j := helloJob(b, d)
	files, runs := onDisk(b, d, j), max(8, 2*lanes)
	nodes := enter("plain node", atOnce(files.plain(files.five()), runs, lanes))
	ours := enter("confined", atOnce(overSocket(b, d, j), runs, lanes))
	race(b, e, nodes, ours)
	d.mustFitContract(b)
	for i := range nodes.whole() {
		here = append(here, float64(runs)*1000/ours.whole()[i])
		plain = append(plain, float64(runs)*1000/nodes.whole()[i])
	}
	return here.per(plain), here, plain
}
