//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// spot is a place that mutations are tried in.
type spot struct {
	name   string // as the scene's world calls its path
	bare   bool   // nothing can be there before the run: what an act needs is in the input
	given  bool   // made by the scene, and not to be seen from inside
	within string // the snapshot that holds what an act needs
}

func spots() []spot {
	return []spot{
		{name: "home", bare: true, within: "input"}, // HOME and TMPDIR
		{name: "slot", bare: true, within: "input"},
		{name: "input", within: "input"}, // the working directory
		{name: "program", within: "program"},
		{name: "outside", given: true},
		{name: "tmp", given: true},
		{name: "shm", given: true},
	}
}

// mutation changes f or g, two files in one directory, or makes something at n,
// which is free.
type mutation struct {
	name  string
	act   string
	makes bool   // something at n; only such acts can be tried in a bare spot
	code  string // where the spot can be seen from inside
	gone  string // where it cannot
}

func mutations() []mutation {
	return []mutation{
		{name: "create", act: `fs.writeFileSync(n, 'x')`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "create-on-a-pool-thread", act: `await fs.promises.writeFile(n, 'x')`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "create-in-a-worker", act: `await inWorker("require('fs').writeFileSync(require('worker_threads').workerData, 'x'); require('worker_threads').parentPort.postMessage('')", n)`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "create-a-database", act: `new (require('node:sqlite').DatabaseSync)(n).exec('create table t (x)')`, makes: true, code: "ERR_SQLITE_ERROR", gone: "ERR_SQLITE_ERROR"},
		{name: "append", act: `fs.appendFileSync(f, 'x')`, code: "EACCES", gone: "ENOENT"},
		{name: "overwrite", act: `fs.writeFileSync(f, 'x')`, code: "EROFS", gone: "ENOENT"},
		{name: "write-in-place", act: `fs.writeSync(fs.openSync(f, 'r+'), 'x')`, code: "EACCES", gone: "ENOENT"},
		{name: "truncate", act: `fs.truncateSync(f, 0)`, code: "EACCES", gone: "ENOENT"},
		{name: "mkdir", act: `fs.mkdirSync(n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "mkdtemp", act: `fs.mkdtempSync(n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "copy", act: `fs.copyFileSync(f, n)`, makes: true, code: "EROFS", gone: "ENOENT"},
		{name: "symlink", act: `fs.symlinkSync('/', n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "hard-link", act: `fs.linkSync(f, n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "rename", act: `fs.renameSync(f, n)`, makes: true, code: "EPERM", gone: "EPERM"},
		{name: "rename-over", act: `fs.renameSync(g, f)`, code: "EPERM", gone: "EPERM"},
		{name: "unlink", act: `fs.unlinkSync(f)`, code: "EPERM", gone: "EPERM"},
		{name: "remove-a-tree", act: `fs.rmSync(path.dirname(f), { recursive: true })`, code: "EPERM", gone: "ENOENT"},
		{name: "chmod", act: `fs.chmodSync(f, 0o777)`, code: "EPERM", gone: "EPERM"},
		{name: "chmod-a-directory", act: `fs.chmodSync(path.dirname(f), 0o777)`, code: "EPERM", gone: "EPERM"},
		{name: "chmod-by-handle", act: `fs.fchmodSync(fs.openSync(f), 0o777)`, code: "EPERM", gone: "ENOENT"},
		{name: "chown", act: `fs.chownSync(f, process.getuid(), process.getgid())`, code: "EPERM", gone: "EPERM"},
		{name: "chown-by-handle", act: `fs.fchownSync(fs.openSync(f), process.getuid(), process.getgid())`, code: "EPERM", gone: "ENOENT"},
		{name: "utimes", act: `fs.utimesSync(f, 1, 1)`, code: "EPERM", gone: "EPERM"},
		{name: "lutimes", act: `fs.lutimesSync(f, 1, 1)`, code: "EPERM", gone: "EPERM"},
		{name: "utimes-by-handle", act: `fs.futimesSync(fs.openSync(f), 1, 1)`, code: "EPERM", gone: "ENOENT"},
	}
}

// target is where one mutation is tried.
type target struct {
	spot
	mutation
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

func (x target) row() string { return x.mutation.name + "-in-" + x.spot.name }

// sources is the directory of f and g, below the snapshot or the spot.
func (x target) sources(s *scene) string {
	holder := x.within
	if holder == "" {
		holder = x.spot.name
	}
	return s.w[holder].(string) + "/" + x.row()
}

// free is n.
func (x target) free(s *scene) string {
	if x.bare {
		return s.w[x.spot.name].(string) + "/" + x.row()
	}
	return x.sources(s) + "/n"
}

func (x target) probe() probe {
	holder := x.within
	if holder == "" {
		holder = x.spot.name
	}
	from := fmt.Sprintf(`w.%s + "/%s`, holder, x.row())
	n := from + `/n"`
	if x.bare {
		n = fmt.Sprintf(`w.%s + "/%s"`, x.spot.name, x.row())
	}
	p := probe{
		name: x.row(), code: x.code,
		act: fmt.Sprintf(`const f = %s/f", g = %s/g", n = %s; %s`, from, from, n, x.act),
		did: changed("files " + x.row()),
	}
	if x.given {
		p.code = x.gone
	}
	return p
}

// changed is for acts of which the host sees a difference between before and
// after.
func changed(what string) func(*scene, string) bool {
	return func(s *scene, _ string) bool { return s.before[what] != s.after[what] }
}

func mutationProbes() []probe {
	var all []probe
	for _, x := range targets() {
		all = append(all, x.probe())
	}
	return append(all,
		probe{name: "rmdir", act: `fs.rmdirSync(w.hollow)`, code: "EPERM", did: changed("hollow")},
		probe{name: "write to the canary", act: `fs.appendFileSync(w.slot + "/canary", "x")`, code: "EACCES", did: changed("canary")},
		probe{name: "write to the null device", act: `fs.writeFileSync("/dev/null", "x"); return "written"`, code: "EACCES", did: says("written")},
		probe{name: "write to /proc", act: `fs.writeFileSync("/proc/self/oom_score_adj", "900")`, code: "EROFS", did: changed("oom")},
		probe{name: "write to one's own memory", act: `fs.openSync("/proc/self/mem", "r+"); return "open"`, code: "ENOENT", did: says("open")},
	)
}

// says is for acts whose success the program can only know, never guess.
func says(word string) func(*scene, string) bool {
	return func(_ *scene, said string) bool { return said == word }
}

// addTargets adds what the mutations need to a snapshot.
func addTargets(f files, snapshot string) files {
	for _, x := range targets() {
		if x.within == snapshot {
			f[x.row()+"/f"], f[x.row()+"/g"] = "f of "+x.row(), "g of "+x.row()
		}
	}
	return f
}

// lay makes what the mutations need in a spot that the scene itself holds.
func (s *scene) lay(_ *testing.T, at spot) {
	for _, x := range targets() {
		if x.spot == at {
			s.put(x.sources(s)+"/f", "f of "+x.row())
			s.put(x.sources(s)+"/g", "g of "+x.row())
		}
	}
}

// look is what the host sees of everything that acts aim at.
func (s *scene) look() map[string]string {
	seen := s.ends.look()
	for _, x := range targets() {
		found, _ := filepath.Glob(x.free(s) + "*")
		paths := append(found, x.sources(s), x.sources(s)+"/f", x.sources(s)+"/g")
		seen["files "+x.row()] = fingerprint(paths...)
	}
	marks, _ := filepath.Glob(s.w["outside"].(string) + "/*")
	for _, mark := range marks {
		seen["mark "+filepath.Base(mark)] = fingerprint(mark)
	}
	seen["hollow"] = fingerprint(s.w["hollow"].(string))
	seen["canary"] = fingerprint(s.slot + "/canary")
	seen["oom"], _ = readText(fmt.Sprintf("/proc/%d/oom_score_adj", s.pid))
	return seen
}

// fingerprint is all that can be known of files without touching them, save the
// time of the last reading.
func fingerprint(paths ...string) string {
	var all strings.Builder
	for _, path := range paths {
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			fmt.Fprintln(&all, path, err)
			continue
		}
		content := ""
		if st.Mode&syscall.S_IFMT == syscall.S_IFREG {
			content, _ = readText(path)
		}
		fmt.Fprintln(&all, path, st.Ino, st.Mode, st.Nlink, st.Uid, st.Gid, st.Size, st.Mtim, st.Ctim, digestOf([]byte(content)))
	}
	return all.String()
}

func readText(path string) (string, error) {
	content, err := os.ReadFile(path)
	return string(content), err
}
