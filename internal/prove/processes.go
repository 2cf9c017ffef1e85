package prove

import (
	"strconv"
	"strings"
)

// programs start another program.
func programs() []Probe {
	const mark = `"/bin/sh", ["-c", "echo > " + n]`
	table := []Probe{
		{Name: "spawn", Act: `return await ended(cp.spawn(` + mark + `))`},
		{Name: "spawn, detached", Act: `return await ended(cp.spawn(` + mark + `, { detached: true }))`},
		{Name: "spawn, waiting", Act: `const { error } = cp.spawnSync(` + mark + `); if (error) throw error;`},
		{Name: "a shell", Act: `return await new Promise((done, fail) => cp.exec("echo > " + n, (e) => e ? fail(e) : done()))`},
		{Name: "a file executed", Act: `cp.execFileSync(` + mark + `)`},
		{Name: "Node again", Act: "cp.execFileSync(process.execPath, ['-e', `require('fs').writeFileSync(${JSON.stringify(n)}, '')`])"},
		{Name: "fork", Act: `return await ended(cp.fork(w.marker, [n]))`},
		{Name: "cluster", Act: `cluster.setupPrimary({ exec: w.marker, args: [n] }); await once(cluster.fork(), "exit")`},
		{Name: "spawn from a worker", Act: "return await inWorker(`require('child_process').execFileSync('/bin/sh', ['-c', 'echo > ' + require('worker_threads').workerData]); require('worker_threads').parentPort.postMessage('')`, n)"},
		{Name: "spawn by the binding", Act: `
			const pipe = { type: "ignore" };
			const { error } = process.binding("spawn_sync").spawn({ file: "/bin/sh", args: ["sh", "-c", "echo > " + n], stdio: [pipe, pipe, pipe] });
			if (error) throw { code: error === -1 ? "EPERM" : error };`},
	}
	for i := range table {
		p := &table[i]
		name := strings.NewReplacer(" ", "-", ",", "").Replace(p.Name)
		p.Act = `const n = w.outside + "/` + name + `"; ` + p.Act
		p.Code, p.Evidence = "EPERM", changed("mark "+name)
	}
	return starting(table)
}

func starting(rows []Probe) []Probe {
	return family("Starting programs", "compute in a worker", "compute in a worker thread, or with WebAssembly: a run is one process", rows)
}

// The rows that come when everything else was done and looked at: where they take place, nothing of the program is left. Seatbelt's profile lets
// Node's own file be executed, since sandbox-exec does that under it. So on macOS a program may become Node anew, and must then be as confined.
const (
	becoming = "become another program"
	reborn   = "a file by way of Node, executed anew in the same process"
)

func comesLast(p Probe) bool { return p.Name == becoming || p.Name == reborn }

// replacements make the process another program: Node again, with a program that says so.
func replacements() []Probe {
	return starting([]Probe{
		{Name: becoming, Act: `process.execve(process.execPath, [process.execPath, w.program + "/again.mjs"], process.env)`, Code: "EPERM", Only: "linux", MacCode: Unpromised,
			Evidence: says("another program")},
		{Name: reborn, Act: `process.execve(process.execPath, [process.execPath, w.program + "/reborn.mjs", ` + strconv.Quote(reborn) + `, w.secret], process.env)`,
			Code: "EPERM", Only: "darwin", Evidence: knows("file")},
	})
}

// ofGroups is what macOS may say where a signal is for several processes and may reach none.
const ofGroups = "EPERM or ESRCH"

