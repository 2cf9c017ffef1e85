//go:build linux

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestProcessorTime: the kernel ends a program at its limit, all its threads
// together, without a word from the daemon.
func TestProcessorTime(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	r := d.script(t, `import { Worker } from 'node:worker_threads';
		new Worker('for (;;);', { eval: true });
		for (const s of ['SIGXCPU', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGALRM', 'SIGVTALRM', 'SIGPROF']) try { process.on(s, () => {}); } catch {}
		for (;;);`)
	r.cpuSeconds = 1
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	p := got.Process
	if p.Exit.Signal == nil || *p.Exit.Signal != "SIGKILL" || p.KillSent || p.Stopped != nil {
		t.Errorf("a program beyond its processor time ended as %+v, stopped %v, killSent %v", *p.Exit, p.Stopped, p.KillSent)
	}
	// The kernel enforces the limit by counting ticks and reports by the clock:
	// on a busy machine the two differ.
	if spent := p.Usage.UserMs + p.Usage.SystemMs; spent < 500 || spent > 2500 {
		t.Errorf("it spent %v ms, with a limit of 1 s", spent)
	}
}

// bounded is a program that takes of something until it gets no more, says how
// it was refused, and waits.
type bounded struct {
	name   string
	source string // calls done(code) in the end
	code   string // what it is told
	// measure is how much of it the host sees the process have.
	measure func(pid int) int
	least   int // so that the bound is what stopped it
	most    int
}

const takes = `import fs from 'node:fs'; import { Worker } from 'node:worker_threads'; import { once } from 'node:events';
	const done = (code) => { fs.writeSync(1, String(code)); process.title = 'full'; };
	setInterval(() => {}, 1 << 30); process.on('SIGUSR2', () => process.reallyExit(0));
	const attempt = (act) => { for (;;) try { act(); } catch (error) { return error.code ?? error.message; } };
	`

func boundedPrograms() []bounded {
	return []bounded{
		{name: "descriptors", code: "EMFILE", least: 500, most: 512, measure: descriptorsOf,
			source: `done(attempt(() => fs.openSync('/dev/null')));`},
		{name: "descriptors of all threads", code: "EMFILE,EMFILE,EMFILE", least: 500, most: 512, measure: descriptorsOf, source: `
			const each = "const { parentPort: p } = require('worker_threads'); p.on('message', () => { try { for (;;) require('fs').openSync('/dev/null') } catch (e) { p.postMessage(e.code) } }); p.postMessage(0)";
			const workers = [1, 2, 3].map(() => new Worker(each, { eval: true }));
			await Promise.all(workers.map((w) => once(w, 'message')));
			const codes = workers.map((w) => once(w, 'message'));
			for (const w of workers) w.postMessage(0);
			done((await Promise.all(codes)).join());`},
		{name: "memory", code: "Array buffer allocation failed", least: 3 << 20, most: 4 << 20, measure: statusNumber("VmData"),
			source: `const kept = []; done(attempt(() => kept.push(new ArrayBuffer(64 << 20))));`},
		{name: "memory of WebAssembly", code: "WebAssembly.Memory(): could not allocate memory", least: 2 << 20, most: 4 << 20, measure: statusNumber("VmData"),
			source: `const kept = []; done(attempt(() => { const m = new WebAssembly.Memory({ initial: 4096 }); new Uint8Array(m.buffer)[0] = 1; kept.push(m); }));`},
		{name: "threads", code: "ERR_WORKER_INIT_FAILED EAGAIN", least: 120, most: 128, measure: statusNumber("Threads"), source: `
			process.env.UV_THREADPOOL_SIZE = '120'; // cheap threads, made at the first asynchronous call
			await fs.promises.readFile('/dev/null');
			const idle = "setInterval(() => {}, 1 << 30); require('worker_threads').parentPort.postMessage(0)";
			try {
				for (;;) await once(new Worker(idle, { eval: true }), 'message');
			} catch (error) {
				done(error.code + ' ' + error.message);
			}`},
	}
}

// TestBounds: what a program can have of each thing, seen from outside, and
// that the daemon goes on as before.
func TestBounds(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags("--workers=1"))
	for _, b := range boundedPrograms() {
		t.Run(b.name, func(t *testing.T) {
			r := d.script(t, takes+b.source)
			run := d.live(t, r, "full")
			if have := b.measure(run.pid); have < b.least || have > b.most {
				t.Errorf("the process has %d, want %d to %d", have, b.least, b.most)
			}
			if said := run.release(t).Process.Stdout.plain(t); said != b.code {
				t.Errorf("it was told %q, want %q", said, b.code)
			}
			if got, _, _ := d.postRun(t, d.script(t, `console.log('well')`)); got.Process.Stdout.plain(t) != "well\n" {
				t.Errorf("the next run is %+v", got)
			}
		})
	}
}

func descriptorsOf(pid int) int {
	open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(open)
}

// statusNumber is a line of /proc/PID/status; memory is in KiB.
func statusNumber(name string) func(pid int) int {
	return func(pid int) int {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(status)) {
			if value, found := strings.CutPrefix(line, name+":"); found {
				n, _ := strconv.Atoi(strings.Fields(value)[0])
				return n
			}
		}
		return -1
	}
}
