package confine

import (
	"fmt"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// behindGate runs files, whose names begin with program/ or input/, as a launch on macOS would.
func behindGate(t *testing.T, boundary Seatbelt, files map[string]string, entry string, args ...string) (slot, outcome) {
	t.Helper()
	s := newSlot(t, files)
	return s, run(t, boundary.of(t, s.job(t, nodeClosure(t), entry, args...)))
}

// TestSeatbeltOrdinaryNode is what programs expect of Node, and what they must not find of the launch.
func TestSeatbeltOrdinaryNode(t *testing.T) {
	s, o := behindGate(t, standin(t, "DENYING"), map[string]string{
		"input/name.txt": "world",
		"program/main.mjs": `import fs from 'node:fs'; import { greet } from './greet.cjs';
const nonblocking = [0, 1, 2].filter((fd) => parseInt(/flags:\s*(\d+)/.exec(fs.readFileSync('/proc/self/fdinfo/' + fd, 'utf8'))[1], 8) & 0o4000);
console.log(JSON.stringify({greeting: greet(fs.readFileSync('name.txt', 'utf8')), argv: process.argv, execPath: process.execPath, cwd: process.cwd(), env: process.env,
  main: import.meta.main, execArgv: process.execArgv, stdin: fs.readFileSync(0, 'utf8'), pipe3: fs.existsSync('/proc/self/fd/3') && fs.fstatSync(3).isFIFO(), nonblocking,
  globals: Object.keys(globalThis).filter((k) => /slot|gate|refuse|say/.test(k)),
  listeners: process.eventNames().filter((name) => typeof name === 'string' && !['newListener', 'removeListener', 'warning'].includes(name))}));`,
		"program/greet.cjs": `exports.greet = (name) => 'hello, ' + name;`,
	}, "main.mjs", "a", "b c", "--import=x", "$(id)", "-p", "\n\"")
	node := nodeClosure(t).Node
	want := fmt.Sprintf(`{"greeting":"hello, world","argv":["%[1]s","%[2]s/program/main.mjs","a","b c","--import=x","$(id)","-p","\n\""],"execPath":"%[1]s","cwd":"%[2]s/input",`+
		`"env":{"LC_ALL":"C","TZ":"UTC","HOME":"%[2]s/home","TMPDIR":"%[2]s/home","OPENSSL_CONF":"/dev/null"},"main":true,"execArgv":[],"stdin":"","pipe3":false,"nonblocking":[],`+
		`"globals":[],"listeners":[]}`+"\n", node, s.dir)
	if o.stdout != want || o.stderr != "" || o.control != limitLines("20", "64")+admittedRecord {
		t.Errorf("%+v\nwant %s", o, want)
	}
}

// TestSeatbeltEntries are the kinds of entries. A CommonJS one is loaded by import, as Node does with every entry once --import is there;
// this is what then differs from a plain `node main.cjs`, seen alike with Node 22, 24 and 26:
//
//   - module.id is the path and not ".", and module.parent is undefined and not null
//   - promises that are settled come before process.nextTick at the end of the entry's first turn, as in a module
//   - a stack trace ends in frames of node:internal/modules/esm, not of run_main, and the caret of an uncaught error may stand elsewhere
//   - in a worker whose source is a string of CommonJS, process.execArgv holds --import and the preload's URL, which is not loaded there
func TestSeatbeltEntries(t *testing.T) {
	boundary := standin(t, "DENYING")
	for name, row := range map[string]struct{ entry, program, stdout string }{
		"module": {"main.mjs", `await 0; console.log(import.meta.main, typeof require)`, "true undefined\n"},
		"CommonJS": {"main.cjs", `console.log(require.main === module, process.mainModule === module, module.parent, module.id === __filename, Object.keys(require.cache).length);
Promise.resolve().then(() => console.log('promise')); process.nextTick(() => console.log('tick')); setImmediate(() => console.log('immediate'))`,
			"true true undefined true 1\npromise\ntick\nimmediate\n"},
		"either, CommonJS":  {"main.js", `console.log(require.main === module)`, "true\n"},
		"either, module":    {"main.js", `import 'node:fs'; console.log(import.meta.main)`, "true\n"},
		"TypeScript":        {"main.ts", `const x: number = 1; console.log(x, require.main === module)`, "1 true\n"},
		"TypeScript module": {"main.mts", `import 'node:fs'; const x: number = 1; console.log(x)`, "1\n"},
		"TypeScript script": {"main.cts", `const x: number = 1; console.log(x, require.main === module)`, "1 true\n"},
		"again":             {"main.mjs", `await import('` + preloadURL() + `'); console.log(Object.keys(await import('` + preloadURL() + `')).length)`, "0\n"},
		"stack":             {"main.cjs", `console.log(new Error('x').stack.split('\n').map((line) => /node:internal\/modules\/esm/.test(line)).at(-1))`, "true\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, o := behindGate(t, boundary, map[string]string{"program/" + row.entry: row.program}, row.entry)
			if o.stdout != row.stdout || o.stderr != "" || !o.state.Success() {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestSeatbeltWorkers(t *testing.T) {
	_, o := behindGate(t, standin(t, "DENYING"), map[string]string{
		"program/main.mjs": `import { Worker } from 'node:worker_threads'; import { once } from 'node:events';
const post = "require('worker_threads').parentPort.postMessage([process.execArgv.length, process.cwd() === process.env.HOME.replace(/home$/, 'input')])";
for (const [source, options] of [[new URL('file.mjs', import.meta.url)], [new URL('file.cjs', import.meta.url)], [post, { eval: true }],
  ["import 'node:fs'; process.getBuiltinModule('node:worker_threads').parentPort.postMessage([process.execArgv.length])", { eval: true }], [post, { eval: true, execArgv: [] }]]) {
  console.log(JSON.stringify((await once(new Worker(source, options), 'message'))[0]));
}`,
		"program/file.mjs": `import { parentPort } from 'node:worker_threads'; parentPort.postMessage([process.execArgv.length]);`,
		"program/file.cjs": `require('worker_threads').parentPort.postMessage([process.execArgv.length]);`,
	}, "main.mjs")
	if want := "[0]\n[0]\n[2,true]\n[0]\n[0,true]\n"; o.stdout != want || o.stderr != "" {
		t.Errorf("%+v", o)
	}
}

// TestSeatbeltUncaught: what a programmer reads of an uncaught error is the error, at its place.
func TestSeatbeltUncaught(t *testing.T) {
	for entry, frame := range map[string]string{"main.mjs": `at file://(\S+)/main\.mjs:2:7`, "main.cjs": `at Object\.<anonymous> \((\S+)/main\.cjs:2:7\)`} {
		t.Run(entry, func(t *testing.T) {
			_, o := behindGate(t, standin(t, "DENYING"), map[string]string{"program/" + entry: "// one\nthrow new Error('oops')"}, entry)
			if !regexp.MustCompile(`(?s)/`+entry+`:2\n.*\n\nError: oops\n    `+frame+`\n`).MatchString(o.stderr) || o.state.ExitCode() != 1 ||
				strings.Contains(o.stderr, "data:") {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestSeatbeltNothingComesBefore has the input, where Node starts, and the program hold everything by which a directory could have a say
// in how Node starts. Each would print or end the run if it were read. The control shows that they work where Node is told to read them.
func TestSeatbeltNothingComesBefore(t *testing.T) {
	files := map[string]string{"program/main.cjs": `console.log('main')`}
	for _, dir := range []string{"input", "program"} {
		files[dir+"/evil.cjs"] = `console.log('evil'); require('fs').closeSync(3)`
		files[dir+"/.env"] = "NODE_OPTIONS=--require=./evil.cjs\n"
		files[dir+"/node.config.json"] = `{"nodeOptions": {"require": ["./evil.cjs"], "import": ["./evil.cjs"]}}`
		files[dir+"/.noderc"] = "--require=./evil.cjs\n"
		files[dir+"/package.json"] = `{"name": "data:text", "exports": {"./*": "./evil.cjs"}, "imports": {"#x": "./evil.cjs", "data:*": "./evil.cjs", "#node:fs": "./evil.cjs"}}`
		for _, module := range []string{"fs", "node:fs", "worker_threads", "data:text", "data:text/javascript"} {
			files[dir+"/node_modules/"+module+"/index.js"] = `console.log('evil')`
		}
	}
	s, o := behindGate(t, standin(t, "DENYING"), files, "main.cjs")
	if o.stdout != "main\n" || o.stderr != "" || o.control != limitLines("20", "64")+admittedRecord {
		t.Errorf("%+v", o)
	}
	for _, option := range []string{"--env-file=.env", "--experimental-default-config-file", "--require=./evil.cjs"} {
		cmd := osexecNode(t, filepath.Join(s.dir, "input"), option, filepath.Join(s.dir, "program", "main.cjs"))
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), "evil") {
			t.Errorf("control %s: %s", option, out)
		}
	}
}

// osexecNode is a plain Node in a directory.
func osexecNode(t *testing.T, dir string, args ...string) *osexec.Cmd {
	t.Helper()
	cmd := osexec.Command(nodeClosure(t).Node, args...)
	cmd.Dir, cmd.Env = dir, []string{}
	return cmd
}
