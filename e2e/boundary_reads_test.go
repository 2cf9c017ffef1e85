//go:build linux

package e2e

import (
	"errors"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
)

// knows is for acts that return what only the named thing holds.
func knows(name string) func(*scene, string) bool {
	return func(s *scene, said string) bool {
		return s.expect[name] != "" && strings.Contains(said, s.expect[name])
	}
}

// readProbes read what is not the run's. Symbolic links out of a snapshot are
// no row: a snapshot cannot hold one, and none can be made.
func readProbes() []probe {
	const read = `return fs.readFileSync(`
	return []probe{
		{name: "a file by its path", act: read + `w.secret, "utf8")`, code: "ENOENT", did: knows("file")},
		{name: "a file by way of ..", act: read + `path.relative(process.cwd(), w.secret), "utf8")`, code: "ENOENT", did: knows("file")},
		{name: "a file on a pool thread", act: `return await fs.promises.readFile(w.secret, "utf8")`, code: "ENOENT", did: knows("file")},
		{name: "a file by /proc/self/root", act: read + `"/proc/self/root" + w.secret, "utf8")`, code: "ENOENT", did: knows("file")},
		{name: "a file by /proc/self/cwd", act: read + `"/proc/self/cwd/" + path.relative(process.cwd(), w.secret), "utf8")`, code: "ENOENT", did: knows("file")},
		{name: "a file by /proc/thread-self/root", act: read + `"/proc/thread-self/root" + w.secret, "utf8")`, code: "ENOENT", did: knows("file")},
		{name: "a file by another process's root", act: read + "`/proc/${w.victims.read}/root${w.secret}`" + `, "utf8")`, code: "ENOENT", did: knows("file")},
		{name: "a file as a module", act: `return (await import(w.module)).default`, code: "ERR_MODULE_NOT_FOUND", did: knows("module")},
		{name: "a file required", act: `return require(w.module).default`, code: "MODULE_NOT_FOUND", did: knows("module")},
		{name: "a file as settings", act: `process.loadEnvFile(w.settings); return process.env.WORD`, code: "ENOENT", did: knows("settings")},
		{name: "a directory given to WASI", act: `new (require("node:wasi").WASI)({ version: "preview1", preopens: { "/x": w.outside } }); return "open"`, code: "UVWASI_ENOENT", did: says("open")},
		{name: "whether a file exists", act: `fs.accessSync(w.secret); return "there"`, code: "ENOENT", did: says("there")},
		{name: "the size of a file", act: `return "size " + fs.statSync(w.secret).size`, code: "ENOENT", did: says("size 26")},
		{name: "the real path of a file", act: `return fs.realpathSync(w.secret)`, code: "ENOENT", did: knows("path")},
		{name: "a list of a directory", act: `return fs.readdirSync(path.dirname(w.secret)).join()`, code: "ENOENT", did: knows("name")},
		{name: "a watch on a directory", act: `fs.watch(path.dirname(w.secret)).close(); return "watching"`, code: "EPERM", did: says("watching")},
		{name: "a watch on one's input", act: `fs.watch(".").close(); return "watching"`, code: "EPERM", did: says("watching")},
		{name: "the size of the disk", act: `return "blocks " + (fs.statfsSync(".").blocks > 0)`, code: "EPERM", did: says("blocks true")},
		{name: "the root directory", act: `return "root " + fs.readdirSync("/").includes("etc")`, code: "EACCES", did: says("root true")},
		{name: "the users", act: read + `"/etc/passwd", "utf8")`, code: "ENOENT", did: knows("passwd")},
		{name: "the network interfaces", act: `return JSON.stringify(os.networkInterfaces().lo[0].address)`, code: "ERR_SYSTEM_ERROR", did: says(`"127.0.0.1"`)},

		{name: "the canary", act: read + `w.slot + "/canary", "utf8")`, code: "EACCES", did: knows("canary")},
		{name: "the directory of the slot", act: `return fs.readdirSync(w.slot).join()`, code: "EACCES", did: knows("slot")},
		{name: "another run's input", act: read + `w.held, "utf8")`, code: "ENOENT", did: knows("held"), owner: true},
		{name: "another run's slot", act: `return fs.readdirSync(path.dirname(path.dirname(w.held))).join()`, code: "ENOENT", did: says("canary,home,input,program"), owner: true},
		{name: "the root of the slots", act: `return fs.readdirSync(w.root).join()`, code: "EACCES", did: says("slot-0,slot-1"), owner: true},
		{name: "the daemon's ledger", act: read + `w.ledger, "utf8")`, code: "ENOENT", did: knows("ledger"), owner: true},
		{name: "the daemon's state", act: `return fs.readdirSync(path.dirname(w.ledger)).join()`, code: "ENOENT", did: says("quarantine.jsonl"), owner: true},
		{name: "the daemon's socket", act: `return "socket " + fs.statSync(w.daemonSocket).isSocket()`, code: "ENOENT", did: says("socket true"), owner: true},
		{name: "the daemon's environment", act: read + "`/proc/${w.daemon}/environ`" + `, "utf8")`, code: "ENOENT", did: knows("daemon"), owner: true},
		{name: "the daemon's descriptors", act: "return 'fd ' + fs.readdirSync(`/proc/${w.daemon}/fd`).includes('0')", code: "ENOENT", did: says("fd true"), owner: true},
		{name: "the environment of process 1", act: read + "`/proc/${w.init}/environ`" + `, "utf8")`, code: "ENOENT", did: knows("init"), owner: true},

		{name: "another process's environment", act: read + "`/proc/${w.victims.read}/environ`" + `, "utf8")`, code: "ENOENT", did: knows("victim")},
		{name: "another process's arguments", act: read + "`/proc/${w.victims.read}/cmdline`" + `, "utf8")`, code: "ENOENT", did: says("sleep\x003600\x00")},
		{name: "the list of processes", act: `return "/proc " + fs.readdirSync("/proc").includes(String(process.pid))`, code: "EACCES", did: says("/proc true")},
		{name: "one's own descriptors", act: `return "fd " + fs.readdirSync("/proc/self/fd").includes("0")`, code: "ENOENT", did: says("fd true")},
		{name: "one's own environment", act: read + `"/proc/self/environ", "utf8")`, code: "ENOENT", did: knows("own environment")},
		{name: "one's own namespaces", act: `return fs.readlinkSync("/proc/self/ns/user").split(":")[0]`, code: "ENOENT", did: says("user")},
		{name: "one's own mounts", act: `fs.readFileSync("/proc/self/mountinfo"); return "mounts"`, code: "ENOENT", did: says("mounts")},
		{name: "the kernel's command line", act: read + `"/proc/cmdline", "utf8")`, code: "ENOENT", did: knows("kernel")},
		{name: "the connections of the host", act: `fs.readFileSync("/proc/net/tcp"); return "net"`, code: "ENOENT", did: says("net")},
		{name: "the devices", act: `fs.readFileSync("/sys/kernel/mm/transparent_hugepage/enabled"); return "sys"`, code: "ENOENT", did: says("sys")},
	}
}

