package prove

const readIt = `return fs.readFileSync(`

// inherited look for what a careless daemon hands on. They come first, before a program opens anything of its own.
func inherited() []Probe {
	return family("What the daemon has", "read a file of the input", "put what the program needs into its input or its arguments", []Probe{
		{Name: "an inherited descriptor", Act: `
			let found = "";
			for (let fd = 3; fd < 256; fd++) {
				try {
					const head = Buffer.alloc(64);
					if (fs.fstatSync(fd).isFile()) found += head.toString("utf8", 0, fs.readSync(fd, head));
				} catch {}
			}
			if (found) return found;
			throw { code: "NONE" };`, Code: Nothing, Evidence: knows("inherited")},
		{Name: "an inherited descriptor by its path", Act: `
			let found = "";
			for (let fd = 3; fd < 256; fd++) {
				const path = "/proc/self/fd/" + fd;
				if (fs.statSync(path, { throwIfNoEntry: false })?.isFile()) found += fs.readFileSync(path, "utf8");
			}
			if (found) return found;
			throw { code: "NONE" };`, Code: Nothing, Only: "linux", Evidence: knows("inherited")},
		{Name: "the parent's environment, inherited", Act: `if (process.env.SECRET) return process.env.SECRET; throw { code: "NONE" }`, Code: Nothing, Evidence: knows("surroundings")},
		{Name: "the parent's environment, in a worker", Act: "return await inWorker(`const { parentPort, workerData } = require('worker_threads'); if (!process.env.SECRET) throw { code: 'NONE' }; parentPort.postMessage(process.env.SECRET)`, 0, { env: SHARE_ENV })",
			Code: Nothing, Evidence: knows("surroundings")},
	})
}

