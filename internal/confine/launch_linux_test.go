package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestHostIsAble(t *testing.T) {
	if problem := hostProblem(); problem != nil {
		t.Fatal(problem)
	}
}

func TestAdmittedRun(t *testing.T) {
	s := newSlot(t, map[string]string{
		"program/main.mjs": `import { greet } from './lib/greet.cjs'; import fs from 'node:fs';
console.log(greet(fs.readFileSync('name.txt', 'utf8')), process.argv.slice(2).join());`,
		"program/lib/greet.cjs": `exports.greet = (name) => 'hello, ' + name;`,
		"input/name.txt":        "world",
	})
	o := run(t, instance(t, s.job(t, nodeClosure(t), "main.mjs", "a", "b c")))
	if o.control != limitLines("20", "64")+admittedRecord || o.stdout != "hello, world a,b c\n" || o.stderr != "" || !o.state.Success() {
		t.Errorf("%+v", o)
	}
}

func TestVersionRun(t *testing.T) {
	s := newSlot(t, nil)
	j := s.job(t, nodeClosure(t), "")
	j.Version, j.Args = true, nil
	o := start(t, instance(t, j)).open(0).finish(t)
	if o.control != limitLines("20", "64") || o.stdout != "v26.8.1\n" || !o.state.Success() {
		t.Errorf("%+v", o)
	}
}

// TestOrdinaryNode is what programs expect of Node, and of which a wrong rule would deprive them.
func TestOrdinaryNode(t *testing.T) {
	s := newSlot(t, map[string]string{
		"input/in.txt": "in",
		"program/main.mjs": `
import fs from 'node:fs'; import os from 'node:os'; import path from 'node:path'; import zlib from 'node:zlib'; import crypto from 'node:crypto';
import { Worker, isMainThread, parentPort } from 'node:worker_threads'; import { DatabaseSync } from 'node:sqlite';
if (!isMainThread) {
  parentPort.postMessage([process.execPath, process.cwd(), fs.existsSync('in.txt')]);
} else {
  const workers = await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve, reject) => new Worker(new URL(import.meta.url)).on('message', resolve).on('error', reject))));
  const db = new DatabaseSync(':memory:'); db.exec('create table t(x)');
  const wasm = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  console.log(JSON.stringify({
    execPath: process.execPath, cwd: process.cwd(), argv: process.argv.length, env: process.env, workers, wasm: String(wasm),
    rss: process.memoryUsage().rss > 1e6, cpus: os.cpus().length > 0, free: os.freemem() > 0, available: process.availableMemory() > 0,
    real: fs.realpathSync('.') === process.cwd(), list: fs.readdirSync('.'), tmp: fs.readdirSync(os.tmpdir()), uid: process.getuid(),
    zip: zlib.gunzipSync(zlib.gzipSync('z')).toString(), hash: crypto.hash('sha1', 'x').length, intl: new Intl.NumberFormat('de').format(1234.5),
    umask: process.umask(), exe: fs.readlinkSync('/proc/self/exe'), dir: path.basename(import.meta.dirname)}));
}`})
	o := run(t, instance(t, s.job(t, nodeClosure(t), "main.mjs")))
	node := nodeClosure(t).Node
	worker := fmt.Sprintf(`["%s","%s/input",true]`, node, s.dir)
	want := fmt.Sprintf(`{"execPath":"%[1]s","cwd":"%[2]s/input","argv":2,"env":{"LC_ALL":"C","TZ":"UTC","HOME":"%[2]s/home","TMPDIR":"%[2]s/home","OPENSSL_CONF":"/dev/null"},`+
		`"workers":[%[3]s,%[3]s,%[3]s,%[3]s],"wasm":"[object WebAssembly.Module]","rss":true,"cpus":true,"free":true,"available":true,"real":true,"list":["in.txt"],"tmp":[],`+
		`"uid":65534,"zip":"z","hash":40,"intl":"1.234,5","umask":63,"exe":"%[1]s","dir":"program"}`+"\n", node, s.dir, worker)
	if o.stdout != want || o.stderr != "" || !o.state.Success() {
		t.Errorf("stdout %s\nwant   %s\nstderr %s", o.stdout, want, o.stderr)
	}
}

