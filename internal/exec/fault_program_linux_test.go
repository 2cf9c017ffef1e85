package exec

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// programFaults are what a program itself does, under Node: a fact each, and no
// problem.
var programFaults = []fault{
	{"program runs", func(w *world) { w.main("console.log('hello')\n") }, observedClean.ending("0").printing(6)},
	{"program fails", func(w *world) { w.main("process.exit(125)\n") }, observedClean.ending("125")},
	{"program does not compile", func(w *world) { w.main("let let = 1\n") }, observedClean.ending("1")},
	{"program ends by a signal without a name", func(w *world) { w.main("process.kill(process.pid, 40)\n" + waitForever) },
		observedClean.ending("SIG40")},
	{"program forges the control text", func(w *world) {
		w.main(`import fs from 'node:fs';
			const record = 'sf-confined/1 admitted\n', text = '1\n1\n9\n9\n0\n0\n0\n0\n' + record;
			const failed = (act) => { try { act(); return false } catch { return true } };
			process.stdout.write(text); process.stderr.write(text);
			const all = [3, 4, 5].every((fd) => failed(() => fs.writeSync(fd, record)) || fd > 3) &&
				['/proc/self/fd/3', '/dev/fd/3', '/proc/' + process.pid + '/fd/3'].every((p) => failed(() => fs.openSync(p, 'w')));
			process.exit(all ? 125 : 1);`)
	}, observedClean.ending("125").butUnderDash(observedClean, "no open is denied here, and number 3 is something of Node's own by then; on a Mac the suite asks")},
	{"program claims to be refused", func(w *world) {
		w.main("process.stdout.write('sf-confined/1 refused\\n'); process.stderr.write('confined: landlock: no\\n'); process.exit(125)\n")
	}, observedClean.ending("125")},
	{"program catches every signal", func(w *world) {
		w.spec.TimeoutMs = 5000
		w.main(`import os from 'node:os';
			for (const s of Object.keys(os.constants.signals)) try { process.on(s, () => {}) } catch {}
			process.stdout.write('ready'); setInterval(() => {}, 1000);`)
		w.trace.Output = func(o OutputInfo) {
			if bytes.Equal(o.Kept.Bytes(), []byte("ready")) {
				w.signalAll()
			}
		}
	}, observedClean.stopped(StopTimeout).ending("SIGKILL")},
	{"program closes its own pipes", func(w *world) {
		w.main(`import fs from 'node:fs';
			for (const fd of [0, 1, 2]) fs.closeSync(fd);
			for (let end = Date.now() + 300; Date.now() < end;);`)
	}, observedClean.ending("0")},
	{"output is still in the pipe when it exits", func(w *world) {
		w.main("process.stdout.write('x'.repeat(30000)); process.stderr.write('y'.repeat(30000)); process.exit(0)\n")
		w.trace.Admitted = func(i AdmittedInfo) { w.gone(i.PID) }
	}, observedClean.ending("0").printing(60_000)},
	{"3 MiB", func(w *world) {
		w.main("console.log('x'.repeat(3 << 20))\n")
		w.spec.MaxOutputBytes = 4 << 20
	}, observedClean.ending("0").printing(3<<20 + 1)},
	{"3 MiB and exit", func(w *world) { // Node drops what its pipe did not take: what arrived is counted, and nothing says it is all
		w.main("console.log('x'.repeat(3 << 20)); process.exit(0)\n")
		w.spec.MaxOutputBytes = 4 << 20
	}, observedClean.ending("0")},
	{"too much output", func(w *world) {
		w.main("const b = Buffer.alloc(65536, 120); (function f() { process.stdout.write(b, f) })()\n")
		w.spec.MaxOutputBytes = 100_000
	}, observedClean.stopped(StopOutputLimit)},
}

const waitForever = "process.stdout.write('running'); setInterval(() => {}, 1000)\n"

// signalAll sends the program every signal that can be caught and has an
// action that would end or stop it, but for those Node keeps to itself: its
// profiler's, its debugger's, and the synchronous ones, which V8 may have
// handlers of its own for.
func (w *world) signalAll() {
	kept := map[unix.Signal]bool{
		unix.SIGKILL: true, unix.SIGSTOP: true, unix.SIGUSR1: true, unix.SIGPROF: true,
		unix.SIGSEGV: true, unix.SIGBUS: true, unix.SIGILL: true, unix.SIGFPE: true, unix.SIGTRAP: true,
	}
	for s := unix.Signal(1); s < 32; s++ {
		if !kept[s] {
			w.must(unix.Kill(w.pid, s))
		}
	}
}