// signals reach other processes, or change them.
func signals() []Probe {
	table := []Probe{
		{Name: "a signal to a process", Act: `process.kill(w.victims.killed, "SIGKILL")`, Code: "EPERM", Evidence: killed("killed")},
		{Name: "a signal to a group", Act: `process.kill(-w.victims.grouped, "SIGKILL")`, Code: "EPERM", MacCode: ofGroups, Evidence: killed("grouped")},
		{Name: "a signal to everybody", Act: `process.once("SIGCONT", () => {}); process.kill(-1, "SIGCONT")`, Code: "EPERM", MacCode: ofGroups, Evidence: changed("stopped"),
			NoControl: "it would wake every stopped process of this user"},
		{Name: "a question for a process", Act: `process.kill(w.victims.read, 0); return "there"`, Code: "EPERM", Evidence: says("there")},
		{Name: "a question for everybody", Act: `process.kill(-1, 0); return "there"`, Code: "EPERM", MacCode: ofGroups, Evidence: says("there")},
		{Name: "a signal to process 1", Act: `process.kill(1, "SIGCONT"); return "sent"`, Code: "EPERM", Evidence: says("sent"), NoControl: notByOrdinary},
		{Name: "a signal to the daemon", Act: `process.kill(w.daemon, "SIGUSR1")`, Code: "EPERM", Evidence: Evidence{
			Text: "whether the signal reaches the suite's own process", took: func(s *fixture, _ string) bool { return s.signalled() }}, Owner: true},
		{Name: "a question for the parent", Act: `process.kill(process.ppid, 0); return "there"`, Code: "EPERM", Evidence: says("there"), Owner: true},
	}
	table = family("Signals", "a signal to oneself", "nothing: a run can signal itself alone", table)
	return append(table, family(familyOthers, "ask for one's own priority", "nothing: a run can change itself alone", []Probe{
		{Name: "another's priority", Act: `os.setPriority(w.victims.reniced, 19)`, Code: "ERR_SYSTEM_ERROR", Only: "linux", MacCode: Unpromised, Evidence: changed("nice reniced")},
		{Name: "another's priority, asked", Act: `return "priority " + os.getPriority(w.victims.read)`, Code: "ERR_SYSTEM_ERROR", Only: "linux", MacCode: Unpromised, Evidence: Evidence{
			Text: "the program says what the priority is", took: func(s *fixture, said string) bool { return said == "priority "+s.before["nice read"] }}},
		{Name: "one's own priority", Act: `os.setPriority(Math.min(19, os.getPriority() + 1))`, Code: "ERR_SYSTEM_ERROR", Only: "linux", MacCode: Unpromised, Evidence: changed("nice own")},
		{Name: "another user", Act: `process.setuid(process.getuid()); return "set"`, Code: "EPERM", Only: "linux", MacCode: Unpromised, Evidence: says("set")},
		{Name: "another group", Act: `process.setgid(process.getgid()); return "set"`, Code: "EPERM", Only: "linux", MacCode: Unpromised, Evidence: says("set")},
	})...)
}

const familyNativeCode = "Native code"

// nativeCode loads machine code of the program's own.
func nativeCode() []Probe {
	return family(familyNativeCode, "machine code made by V8", "bring JavaScript or WebAssembly: most packages have such a build", []Probe{
		{Name: "native code of the program", Act: `process.dlopen({ exports: {} }, w.program + "/addon.node")`, Code: "ERR_DLOPEN_FAILED", Evidence: loaded("program/addon.node")},
		{Name: "native code of the input", Act: `require(w.input + "/addon.node")`, Code: "ERR_DLOPEN_FAILED", Evidence: loaded("input/addon.node")},
		{Name: "native code by way of SQLite", Act: `
			const { DatabaseSync } = require("node:sqlite");
			try {
				new DatabaseSync(":memory:", { allowExtension: true }).loadExtension(w.input + "/extension.so");
			} catch (error) { // loaded, it turns out to be no extension
				if (!/undefined symbol|symbol not found/.test(error.message)) throw error;
			}`, Code: "ERR_LOAD_SQLITE_EXTENSION", Evidence: loaded("input/extension.so")},
	})
}

// needsNative says whether a row of JavaScript needs native code beside it.
func (p Probe) needsNative() bool { return p.Kind == JavaScript && p.Family == familyNativeCode }