func TestExitFacts(t *testing.T) {
	for name, row := range map[string]struct {
		program string
		code    int
		signal  syscall.Signal
	}{
		"exit code":      {`process.exit(7)`, 7, 0},
		"exit code 125":  {`process.exit(125)`, 125, 0},
		"uncaught error": {`throw new Error('oops')`, 1, 0},
		"syntax error":   {`this is not JavaScript`, 1, 0},
		"abort":          {`process.abort()`, -1, syscall.SIGABRT},
		"own signal":     {`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)`, -1, syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t, map[string]string{"program/main.cjs": row.program})
			o := run(t, instance(t, s.job(t, nodeClosure(t), "main.cjs")))
			if !strings.HasSuffix(o.control, admittedRecord) || o.state.ExitCode() != row.code || row.signal != 0 && o.status().Signal() != row.signal {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestProcessorTime(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `for (;;);`})
	j := s.job(t, nodeClosure(t), "main.cjs")
	j.Limits.CPUSeconds = 1
	if o := run(t, instance(t, j)); !o.status().Signaled() || o.status().Signal() != syscall.SIGKILL {
		t.Errorf("%+v", o)
	}
}

// TestGate: anything but the one byte, and the program does not load.
func TestGate(t *testing.T) {
	for name, b := range map[string]byte{"end of file": 0, "another byte": 'G'} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
			o := start(t, instance(t, s.job(t, nodeClosure(t), "main.cjs"))).open(b).finish(t)
			if o.control != limitLines("20", "64")+"sf-confined/1 refused\n" || o.state.ExitCode() != RefusalCode || o.stdout+o.stderr != "" {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestPreloadCannotBeReplaced has the input claim the preload's name, as a package may claim names of its own. Started in the input, Node
// would load evil.cjs in the preload's place; in the program's workers it would do so still, so that such an input is refused.
func TestPreloadCannotBeReplaced(t *testing.T) {
	for name, claims := range map[string]bool{"": true, ".": false, "{top}": true, "{slot}": true, "slot-0": false} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t, map[string]string{
				"program/main.cjs": `new (require('worker_threads').Worker)("console.log('main')", { eval: true })`, "input/evil.cjs": `console.log('evil')`})
			top, _, _ := strings.Cut(s.dir[1:], "/")
			name := strings.NewReplacer("{slot}", s.dir, "{top}", "/"+top).Replace(name)
			config := fmt.Sprintf(`{"name": %q, "exports": {".": "./evil.cjs", "./*": "./evil.cjs"}}`, name)
			for _, dir := range []string{"input", "program"} {
				s.write(t, dir+"/package.json", config)
			}
			o := run(t, instance(t, s.job(t, nodeClosure(t), "main.cjs")))
			if admitted := o.stdout == "main\n" && strings.HasSuffix(o.control, admittedRecord); admitted == claims {
				t.Errorf("%+v", o)
			}
			if refused := o.stdout == "" && strings.Contains(o.stderr, "package.json of the input"); refused != claims {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestPreloadLeavesNothing looks for the preload from within the program.
func TestPreloadLeavesNothing(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `
const fs = require('fs'), Module = require('module');
const listeners = process.eventNames().filter((name) => typeof name === 'string' && !['newListener', 'removeListener', 'warning'].includes(name)); // those are Node's
const open = (fd) => { try { return fs.fstatSync(fd).isFIFO(); } catch { return false; } };
console.log(JSON.stringify({execArgv: process.execArgv, cache: Object.keys(require.cache), paths: Object.values(Module._pathCache), parent: module.parent ?? null,
  listeners, globals: Object.keys(globalThis).filter((k) => /slot|gate|refuse|say/.test(k)),
  pipes: [0, 1, 2, 3].filter(open), stdin: fs.readFileSync(0, 'utf8')}));`})
	o := run(t, instance(t, s.job(t, nodeClosure(t), "main.cjs")))
	main := filepath.Join(s.dir, "program", "main.cjs")
	want := fmt.Sprintf(`{"execArgv":[],"cache":["%[1]s"],"paths":["%[1]s"],"parent":null,"listeners":[],"globals":[],"pipes":[0,1,2],"stdin":""}`+"\n", main)
	if o.stdout != want {
		t.Errorf("%s%s\nwant %s", o.stdout, o.stderr, want)
	}
}

// TestBrokenProfiles: no text but the right one leads to a program.
func TestBrokenProfiles(t *testing.T) {
	const refused = "sf-confined/1 refused\n"
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	good := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	canary := s.source(t, "canary")
	id := inode{canary.Dev, canary.Ino}.String()
	s.write(t, "other", "not the canary\n")
	other := s.source(t, "other")
	_, rules, _ := strings.Cut(good.text, lineDefault+"\n")
	for _, row := range []struct{ name, old, new, control, stderr string }{
		{"none", "", "", admittedRecord, ""},
		{"a syntax error", "default EPERM\n", "default EPERM!\n", "", "profile: line"},
		{"no canary line", "canary " + strconv.Quote(canary.Path) + " " + id + "\n", "", "", "launch: canary: the profile has none"},
		{"a canary of another inode", id, inode{canary.Dev, canary.Ino + 1}.String(), "", "confined: mounts: " + canary.Path + ": is not "},
		{"a canary of another device", id, inode{canary.Dev + 1, canary.Ino}.String(), "", "confined: mounts: " + canary.Path + ": is not "},
		{"a program that is a file", fmt.Sprintf("tree %q", s.dir+"/program"), fmt.Sprintf("file %q", s.dir+"/program"), "", "profile: line"},
		{"another uid", "user 65534 outside", "user 65533 outside", "", "launch: identity: the profile has user {65533 "},
		{"another uid outside", "group 65534 outside ", "group 65534 outside 9", "", "launch: identity: the profile has user {65534 "},
		{"a canary under a rule", fmt.Sprintf("canary %q %s\n", canary.Path, id), fmt.Sprintf("canary %q %d:%d\nfile %q %s read\n", other.Path, other.Dev, other.Ino, canary.Path, id), refused, ""},
		{"a filter that allows statfs", "allow exit ", "allow statfs exit ", refused, ""},
		{"a root with more of /proc", "proc \"/proc/self/stat\" read\n", "proc \"/proc/self/stat\" read\ntext \"/proc/self/fd\" \"\" read\n", refused, ""},
		{"a filter that allows every call", rules, everyCall(), refused, ""},
		{"a filter that allows what it does not name", "default EPERM\n", "default allow\n", "", "profile: line"},
		{"a second exec", "once execveat\n", "allow execveat\n", "", "profile: filter: 0 exec locks"},
		{"a right to write", " read list\n", " read list write\n", "", "profile: line"},
		{"a canary elsewhere", "environment HOME \"" + s.dir + "/home\"", "environment HOME \"/elsewhere/home\"", refused, ""},
		{"one page of memory", "limit data 4294967296", "limit data 4096", "", ""},
		{"an exec lock on nothing", "allow openat ", "allow ", limitLines("20", "64"), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if !strings.Contains(good.text, row.old) {
				t.Fatalf("the text has no %q", row.old)
			}
			broken, err := good.saying(strings.Replace(good.text, row.old, row.new, 1))
			if err != nil || strings.HasPrefix(row.stderr, "profile: ") {
				if err == nil || !strings.HasPrefix(err.Error(), row.stderr) || row.stderr == "" {
					t.Errorf("read as a profile: %v", err)
				}
				return
			}
			if strings.HasPrefix(row.stderr, "launch: ") {
				mustNotLaunch(t, broken, row.stderr)
				return
			}
			o := run(t, broken)
			ran := row.control == admittedRecord
			if !strings.HasSuffix(o.control, row.control) || strings.HasSuffix(o.control, admittedRecord) != ran ||
				!strings.HasPrefix(o.stderr, row.stderr) || (o.stdout != "") != ran || o.state.Success() != ran {
				t.Errorf("%+v", o)
			}
		})
	}
}

// mustNotLaunch fails unless there is no process, for that reason, and nothing of it is left.
func mustNotLaunch(t *testing.T, l linuxLaunch, reason string) {
	t.Helper()
	before := census(t)
	if _, err := l.launch(); err == nil || !strings.HasPrefix(err.Error(), reason) {
		t.Errorf("launched: %v, want %s", err, reason)
	}
	if after := census(t); after != before {
		t.Errorf("left over: %s, before %s", after, before)
	}
}

// everyCall are the rules of a filter that refuses nothing that a profile can allow.
func everyCall() string {
	var names []string
	for field := range strings.FieldsSeq(syscallTable) {
		if name, _, _ := strings.Cut(field, ":"); name != "execve" && name != "execveat" {
			names = append(names, name)
		}
	}
	return "allow " + strings.Join(names, " ") + "\nonce execveat\n"
}

// TestSwappedSource replaces what was verified between instantiation and launch.
func TestSwappedSource(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	must(t, os.Rename(s.dir+"/program", s.dir+"/was"))
	s.mkdir(t, "program")
	s.write(t, "program/main.cjs", `console.log('swapped')`)
	if o := run(t, i); o.control != "" || !strings.Contains(o.stderr, "confined: mounts: "+s.dir+"/program: is not the verified") || o.state.ExitCode() != RefusalCode {
		t.Errorf("swapped: %+v", o)
	}
	must(t, os.RemoveAll(s.dir+"/program"))
	must(t, os.Symlink(s.dir+"/was", s.dir+"/program"))
	if o := run(t, i); o.control != "" || !strings.Contains(o.stderr, "/program: is not the verified") || o.state.ExitCode() != RefusalCode {
		t.Errorf("symlink: %+v", o)
	}
}
