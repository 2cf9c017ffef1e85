//go:build linux

package e2e

import "strings"

// networkProbes try every family of sockets, both ways.
func networkProbes() []probe {
	return []probe{
		{name: "TCP over IPv4", act: `return await connect({ host: "127.0.0.1", port: w.tcp4 })`, code: "EPERM", did: strangers("tcp4")},
		{name: "TCP over IPv6", act: `return await connect({ host: "::1", port: w.tcp6 })`, code: "EPERM", did: strangers("tcp6")},
		{name: "a Unix socket", act: `return await connect({ path: w.unix })`, code: "EPERM", did: strangers("unix")},
		{name: "an abstract Unix socket", act: `return await connect({ path: w.abstract })`, code: "EPERM", did: strangers("abstract")},
		{name: "the daemon's own socket", act: `return await connect({ path: w.daemonSocket })`, code: "EPERM", did: says("connected"), owner: true},
		{name: "fetch", act: `return await (await fetch(w.web + "/a")).text()`, code: "TypeError", did: visited},
		{name: "a datagram", act: `
			const socket = dgram.createSocket("udp4");
			const [failed] = await Promise.race([once(socket, "error").then(([e]) => [e]), new Promise((done) => socket.send("x", w.udp, "127.0.0.1", (e) => done([e])))]);
			if (failed) throw failed;`, code: "EPERM", did: datagram},
		{name: "DNS through the system", act: `return (await dns.promises.lookup("localhost", { family: 4 })).address`, code: "ENOTFOUND", did: says("127.0.0.1")},
		{name: "DNS by query", act: `
			const resolver = new dns.promises.Resolver({ timeout: 300, tries: 1 });
			resolver.setServers([w.resolver]);
			await resolver.resolve4("confined.invalid").catch((e) => { if (e.code !== "ETIMEOUT") throw e; });`, code: "ECONNREFUSED", did: query},

		{name: "listening over IPv4", act: `return await listen(w.ports.listen4, "127.0.0.1")`, code: "EPERM", did: changed("port listen4")},
		{name: "listening over IPv6", act: `return await listen(w.ports.listen6, "::1")`, code: "EPERM", did: changed("port listen6")},
		{name: "listening on a Unix socket", act: `return await listen(w.names.path)`, code: "EPERM", did: changed("path socket")},
		{name: "listening on an abstract Unix socket", act: `return await listen(w.names.abstract)`, code: "EPERM", did: changed("abstract socket")},
		{name: "waiting for datagrams", act: `
			const socket = dgram.createSocket("udp4");
			await Promise.race([once(socket, "listening"), (socket.bind(w.ports.bind, "127.0.0.1"), new Promise(() => {}))]);`, code: "EPERM", did: changed("port bind")},
		{name: "the inspector", act: `inspector.open(w.ports.inspect, "127.0.0.1"); if (!inspector.url()) throw { code: "NONE" };`, code: "NONE", did: changed("port inspect")},
	}
}

func strangers(name string) func(*scene, string) bool {
	return func(s *scene, _ string) bool { return s.streams[name].strangers(s.t) }
}

func visited(s *scene, _ string) bool  { return s.visits.Load() > 0 }
func datagram(s *scene, _ string) bool { return packets(s.t, s.udp) }
func query(s *scene, _ string) bool    { return packets(s.t, s.resolve) }

