package confine

import (
	osexec "os/exec"
	"testing"
	"time"
)

// BenchmarkStage launches a program that does nothing, so that what is measured is the stage: to the report, and to the end of the process.
func BenchmarkStage(b *testing.B) {
	i := still(b, newSlot(b, nil))
	var toReport time.Duration
	for b.Loop() {
		begin := time.Now()
		r := start(b, i)
		line(b, r.Control)
		toReport += time.Since(begin)
		r.open(GoByte).finish(b)
	}
	b.ReportMetric(float64(toReport.Microseconds())/float64(b.N)/1000, "ms-to-report")
}

// BenchmarkHello pairs a confined hello with a plain one of the same Node.
func BenchmarkHello(b *testing.B) {
	s := newSlot(b, map[string]string{"program/main.mjs": `console.log('hello')`})
	i := instance(b, s.sealedJob(b, "main.mjs"))
	var confined, plain time.Duration
	for b.Loop() {
		begin := time.Now()
		run(b, i)
		between := time.Now()
		if err := osexec.Command(nodeClosure(b).Node, s.dir+"/program/main.mjs").Run(); err != nil {
			b.Fatal(err)
		}
		confined, plain = confined+between.Sub(begin), plain+time.Since(between)
	}
	b.ReportMetric(float64(confined.Microseconds())/float64(b.N)/1000, "ms-confined")
	b.ReportMetric(float64(plain.Microseconds())/float64(b.N)/1000, "ms-plain")
	b.ReportMetric(float64(confined)/float64(plain), "ratio")
}
