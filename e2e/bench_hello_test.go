//go:build linux

package e2e

import (
	"fmt"
	"os"
	"testing"
)

// helloJob is the least that a program can do.
func helloJob(b *testing.B, d *daemon) job {
	b.Helper()
	return job{d.script(b, "console.log('hello')\n"), "hello\n"}
}

// hello compares every way to run one small program.
func (r *report) hello(b *testing.B, p plan) {
	d := benchDaemon(b)
	j := helloJob(b, d)
	files := onDisk(b, d, j)
	plain, here := enter("plain node", files.plain(files.five())), enter("confined, over the socket", overSocket(b, d, j))
	field := []*contestant{plain, here, enter("plain node, with the environment of a shell", files.plain(os.Environ()))}
	t := &table{title: "Hello", head: []string{"", "x plain", "least to most", "ms", "least to most"}}
	for _, peer := range []struct {
		name    string
		prepare func(*testing.B) (runner, error)
	}{{"bubblewrap", files.bubblewrap}, {"go-judge, over HTTP", files.goJudge}} {
		run, err := peer.prepare(b)
		if err != nil {
			t.notes = append(t.notes, fmt.Sprintf("Left out: %s: %v.", peer.name, err))
			continue
		}
		field = append(field, enter(peer.name, run))
	}
	rounds := race(b, p.hello, field...)
	d.mustFitContract(b)
	t.notes = append(t.notes, fmt.Sprintf("%d rounds.", rounds))
	for _, c := range field {
		t.row(cells(c.name, c.whole().per(plain.whole()).ratios(), c.whole().times())...)
		if c != plain {
			r.ratio("hello: "+c.name+" / plain node", c.whole().per(plain.whole()))
		}
	}
	r.add(t)
	r.stages(plain, here)
}

// stages says where the time of a confined hello goes.
func (r *report) stages(plain, here *contestant) {
	t := &table{title: "A confined hello by stage", head: []string{"", "ms", "least to most"}}
	for _, name := range here.order {
		t.row(cells(name, here.parts[name].times())...)
	}
	t.row(cells("everything that is not Node", here.notNode().times())...)
	r.add(t)
	r.ratio("hello: everything that is not Node / plain node", here.notNode().per(plain.whole()))
}