// reads try to learn what a file holds that is not the run's. A symbolic link out of a snapshot is no row: a snapshot cannot hold one, and
// none can be made.
func reads() []Probe {
	secret := knows("file")
	return family(familyReads, "read a file of the input", "put the file into the input", []Probe{
		{Name: "a file by its path", Act: readIt + `w.secret, "utf8")`, Code: "ENOENT", Evidence: secret},
		{Name: "a file by way of ..", Act: readIt + `path.relative(process.cwd(), w.secret), "utf8")`, Code: "ENOENT", Evidence: secret},
		{Name: "a file on a pool thread", Act: `return await fs.promises.readFile(w.secret, "utf8")`, Code: "ENOENT", Evidence: secret, Twin: "read a file of the input on a pool thread"},
		{Name: "a file in a worker", Act: "return await inWorker(`const { parentPort, workerData } = require('worker_threads'); parentPort.postMessage(require('fs').readFileSync(workerData, 'utf8'))`, w.secret)", Code: "ENOENT", Evidence: secret, Twin: "read a file of the input in a worker"},
		{Name: "a file by a symbolic link", Act: readIt + `w.symlink, "utf8")`, Code: "ENOENT", Evidence: secret},
		{Name: "a file by a symbolic link to its folder", Act: readIt + `w.alias + "/secret.txt", "utf8")`, Code: "ENOENT", Evidence: secret},
		{Name: "a file by a hard link", Act: readIt + `w.hardlink, "utf8")`, Code: "ENOENT", Evidence: secret},
		{Name: "a file by /proc/self/root", Act: readIt + `"/proc/self/root" + w.secret, "utf8")`, Code: "ENOENT", Only: "linux", Evidence: secret},
		{Name: "a file by /proc/self/cwd", Act: readIt + `"/proc/self/cwd/" + path.relative(process.cwd(), w.secret), "utf8")`, Code: "ENOENT", Only: "linux", Evidence: secret},
		{Name: "a file by /proc/self/task", Act: readIt + "`/proc/self/task/${process.pid}/root${w.secret}`" + `, "utf8")`, Code: "ENOENT", Only: "linux", Evidence: secret},
		{Name: "a file by /proc/thread-self/root", Act: readIt + `"/proc/thread-self/root" + w.secret, "utf8")`, Code: "ENOENT", Only: "linux", Evidence: secret},
		{Name: "a file by another process's root", Act: readIt + "`/proc/${w.victims.read}/root${w.secret}`" + `, "utf8")`, Code: "ENOENT", Only: "linux", Evidence: secret},
		{Name: "a file as a module", Act: `return (await import(w.module)).default`, Code: "ERR_MODULE_NOT_FOUND", Evidence: knows("module")},
		{Name: "a file required", Act: `return require(w.module).default`, Code: "MODULE_NOT_FOUND", Evidence: knows("module")},
		{Name: "a file that a worker preloads", Act: "return await inWorker(`require('worker_threads').parentPort.postMessage(globalThis.preloaded)`, 0, { execArgv: ['--require', w.preload] })", Code: "MODULE_NOT_FOUND", Evidence: knows("preload")},
		{Name: "a file as settings", Act: `process.loadEnvFile(w.settings); return process.env.WORD`, Code: "ENOENT", MacCode: "ENOENT", Evidence: knows("settings")},
		{Name: "a database", Act: `return "tables " + new (require("node:sqlite").DatabaseSync)(w.database, { readOnly: true }).prepare("select count(*) as n from sqlite_master").get().n`,
			Code: "ERR_SQLITE_ERROR", Evidence: says("tables 0"), Twin: "a database in memory"},
		{Name: "a directory given to WASI", Act: `new (require("node:wasi").WASI)({ version: "preview1", preopens: { "/x": w.outside } }); return "open"`, Code: "UVWASI_ENOENT", MacCode: "UVWASI_EPERM", Evidence: says("open"), Twin: "the input given to WASI"},
		{Name: "a file of another user", Act: readIt + `w.foreign, "utf8")`, Code: "ENOENT", Evidence: knows("foreign")},
		{Name: "the users", Act: readIt + `"/etc/passwd", "utf8")`, Code: "ENOENT", Evidence: knows("passwd")},
		{Name: "whether a file exists", Act: `fs.accessSync(w.secret); return "there"`, Code: "ENOENT", Only: "linux", MacCode: Unpromised, Evidence: says("there")},
		{Name: "the size of a file", Act: `return "size " + fs.statSync(w.secret).size`, Code: "ENOENT", Evidence: says("size 26")},
		{Name: "the real path of a file", Act: `return fs.realpathSync(w.secret)`, Code: "ENOENT", Evidence: knows("path")},
		{Name: "a list of a directory", Act: `return fs.readdirSync(path.dirname(w.secret)).join()`, Code: "ENOENT", Evidence: knows("name"), Twin: "list the input"},
		{Name: "the root directory", Act: `return "root " + fs.readdirSync("/").includes("etc")`, Code: "EACCES", Only: "linux", MacCode: Unpromised, Evidence: says("root true"), Twin: "list the input"},
		{Name: "a watch on a directory", Act: `fs.watch(path.dirname(w.secret)).close(); return "watching"`, Code: "EPERM", Evidence: says("watching"), Twin: "poll a file of the input"},
		{Name: "a watch on the input", Act: `fs.watch(".").close(); return "watching"`, Code: "EPERM", Only: "linux", MacCode: Unpromised, Evidence: says("watching"), Twin: "poll a file of the input",
			Instead: "nothing: the input never changes during a run"},
		{Name: "the size of the disk", Act: `return "blocks " + (fs.statfsSync(".").blocks > 0)`, Code: "EPERM", Only: "linux", MacCode: Unpromised, Evidence: says("blocks true"), Instead: "nothing: a run has no disk of its own"},
	})
}

