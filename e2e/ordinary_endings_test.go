package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// endings: the ways in which programs end.
func endings() []ordinary {
	rows := []ordinary{
		{name: "process.exitCode", source: `process.exitCode = 9; console.log('set')`, stdout: "set\n", code: 9},
		{
			name:   "an exit handler",
			source: `process.on('exit', c => console.log('exit', c)); process.on('beforeExit', () => console.log('before')); setTimeout(() => {}, 1)`,
			stdout: "before\nexit 0\n",
		},
		{
			name:   "an uncaught error, with its stack",
			source: "function deep(n) {\n  if (n === 0) throw new TypeError('boom');\n  deep(n - 1);\n}\nconsole.log('before');\ndeep(2);\n",
			code:   1, stdout: "before\n", holds: []string{"TypeError: boom\n    at deep (file://<slot>/program/main.mjs:2:22)\n    at deep (file://<slot>/program/main.mjs:3:3)", "Node.js v" + nodeVersion},
		},
		{
			name:  "an uncaught error in CommonJS",
			entry: "main.cjs", program: files{"main.cjs": "require('./lib.cjs')()", "lib.cjs": "module.exports = () => {\n  throw Object.assign(new Error('from lib', { cause: 'x' }), { extra: 1 });\n};\n"},
			code: 1, holds: []string{"Error: from lib\n    at module.exports (<slot>/program/lib.cjs:2:23)\n    at Object.<anonymous> (<slot>/program/main.cjs:1:21)\n", "extra: 1"},
		},
		{name: "an unhandled rejection", source: `Promise.reject(new RangeError('late')); setTimeout(() => console.log('never'), 1000)`, code: 1, holds: []string{"RangeError: late"}},
		{name: "a rejection that is no error", source: `Promise.reject(7)`, code: 1, holds: []string{"ERR_UNHANDLED_REJECTION"}},
		{name: "a handled one", source: `process.on('uncaughtException', (e, origin) => { console.log(e.message, origin); process.exit(4) }); setTimeout(() => { throw new Error('mine') })`, code: 4, stdout: "mine uncaughtException\n"},
		{name: "a syntax error in the entry", source: "console.log('never');\nlet let = 1;\n", code: 1, holds: []string{"SyntaxError", "/program/main.mjs:2"}},
		{name: "a syntax error in CommonJS", entry: "main.cjs", program: files{"main.cjs": "const x = ;\n"}, code: 1, holds: []string{"SyntaxError: Unexpected token ';'", "<slot>/program/main.cjs:1"}},
		{name: "TypeScript that cannot be stripped", entry: "main.ts", program: files{"main.ts": "enum A { B }\n"}, code: 1, holds: []string{"ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"}},
		{name: "a broken package.json", entry: "main.js", program: files{"main.js": "1", "package.json": "{"}, code: 1, holds: []string{"ERR_INVALID_PACKAGE_CONFIG"}},
		{name: "a missing module", source: `import './absent.mjs'`, code: 1, holds: []string{"ERR_MODULE_NOT_FOUND", "<slot>/program/absent.mjs"}},
		{name: "an await that never ends", source: `console.log('waits'); await new Promise(() => {})`, code: 13, stdout: "waits\n", holds: []string{"unsettled top-level await"}},
		{
			name:   "endless recursion",
			source: `const f = n => 1 + f(n + 1); try { f(0) } catch (e) { console.log(e.name, e.message) } f(0)`,
			code:   1, loose: true, stdout: "RangeError Maximum call stack size exceeded\n", holds: []string{"RangeError: Maximum call stack size exceeded"},
		},
		{name: "process.abort", source: `console.log('last'); process.abort()`, signal: "SIGABRT", loose: true, stdout: "last\n"},
		{name: "a signal to itself", source: `console.log('last'); process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)`, signal: "SIGTERM", stdout: "last\n"},
		{name: "SIGKILL to itself", source: `process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)`, signal: "SIGKILL"},
	}
	for _, code := range []int{0, 7, 125} {
		rows = append(rows, ordinary{name: fmt.Sprint("exit code ", code), source: fmt.Sprintf(`console.log('out'); console.error('err'); process.exit(%d)`, code), stdout: "out\n", code: code})
	}
	return rows
}