// inheritedProbes look for what a careless daemon hands on. They come first,
// before a program opens anything of its own.
func inheritedProbes() []probe {
	return []probe{
		{name: "a descriptor that the daemon inherited", act: inherited, code: "NONE", did: knows("inherited")},
		{name: "the daemon's surroundings", act: `if (process.env.SECRET) return process.env.SECRET; throw { code: "NONE" }`, code: "NONE", did: knows("surroundings")},
	}
}

// inherited reads whatever lies behind the descriptors that a program may have.
const inherited = `
	let found = "";
	for (let fd = 3; fd < 256; fd++) {
		try {
			const head = Buffer.alloc(64);
			if (fs.fstatSync(fd).isFile()) found += head.toString("utf8", 0, fs.readSync(fd, head));
		} catch {}
	}
	if (found) return found;
	throw { code: "NONE" };`

// aim points a confined scene at the real daemon and at the run beside it.
func (s *scene) aim(d *daemon, held string) {
	s.w["daemon"], s.w["init"], s.w["root"] = d.cmd.Process.Pid, 1, d.root
	s.w["daemonSocket"], s.w["ledger"] = d.socket, d.state+"/quarantine.jsonl"
	s.w["held"] = d.root + "/slot-0/input/held.txt"
	s.expect["held"], s.expect["daemon"], s.expect["surroundings"] = held, daemonSecret, daemonSecret
	s.expect["inherited"], s.expect["ledger"] = inheritedSecret, ledgerSecret
	s.expect["init"], _ = readText("/proc/1/environ")
	s.know()
}