// processProbes start, signal and change processes.
func processProbes() []probe {
	const mark = `"/bin/sh", ["-c", "echo > " + n]`
	table := []probe{
		{name: "spawn", act: `return await ended(cp.spawn(` + mark + `))`, code: "EPERM"},
		{name: "spawn, detached", act: `return await ended(cp.spawn(` + mark + `, { detached: true }))`, code: "EPERM"},
		{name: "spawn, waiting", act: `const { error } = cp.spawnSync(` + mark + `); if (error) throw error;`, code: "EPERM"},
		{name: "a shell", act: `return await new Promise((done, fail) => cp.exec("echo > " + n, (e) => e ? fail(e) : done()))`, code: "EPERM"},
		{name: "a file executed", act: `cp.execFileSync(` + mark + `)`, code: "EPERM"},
		{name: "Node again", act: "cp.execFileSync(process.execPath, ['-e', `require('fs').writeFileSync(${JSON.stringify(n)}, '')`])", code: "EPERM"},
		{name: "fork", act: `return await ended(cp.fork(w.marker, [n]))`, code: "EPERM"},
		{name: "cluster", act: `cluster.setupPrimary({ exec: w.marker, args: [n] }); await once(cluster.fork(), "exit")`, code: "EPERM"},
		{name: "spawn from a worker", act: "return await inWorker(`require('child_process').execFileSync('/bin/sh', ['-c', 'echo > ' + require('worker_threads').workerData]); require('worker_threads').parentPort.postMessage('')`, n)", code: "EPERM"},
		{name: "spawn by the binding", act: `
			const pipe = { type: "ignore" };
			const { error } = process.binding("spawn_sync").spawn({ file: "/bin/sh", args: ["sh", "-c", "echo > " + n], stdio: [pipe, pipe, pipe] });
			if (error) throw { code: error === -1 ? "EPERM" : error };`, code: "EPERM"},
	}
	for i := range table {
		name := strings.NewReplacer(" ", "-", ",", "").Replace(table[i].name)
		table[i].act = `const n = w.outside + "/` + name + `"; ` + table[i].act
		table[i].did = changed("mark " + name)
	}
	return append(table, []probe{
		{name: "a signal to a process", act: `process.kill(w.victims.killed, "SIGKILL")`, code: "EPERM", did: killed("killed")},
		{name: "a signal to a group", act: `process.kill(-w.victims.grouped, "SIGKILL")`, code: "EPERM", did: killed("grouped")},
		{name: "a signal to everybody", act: `process.once("SIGCONT", () => {}); process.kill(-1, "SIGCONT")`, code: "EPERM", did: func(s *scene, _ string) bool { return s.victims["stopped"].stat(0) != "T" }},
		{name: "a question for a process", act: `process.kill(w.victims.read, 0); return "there"`, code: "EPERM", did: says("there")},
		{name: "a signal to process 1", act: `process.kill(w.init, "SIGTERM")`, code: "EPERM", did: killed("init"), owner: true},
		{name: "a signal to the daemon", act: `process.kill(w.daemon, "SIGTERM")`, code: "EPERM", did: killed("daemon"), owner: true},
		{name: "a signal to the parent", act: `process.kill(process.ppid, 0); return "there"`, code: "EPERM", did: says("there"), owner: true},
		{name: "another's priority", act: `os.setPriority(w.victims.reniced, 7)`, code: "ERR_SYSTEM_ERROR", did: changed("nice reniced")},
		{name: "another's priority, asked", act: `return "nice " + os.getPriority(w.victims.read)`, code: "ERR_SYSTEM_ERROR", did: says("nice 0")},
		{name: "another user", act: `process.setuid(process.getuid()); return "set"`, code: "EPERM", did: says("set")},
		{name: "native code of the program", act: `process.dlopen({ exports: {} }, w.program + "/addon.node")`, code: "ERR_DLOPEN_FAILED", did: native("program/addon.node")},
		{name: "native code of the input", act: `require(w.input + "/addon.node")`, code: "ERR_DLOPEN_FAILED", did: native("input/addon.node")},
		{name: "native code by way of SQLite", act: `
			const { DatabaseSync } = require("node:sqlite");
			try {
				new DatabaseSync(":memory:", { allowExtension: true }).loadExtension(w.input + "/extension.so");
			} catch (error) { // loaded, it turns out to be no extension
				if (!error.message.includes("undefined symbol")) throw error;
			}`, code: "ERR_LOAD_SQLITE_EXTENSION", did: native("input/extension.so")},
	}...)
}

func killed(name string) func(*scene, string) bool {
	return func(s *scene, _ string) bool { return s.victims[name].dead() }
}

// native says whether the constructor of this file ran: it writes where it is.
func native(path string) func(*scene, string) bool {
	return func(s *scene, _ string) bool {
		return strings.Contains(s.noise, "native code of "+s.slot+"/"+path+"\n")
	}
}

// allowedProbes are what stands right beside the denials and works inside.
func allowedProbes() []probe {
	return []probe{
		{name: "allowed: one's input", act: `return fs.readFileSync("own.txt", "utf8")`, did: says("mine")},
		{name: "allowed: one's input on a pool thread", act: `return await fs.promises.readFile("own.txt", "utf8")`, did: says("mine")},
		{name: "allowed: one's input in a worker", act: "return await inWorker(`require('worker_threads').parentPort.postMessage(require('fs').readFileSync('own.txt', 'utf8'))`)", did: says("mine")},
		{name: "allowed: a list of one's input", act: `return "list " + fs.readdirSync(".").includes("own.txt")`, did: says("list true")},
		{name: "allowed: a list of one's home", act: `return "list " + fs.readdirSync(w.home).length`, did: func(_ *scene, said string) bool { return strings.HasPrefix(said, "list ") }},
		{name: "allowed: one's program", act: `return "program " + (await import(w.program + "/acts.mjs")).acts.length`, did: func(s *scene, said string) bool { return strings.HasPrefix(said, "program ") }},
		{name: "allowed: the null device", act: `return "null " + fs.readFileSync("/dev/null").length`, did: says("null 0")},
		{name: "allowed: an address that is one", act: `return (await dns.promises.lookup("127.0.0.1")).address`, did: says("127.0.0.1")},
		{name: "allowed: one's own executable", act: `return "exe " + (fs.readFileSync("/proc/self/exe").length > 1 << 20)`, did: says("exe true")},
		{name: "allowed: one's own status", act: `return fs.readFileSync("/proc/self/status", "utf8").match(/Pid:\s+(\d+)/)[1] === String(process.pid)`, did: says("true")},
		{name: "allowed: a question for oneself", act: `process.kill(process.pid, 0); return "there"`, did: says("there")},
		{name: "allowed: a signal to oneself", act: `const here = once(process, "SIGUSR1"); process.kill(process.pid, "SIGUSR1"); await here; return "came"`, did: says("came")},
		{name: "allowed: one's own priority, asked", act: `return "nice " + os.getPriority()`, did: says("nice 0")},
		{name: "allowed: machine code made by V8", act: `
			const code = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11]);
			return "wasm " + (await WebAssembly.instantiate(code)).instance.exports.f()`, did: says("wasm 42")},
	}
}