// outputs: everything a program writes arrives, and unchanged.
func outputs() []ordinary {
	return []ordinary{
		{name: "none", source: ``},
		{name: "3 MiB", source: `process.stdout.write('0123456789abcdef'.repeat(3 << 16))`, stdout: strings.Repeat("0123456789abcdef", 3<<16)},
		{name: "3 MiB at once and then process.exit", source: `import fs from 'node:fs'; fs.writeFileSync(1, '0123456789abcdef'.repeat(3 << 16)); process.exit(0)`, stdout: strings.Repeat("0123456789abcdef", 3<<16)},
		{name: "3 MiB to stderr, in pieces", source: `for (let i = 0; i < 3072; i++) process.stderr.write('e'.repeat(1024)); console.log('done')`, stdout: "done\n", holds: []string{strings.Repeat("e", 3<<20)}},
		{name: "both in turn", source: `for (let i = 0; i < 100; i++) { console.log('out', i); console.error('err', i) }`, holds: []string{"out 98\nout 99\n", "err 98\nerr 99\n"}},
		{name: "every byte value", source: `process.stdout.write(Buffer.from(Array.from({ length: 256 }, (_, i) => i)))`, stdout: everyByte()},
		{name: "text that JSON must escape", source: `process.stdout.write('\ufeff<&>"\\ \0\u0001\u2028\u007f \u{1f600}\r\n')`, stdout: "\ufeff<&>\"\\ \x00\x01\u2028\x7f \U0001f600\r\n"},
		{name: "by file descriptor", source: `import fs from 'node:fs'; fs.writeSync(1, 'one '); fs.writeFileSync(1, 'two '); fs.createWriteStream('', { fd: 1 }).end('three'); fs.writeSync(2, 'err')`, holds: []string{"one two three", "err"}},
	}
}

func everyByte() string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return string(all)
}

// TestOutputEncoding: bytes that are text are sent as text, others in base64,
// each pipe for itself.
func TestOutputEncoding(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for _, row := range []struct{ write, stdout, stderr string }{
		{`process.stdout.write('grün \0'); process.stderr.write(Buffer.from([0xff, 0xfe]))`, "utf-8", "base64"},
		{`process.stdout.write(Buffer.from([0x67, 0xc3]))`, "base64", "utf-8"},                  // cut within a character
		{`process.stdout.write(Buffer.from([0xed, 0xa0, 0x80]))`, "base64", "utf-8"},            // a surrogate
		{`process.stdout.write(Buffer.from([0xc0, 0x80])); console.error()`, "base64", "utf-8"}, // an overlong NUL
	} {
		r := d.script(t, row.write)
		got, _, _ := d.postRun(t, r)
		d.mustBeRight(t, r, got)
		if p := got.Process; p.Stdout.Encoding != row.stdout || p.Stderr.Encoding != row.stderr {
			t.Errorf("%s: stdout is %s, stderr %s", row.write, p.Stdout.Encoding, p.Stderr.Encoding)
		}
		if want := plainNode(t, r); d.outcome(t, got) != want {
			t.Errorf("%s: %s, plain Node: %s", row.write, d.outcome(t, got), want)
		}
	}
}

// TestBigHeap: one gibibyte of buffers is ordinary. What goes beyond the 4 GiB
// of private data fails in the program, and in the program alone; plain Node
// shows that it is the bound that fails it.
func TestBigHeap(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	const source = `
		const kept = []; let got = 0;
		try { while (got < Number(process.argv[2])) { kept.push(Buffer.alloc(256 << 20)); got += 0.25 } } catch (e) { console.log(e.name); process.exit(3) }
		kept.forEach(b => b[1000] = 1); console.log('got', got);`
	fits, beyond := d.script(t, source, "1"), d.script(t, source, "5")
	got, _, _ := d.postRun(t, fits)
	d.mustBeRight(t, fits, got)
	if o := d.outcome(t, got); o.stdout != "got 1\n" || o.code != 0 {
		t.Errorf("1 GiB: %s", o)
	}
	got, _, _ = d.postRun(t, beyond)
	d.mustBeRight(t, beyond, got)
	if o := d.outcome(t, got); o.code == 0 && o.signal == "" {
		t.Errorf("5 GiB: %s", o)
	}
	if o := plainNode(t, beyond); o.stdout != "got 5\n" {
		t.Errorf("plain Node was to get 5 GiB, as the control: %s", o)
	}
	got, _, _ = d.postRun(t, fits)
	d.mustBeRight(t, fits, got)
}
