//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// memory says what a daemon keeps resident, and apart from it the sealed copy of
// Node.js.
func (r *report) memory(b *testing.B, p plan) {
	const clients = 16
	d := benchDaemon(b, withFlags(fmt.Sprintf("--workers=%d", clients), fmt.Sprintf("--max-retained=%d", clients)))
	t := &table{title: "Memory of the daemon", head: []string{"", "MiB"}}
	j := helloJob(b, d)
	mib := func(kib int) string { return fmt.Sprintf("%.1f", float64(kib)/1024) }
	t.row("idle", mib(d.resident("VmRSS")))
	run, done := overSocket(b, d, j), 0
	for began := time.Now(); done < p.hellos && time.Since(began) < p.patience; done += 20 {
		if _, err := atOnce(run, 20, 2)(); err != nil {
			b.Fatal(err)
		}
	}
	t.row(fmt.Sprintf("after %d hellos", done), mib(d.resident("VmRSS")))
	d.mustFitContract(b)
	t.row(d.outputs(b, clients), mib(d.resident("VmHWM")))
	t.row("the sealed copy of Node.js, once, apart from these", mib(d.sealed(b)>>10))
	r.add(t)
}

// outputs has that many programs print 16 MiB at once, and counts the answers.
// The most that was resident counts from here.
func (d *daemon) outputs(b *testing.B, clients int) string {
	b.Helper()
	d.resetPeak(b)
	r := d.script(b, "process.stdout.write('x'.repeat(16 << 20))\n")
	r.maxOutputBytes = 16 << 20
	var all sync.WaitGroup
	errs := make([]error, clients)
	statuses := make([]int, clients)
	for i := range clients {
		request := d.newRun(b, b.Context(), r)
		all.Go(func() {
			var a answer
			a, errs[i] = d.exchange(request)
			statuses[i] = a.status
		})
	}
	all.Wait()
	d.mustFitContract(b)
	whole := 0
	for i := range clients {
		if errs[i] != nil {
			b.Fatal(errs[i])
		}
		if statuses[i] == 200 {
			whole++
		}
	}
	return fmt.Sprintf("at most, while %d of %d runs of 16 MiB of output at once are answered", whole, clients)
}

// sealed is how much memory the daemon's memfds have, in bytes.
func (d *daemon) sealed(b *testing.B) int {
	b.Helper()
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", d.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	var blocks int64
	seen := map[uint64]bool{}
	for _, path := range paths {
		var st syscall.Stat_t
		if to, err := os.Readlink(path); err != nil || !strings.HasPrefix(to, "/memfd:") || syscall.Stat(path, &st) != nil || seen[st.Ino] {
			continue
		}
		seen[st.Ino] = true
		blocks += st.Blocks
	}
	return int(blocks) * 512
}