// aimAtStandIns points a scene at things that stand for the daemon and for
// another run.
func (s *scene) aimAtStandIns() {
	root := s.dir + "/root"
	for _, path := range []string{"/slot-0/canary", "/slot-0/home/x", "/slot-0/program/x", "/slot-1/x"} {
		s.put(root+path, "")
	}
	s.secret("held", root+"/slot-0/input/held.txt", "%s")
	s.secret("ledger", s.dir+"/state/quarantine.jsonl", "%s")
	s.secret("inherited", s.dir+"/inherited", "%s")
	s.expect["surroundings"] = random()
	s.w["held"], s.w["ledger"], s.w["root"] = root+"/slot-0/input/held.txt", s.dir+"/state/quarantine.jsonl", root
	s.w["daemonSocket"] = s.streams["unix"].Addr().String()
	s.w["daemon"], s.w["init"] = s.victims["daemon"].pid, s.victims["init"].pid
	s.expect["daemon"], s.expect["init"] = s.victims["daemon"].word, s.victims["init"].word
	s.know()
	s.give(s.t, s.dir)
}

// know fills in what is the same for every scene.
func (s *scene) know() {
	s.expect["path"], s.expect["name"] = s.dir+"/secret.txt", "secret.txt"
	s.expect["passwd"], _ = readText("/etc/passwd")
	s.expect["kernel"], _ = readText("/proc/cmdline")
	s.expect["victim"] = s.victims["read"].word
	s.expect["own environment"] = "HOME=" + s.slot + "/home"
	s.expect["canary"], s.expect["slot"] = "canary\n", "home"
}

// What only the daemon of TestBoundary has.
const (
	daemonSecret    = "the daemon alone has this in its environment"
	inheritedSecret = "the daemon alone has this open"
	ledgerSecret    = "the daemon alone has this in its state"
)

// sloppyDaemon starts a daemon with a ledger, and with an environment and an
// open file that nobody should give it, and that must not reach a program.
func sloppyDaemon(t *testing.T, options ...option) *daemon {
	t.Helper()
	p := newPlaces(t)
	err := errors.Join(os.Mkdir(p.state, 0o700),
		os.WriteFile(p.state+"/quarantine.jsonl", []byte(`{"note": "`+ledgerSecret+`"}`+"\n"), 0o600),
		os.WriteFile(p.dir+"/inherited", []byte(inheritedSecret), 0o644))
	open, failed := os.Open(p.dir + "/inherited")
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	d := bootDaemon(t, p, func(cmd *osexec.Cmd) {
		cmd.Env = append(cmd.Env, "SECRET="+daemonSecret, "NODE_OPTIONS=--require=/nowhere.js", "NODE_PATH=/", "NODE_DEBUG=fs",
			"LD_LIBRARY_PATH=/nowhere", "LD_BIND_NOW=1", "UV_THREADPOOL_SIZE=9", "TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "OPENSSL_CONF=/nowhere")
		cmd.ExtraFiles = []*os.File{open}
	}, options...)
	t.Cleanup(func() { d.end(t) })
	return d
}
