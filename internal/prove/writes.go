package prove

import (
	"fmt"
	"strings"
)

// spot is a place that changes are tried in.
type spot struct {
	name   string // in a row's name
	key    string // what the fixture's world calls its path
	bare   bool   // nothing can be there before the run: what an act needs is in the input
	given  bool   // made by the fixture, and not to be seen from inside
	within string // the key of what holds the files that an act needs
	only   string // the GOOS that has such a place
}

func spots() []spot {
	return []spot{
		{name: "home", key: "home", bare: true, within: "input"}, // HOME and TMPDIR
		{name: "the slot", key: "slot", bare: true, within: "input"},
		{name: "the input", key: "input", within: "input"}, // the working directory
		{name: "the program", key: "program", within: "program"},
		{name: "a folder of the host", key: "outside", given: true, within: "outside"},
		{name: "/tmp", key: "tmp", given: true, within: "tmp"},
		{name: "/dev/shm", key: "shm", given: true, within: "shm", only: "linux"},
	}
}

// mutation changes f or g, two files in one directory, or makes something at n, which is free.
type mutation struct {
	name  string
	act   string
	makes bool   // something at n; only such acts can be tried in a bare spot
	code  string // where the spot can be seen from inside
	gone  string // where it cannot
	mac   string // on macOS, where the spot can be seen from inside; empty means EPERM
	mute  bool   // a file system need not show that it took place, so that the program may say it
}

// eitherOnMac is what macOS may say where a mode denies it too, to the owner as well, as to write a file of the input: Seatbelt's code or EACCES. Which
// of them is asked first nobody has tried.
const eitherOnMac = "EPERM or EACCES"

// changedWord is what the program says of a change that may show in nothing else.
const changedWord = "changed"

