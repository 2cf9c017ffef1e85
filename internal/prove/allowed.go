package prove

// allowed is what stands right beside the denials and works inside. These are twins: each shows that its neighbours are denied, and not broken.
func allowed() []Probe {
	return family("What works inside", "", "", []Probe{
		{Name: "read a file of the input", Act: `return fs.readFileSync("own.txt", "utf8")`, Evidence: says("mine")},
		{Name: "read a file of the input on a pool thread", Act: `return await fs.promises.readFile("own.txt", "utf8")`, Evidence: says("mine")},
		{Name: "read a file of the input in a worker", Act: "return await inWorker(`require('worker_threads').parentPort.postMessage(require('fs').readFileSync('own.txt', 'utf8'))`)", Evidence: says("mine")},
		{Name: "poll a file of the input", Act: `fs.watchFile("own.txt", { interval: 1e6 }, () => {}); fs.unwatchFile("own.txt"); return "size " + fs.statSync("own.txt").size`, Evidence: says("size 4")},
		{Name: "the input given to WASI", Act: `new (require("node:wasi").WASI)({ version: "preview1", preopens: { "/x": w.input } }); return "open"`, Evidence: says("open")},
		{Name: "list the input", Act: `return "list " + fs.readdirSync(".").includes("own.txt")`, Evidence: says("list true")},
		{Name: "standard input is at its end", Act: `return "stdin " + fs.readFileSync(0).length`, Evidence: says("stdin 0")}, // the gate's byte was taken
		{Name: "list home", Act: `return "list " + fs.readdirSync(w.home).length`, Evidence: saysFirst("list ")},
		{Name: "import from the program", Act: `return "acts " + (await import(w.program + "/acts.mjs")).acts.length`, Evidence: saysFirst("acts ")},
		{Name: "read the null device", Act: `return "null " + fs.readFileSync("/dev/null").length`, Evidence: says("null 0")},
		{Name: "look up an address that is one", Act: `return (await dns.promises.lookup("127.0.0.1")).address`, Evidence: says("127.0.0.1")},
		{Name: "the inspector, within the process", Act: `const session = new inspector.Session(); session.connect(); session.disconnect(); return "connected"`, Evidence: says("connected")},
		{Name: "read one's own executable", Act: `const head = Buffer.alloc(4); fs.readSync(fs.openSync("/proc/self/exe"), head); return "exe " + head.toString("latin1", 1)`, Only: "linux", Evidence: says("exe ELF")},
		{Name: "read one's own status", Act: `return fs.readFileSync("/proc/self/status", "utf8").match(/Pid:\s+(\d+)/)[1] === String(process.pid)`, Only: "linux", Evidence: says("true")},
		{Name: "ask about one's own memory", Act: `return process.memoryUsage().rss > 1 << 20`, Evidence: says("true")},
		{Name: "a question for oneself", Act: `process.kill(process.pid, 0); return "there"`, Evidence: says("there")},
		{Name: "a signal to oneself", Act: `const here = once(process, "SIGUSR1"); process.kill(process.pid, "SIGUSR1"); await here; return "came"`, Evidence: says("came")},
		{Name: "ask for one's own priority", Act: `return "nice " + os.getPriority()`, Evidence: saysFirst("nice ")},
		{Name: "compute in a worker", Act: "return 'sum ' + await inWorker(`const { parentPort, workerData } = require('worker_threads'); parentPort.postMessage(workerData + 1)`, 41)", Evidence: says("sum 42")},
		{Name: "a database in memory", Act: `return "row " + new (require("node:sqlite").DatabaseSync)(":memory:").prepare("select 42 as x").get().x`, Evidence: says("row 42")},
		{Name: "machine code made by V8", Act: `
			const code = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11]);
			return "wasm " + (await WebAssembly.instantiate(code)).instance.exports.f()`, Evidence: says("wasm 42")},
	})
}