// privateReads aim at what belongs to the daemon and to other runs. Unconfined they are done by the daemon's own user.
func privateReads() []Probe {
	table := []Probe{
		{Name: "another run's input", Act: readIt + `w.held, "utf8")`, Code: "ENOENT", Evidence: knows("held")},
		{Name: "another run's slot", Act: `return fs.readdirSync(path.dirname(path.dirname(w.held))).join()`, Code: "ENOENT", Evidence: says("canary,home,input,program"), Twin: "list the input"},
		{Name: "the root of the slots", Act: `return "root " + fs.readdirSync(w.root).includes("slot-0")`, Code: "EACCES", Evidence: says("root true"), Twin: "list the input"},
		{Name: "the daemon's ledger", Act: readIt + `w.ledger, "utf8")`, Code: "ENOENT", Evidence: knows("ledger")},
		{Name: "the daemon's state", Act: `return "state " + fs.readdirSync(path.dirname(w.ledger)).includes("quarantine.jsonl")`, Code: "ENOENT", Evidence: says("state true"), Twin: "list the input"},
		{Name: "the daemon's socket", Act: `return "socket " + fs.statSync(w.daemonSocket).isSocket()`, Code: "ENOENT", Evidence: says("socket true")},
		{Name: "the daemon's environment", Act: "return 'read ' + fs.readFileSync(`/proc/${w.daemon}/environ`).length", Code: "ENOENT", Only: "linux", Evidence: saysFirst("read ")},
		{Name: "the daemon's descriptors", Act: "return 'fd ' + (fs.readdirSync(`/proc/${w.daemon}/fd`).length > 0)", Code: "ENOENT", Only: "linux", Evidence: says("fd true")},
		{Name: "the environment of process 1", Act: "return 'read ' + fs.readFileSync('/proc/1/environ').length", Code: "ENOENT", Only: "linux", NoControl: notByOrdinary, Evidence: saysFirst("read ")},
	}
	for i := range table {
		table[i].Owner = true
	}
	table = append(table,
		Probe{Name: "the canary", Act: readIt + `w.slot + "/canary", "utf8")`, Code: "EACCES", Evidence: knows("canary")},
		Probe{Name: "the directory of the slot", Act: `return fs.readdirSync(w.slot).join()`, Code: "EACCES", Evidence: knows("slot"), Twin: "list the input"})
	return family("The daemon's files and other runs", "read a file of the input", "put what the program needs into its input", table)
}

// systemReads ask what the kernel knows of processes, the network and devices.
func systemReads() []Probe {
	table := []Probe{
		{Name: "another process's environment", Act: readIt + "`/proc/${w.victims.read}/environ`" + `, "utf8")`, Evidence: knows("victim")},
		{Name: "another process's arguments", Act: readIt + "`/proc/${w.victims.read}/cmdline`" + `, "utf8").replaceAll("\0", " ")`, Evidence: says("sleep 300 ")},
		{Name: "the list of processes", Act: `return "/proc " + fs.readdirSync("/proc").includes(String(process.pid))`, Code: "EACCES", Evidence: says("/proc true")},
		{Name: "one's own descriptors", Act: `return "fd " + fs.readdirSync("/proc/self/fd").includes("0")`, Evidence: says("fd true")},
		{Name: "one's own environment, from the kernel", Act: readIt + `"/proc/self/environ", "utf8")`, Evidence: knows("own environment"), Instead: "read process.env"},
		{Name: "one's own namespaces", Act: `return fs.readlinkSync("/proc/self/ns/user").split(":")[0]`, Evidence: says("user")},
		{Name: "one's own mounts", Act: `fs.readFileSync("/proc/self/mountinfo"); return "mounts"`, Evidence: says("mounts")},
		{Name: "the kernel's command line", Act: readIt + `"/proc/cmdline", "utf8")`, Evidence: knows("kernel")},
		{Name: "the connections of the host", Act: `fs.readFileSync("/proc/net/tcp"); return "net"`, Evidence: says("net")},
		{Name: "the devices", Act: `fs.readdirSync("/sys/devices"); return "sys"`, Evidence: says("sys")},
		{Name: "the terminal", Act: `fs.openSync("/dev/tty"); return "open"`, Evidence: says("open"), NoControl: "it needs a terminal"},
	}
	for i := range table {
		table[i].Only = "linux"
		if table[i].Code == "" {
			table[i].Code = "ENOENT"
		}
	}
	table = append(table,
		Probe{Name: "the network interfaces", Act: `return Object.values(os.networkInterfaces()).flat().some((i) => i.address === "127.0.0.1")`, Code: "ERR_SYSTEM_ERROR", Evidence: says("true")},
		Probe{Name: "the name of the user", Act: `return "user " + os.userInfo().uid`, Code: "ERR_SYSTEM_ERROR", Evidence: saysFirst("user "), Instead: "call process.getuid()",
			NoControl: "the user of a run need not have an account"})
	return family("What the kernel tells", "ask about one's own memory", "nothing: a program is told of itself alone (process, os.cpus(), os.freemem())", table)
}
