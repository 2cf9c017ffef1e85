//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// suspend stops the daemon where it is. It can still be killed.
func (d *daemon) suspend(t *testing.T) {
	t.Helper()
	pid := d.cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	poll(t, func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, task := range tasks {
			if p, ok := readProcess(task); ok && p.state != "T" {
				return false
			}
		}
		return true
	}, func() string { return "the daemon does not stop" })
}

// resume lets it go on.
func (d *daemon) resume(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(d.cmd.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// reachSending: half of a request has arrived.
func reachSending(t *testing.T, d *daemon) {
	contentType, body := form(t, d.script(t, strings.Repeat("// much\n", 100_000)).parts(t))
	conn := d.dial(t)
	head := fmt.Sprintf("POST /v1/runs HTTP/1.1\r\nHost: confined\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", contentType, len(body))
	if _, err := conn.Write(append([]byte(head), body[:len(body)/2]...)); err != nil {
		t.Fatal(err)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	poll(t, func() bool {
		unread := -1
		_ = raw.Control(func(fd uintptr) { unread, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
		return unread == 0
	}, func() string { return "the daemon does not read" })
}

// many is a program of many files, which takes a while to write and to read.
func (d *daemon) many(t *testing.T, source string) runRequest {
	r := d.script(t, source)
	for i := range 3000 {
		r.input = addFile(r.input, fmt.Sprintf("d%d/f%d", i%30, i), "x")
	}
	return r
}

func addFile(f files, path, content string) files {
	if f == nil {
		f = files{}
	}
	f[path] = content
	return f
}

// reachWriting: the slot is there, and no process.
func reachWriting(t *testing.T, d *daemon) {
	d.catch(t, func() *pending {
		run := d.launch(t, t.Context(), d.many(t, ""))
		within(patience, func() bool { return len(names(t, d.root)) > 0 || run.over() })
		return run
	}, func() bool { return len(childrenOf(d.cmd.Process.Pid)) == 0 })
}

// catch suspends the daemon at a moment that passes by itself: while there is a
// slot, and more. begin starts a run, and returns when the moment is there. On a
// busy host it can be over before the daemon is suspended: that run is let end,
// and another one tried.
func (d *daemon) catch(t *testing.T, begin func() *pending, more func() bool) {
	t.Helper()
	for range 20 {
		run := begin()
		d.suspend(t)
		if len(names(t, d.root)) == 1 && more() {
			return
		}
		d.resume(t)
		run.answer(t, d)
	}
	t.Fatal("the daemon was always faster")
}

// reachStage: the process is there, and has done nothing yet.
func reachStage(t *testing.T, d *daemon) {
	d.hold(t, d.script(t, ""), false)
}

// reachNode: the process has become Node.js, which has not done anything yet.
func reachNode(t *testing.T, d *daemon) {
	pid := d.hold(t, d.script(t, waiting("loaded")), true)
	if titleOf(pid) == "loaded" {
		t.Error("the program was faster")
	}
}

// reachRunning: two programs run, a third run waits.
func reachRunning(t *testing.T, d *daemon) {
	d.live(t, d.script(t, waiting("one")), "one")
	d.live(t, d.script(t, waiting("two")), "two")
	d.launch(t, t.Context(), d.script(t, ""))
	poll(t, func() bool { return d.status(t).Queue.Now == 1 }, func() string { return "no run waits" })
}

// reachResisting: a program that lets no signal end it, is busy in all its
// threads, and calls itself something else.
func reachResisting(t *testing.T, d *daemon) {
	d.live(t, d.script(t, `
		import os from 'node:os';
		import { Worker } from 'node:worker_threads';
		for (const s of Object.keys(os.constants.signals)) try { process.on(s, () => {}); } catch {}
		for (const e of ['exit', 'beforeExit', 'uncaughtException']) process.on(e, () => { for (;;); });
		for (let i = 0; i < 3; i++) new Worker('for (;;);', { eval: true });
		try { process.kill(process.ppid, 'SIGSTOP'); } catch {}
		process.title = 'resisting';
		for (;;);`), "resisting")
}

// reachFlooding: a program in the middle of writing more than anybody reads.
func reachFlooding(t *testing.T, d *daemon) {
	run := d.live(t, d.script(t, `
		import fs from 'node:fs';
		setInterval(() => {}, 1 << 30);
		process.on('SIGUSR2', () => {
			process.title = 'flooding';
			for (;;) fs.writeSync(1, 'much');
		});
		process.title = 'dry';`), "dry")
	d.suspend(t)
	tell(t, run.pid)
	awaitTitle(t, run.pid, "flooding")
}

// reachEnded: the program has ended, and the daemon does not know.
func reachEnded(t *testing.T, d *daemon) {
	run := d.live(t, d.script(t, waiting("ending")), "ending")
	d.suspend(t)
	tell(t, run.pid)
	poll(t, func() bool {
		p, ok := readProcess(fmt.Sprintf("/proc/%d/stat", run.pid))
		return ok && p.state == "Z"
	}, func() string { return "the program does not end" })
}

// reachChecking: the process is reaped, and its slot is there.
func reachChecking(t *testing.T, d *daemon) {
	d.catch(t, func() *pending {
		run := d.live(t, d.many(t, waiting("checked")), "checked")
		tell(t, run.pid)
		if !within(patience, func() bool { return gone(run.pid) }) {
			t.Fatal("the process is not reaped")
		}
		return run.pending
	}, func() bool { return true })
}