func mutations() []mutation {
	return []mutation{
		{name: "create", act: `fs.writeFileSync(n, 'x')`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "create on a pool thread", act: `await fs.promises.writeFile(n, 'x')`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "create in a worker", act: `await inWorker("require('fs').writeFileSync(require('worker_threads').workerData, 'x'); require('worker_threads').parentPort.postMessage('')", n)`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "create a database", act: `new (require('node:sqlite').DatabaseSync)(n).exec('create table t (x)')`, makes: true, code: "ERR_SQLITE_ERROR", gone: "ERR_SQLITE_ERROR"},
		{name: "append", act: `fs.appendFileSync(f, 'x')`, code: "EACCES", gone: "ENOENT", mac: eitherOnMac},
		{name: "overwrite", act: `fs.writeFileSync(f, 'x')`, code: "EROFS", gone: "ENOENT", mac: eitherOnMac},
		{name: "write in place", act: `fs.writeSync(fs.openSync(f, 'r+'), 'x')`, code: "EACCES", gone: "ENOENT", mac: eitherOnMac},
		{name: "truncate", act: `fs.truncateSync(f, 0)`, code: "EACCES", gone: "ENOENT", mac: eitherOnMac},
		{name: "mkdir", act: `fs.mkdirSync(n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "mkdtemp", act: `fs.mkdtempSync(n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "copy", act: `fs.copyFileSync(f, n)`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "symlink", act: `fs.symlinkSync('/', n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "hard link", act: `fs.linkSync(f, n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "rename", act: `fs.renameSync(f, n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "rename over", act: `fs.renameSync(g, f)`, code: "EPERM", gone: "EPERM"},
		{name: "unlink", act: `fs.unlinkSync(f)`, code: "EPERM", gone: "EPERM"},
		{name: "remove a tree", code: "EPERM", gone: "ENOENT", act: `
			try {
				fs.rmSync(path.dirname(f), { recursive: true });
			} catch (error) { // told EPERM, Node 22 takes a file for a directory
				throw error.code === "ENOTDIR" ? { code: "EPERM", message: error.message } : error;
			}`},
		{name: "chmod", act: `fs.chmodSync(f, 0o777)`, code: "EPERM", gone: "EPERM"},
		{name: "chmod a directory", act: `fs.chmodSync(path.dirname(f), 0o777)`, code: "EPERM", gone: "EPERM"},
		{name: "chmod by handle", act: `fs.fchmodSync(fs.openSync(f), 0o777)`, code: "EPERM", gone: "ENOENT"},
		{name: "chown", act: `fs.chownSync(f, process.getuid(), process.getgid()); return '` + changedWord + `'`, code: "EPERM", gone: "EPERM", mute: true},
		{name: "chown by handle", act: `fs.fchownSync(fs.openSync(f), process.getuid(), process.getgid()); return '` + changedWord + `'`, code: "EPERM", gone: "ENOENT", mute: true},
		{name: "lchown", act: `fs.lchownSync(f, process.getuid(), process.getgid()); return '` + changedWord + `'`, code: "EPERM", gone: "EPERM", mute: true},
		{name: "utimes", act: `fs.utimesSync(f, 1, 1)`, code: "EPERM", gone: "EPERM"},
		{name: "lutimes", act: `fs.lutimesSync(f, 1, 1)`, code: "EPERM", gone: "EPERM"},
		{name: "utimes by handle", act: `fs.futimesSync(fs.openSync(f), 1, 1)`, code: "EPERM", gone: "ENOENT"},
	}
}

// target is one change tried in one spot.
type target struct {
	spot
	mutation
}

// givenPlaces are the shared directories that this host has for the suite to try changes in.
func givenPlaces() []string {
	var names []string
	for _, spot := range spots() {
		if spot.given && spot.key != "outside" && here(spot.only) {
			names = append(names, spot.name)
		}
	}
	return names
}

func targets() []target {
	var all []target
	for _, spot := range spots() {
		for _, m := range mutations() {
			if m.makes || !spot.bare {
				all = append(all, target{spot, m})
			}
		}
	}
	return all
}

func (x target) row() string { return x.mutation.name + " in " + x.spot.name }

// slug is the row's name as a path of a snapshot.
func (x target) slug() string { return strings.NewReplacer(" ", "-", "/", "").Replace(x.row()) }

// probe is the row of a target. f and g lie in a directory of the row's own; so does n, where the spot is not bare.
func (x target) probe() Probe {
	from := fmt.Sprintf(`w.%s + "/%s`, x.within, x.slug())
	n := from + `/n"`
	if x.bare {
		n = fmt.Sprintf(`w.%s + "/%s"`, x.key, x.slug())
	}
	p := Probe{
		Name: x.row(), Code: x.code, Only: x.only,
		Act:      fmt.Sprintf(`const f = %s/f", g = %s/g", n = %s; %s`, from, from, n, x.act),
		Evidence: changed("files " + x.slug()),
	}
	p.MacCode = x.mac
	if x.given {
		p.Code, p.MacCode = x.gone, ""
	}
	if x.mute {
		p.Evidence = orSaid(changedWord, p.Evidence)
	}
	return p
}

// writes change what a program may only read, or cannot see.
func writes() []Probe {
	const (
		read = "read a file of the input"
		out  = "print it: stdout is the way out of a run"
	)
	var all []Probe
	for _, x := range targets() {
		all = append(all, x.probe())
	}
	all = family(familyFiles, read, "keep it in memory (node:sqlite takes \":memory:\"), and print what is to stay: stdout is the way out of a run", all)
	return append(all, family("Other ways to write", read, out, []Probe{
		{Name: "copy a tree into home", Act: `fs.cpSync(path.dirname(w.own), w.home + "/copy-of-a-tree", { recursive: true })`, Code: "EPERM", Evidence: changed("home copy-of-a-tree")},
		{Name: "remove a directory", Act: `fs.rmdirSync(w.hollow)`, Code: "EPERM", Evidence: changed("hollow")},
		{Name: "write to the canary", Act: `fs.appendFileSync(w.slot + "/canary", "x")`, Code: "EACCES", MacCode: eitherOnMac, Evidence: changed("canary")},
		{Name: "write to the null device", Act: `fs.writeFileSync("/dev/null", "x"); return "written"`, Code: "EACCES", Evidence: says("written"), Twin: "read the null device"},
		{Name: "write to /proc", Act: `fs.writeFileSync("/proc/self/oom_score_adj", "900")`, Code: "EROFS", Only: "linux", Evidence: changed("oom")},
		{Name: "write to one's own memory", Act: `fs.openSync("/proc/self/mem", "r+"); return "open"`, Code: "ENOENT", Only: "linux", Evidence: says("open")},
		{Name: "flush a file to the disk", Act: `fs.fsyncSync(fs.openSync(w.own)); return "flushed"`, Code: "EPERM", Only: "linux", MacCode: Unpromised, Evidence: says("flushed"), Instead: "nothing: a run has no file of its own to flush"},
		{Name: "a heap snapshot", Act: `require("node:v8").writeHeapSnapshot(w.home + "/heap")`, Code: "EROFS", Evidence: changed("home heap"), Instead: "pipe v8.getHeapSnapshot() to stdout"},
		{Name: "a diagnostic report", Act: `
			process.report.directory = w.home;
			process.report.excludeNetwork = true;
			process.report.writeReport("report");
			if (!fs.existsSync(w.home + "/report")) throw { code: "NONE" };`, Code: Nothing, Evidence: changed("home report"), Instead: "print process.report.getReport()"},
		{Name: "a compile cache", Act: `
			const { enableCompileCache, constants } = require("node:module");
			const { status } = enableCompileCache(w.home + "/compiled");
			if (status !== constants.compileCacheStatus.ENABLED) throw { code: "NONE" };`, Code: Nothing, Evidence: changed("home compiled"), Instead: "nothing: a run starts from its snapshot alone"},
	})...)
}
