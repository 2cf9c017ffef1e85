package e2e

import (
	"encoding/json"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hostFacts: what a program learns of Node, of the machine and of itself.
func hostFacts(t *testing.T) []ordinary {
	t.Helper()
	node, err := filepath.EvalSymlinks(shared.node)
	if err != nil {
		t.Fatal(err)
	}
	return []ordinary{
		{
			name: "where Node and the program are",
			source: `
				import { realpathSync } from 'node:fs'; import { Worker } from 'node:worker_threads';
				console.log(process.execPath); console.log(process.argv0 === process.execPath || process.argv0, process.argv[0] === process.execPath);
				console.log(process.argv[1], realpathSync(process.argv[1]) === process.argv[1], realpathSync.native('.') === process.cwd(), process.cwd());
				console.log(realpathSync(process.execPath) === process.execPath);
				new Worker("console.log(process.execPath === " + JSON.stringify(process.execPath) + ", process.cwd())", { eval: true });`,
			stdout: node + "\ntrue true\n<slot>/program/main.mjs true true <slot>/input\ntrue\ntrue <slot>/input\n",
		},
		{
			name: "exactly five environment variables",
			source: `
				for (const name of Object.keys(process.env).sort()) console.log(name + '=' + process.env[name]);
				process.env.MINE = 'x'; console.log(Object.keys(process.env).length, delete process.env.MINE, process.env.PATH);`,
			stdout: "HOME=<slot>/home\nLC_ALL=C\nOPENSSL_CONF=/dev/null\nTMPDIR=<slot>/home\nTZ=UTC\n6 true undefined\n",
		},
		{
			name: "which Node this is",
			source: `
				import os from 'node:os'; import { builtinModules } from 'node:module';
				console.log(process.version, process.arch, process.platform, process.release.name, JSON.stringify(process.versions));
				console.log(os.EOL === '\n', os.homedir(), os.tmpdir(), os.platform(), os.endianness(), os.devNull, builtinModules.length, process.features.typescript);
				console.log(os.release(), os.type(), os.machine(), os.hostname().length > 0);`,
			holds: []string{"v" + nodeVersion + " x64 linux node ", "true <slot>/home <slot>/home linux LE /dev/null "},
		},
		{
			name: "processors and memory",
			source: `
				import os from 'node:os';
				const m = process.memoryUsage(); const sane = n => n > 1e6 && n < 4e9;
				console.log(sane(m.rss), sane(m.heapTotal), sane(m.heapUsed), m.external > 1e5, process.memoryUsage.rss() > 1e7);
				console.log(os.cpus().length, os.cpus()[0].model, os.cpus().every(c => c.times.idle > 0), os.availableParallelism(), os.totalmem(), os.freemem() > 0, os.loadavg().length, os.uptime() > 0);
				console.log(process.availableMemory() > 1e6, process.constrainedMemory() >= 0, process.uptime() > 0, process.cpuUsage().user > 0, process.resourceUsage().maxRSS > 1e4);`,
			holds: []string{"true true true true true\n", "true true true true true\n"},
		},
		{
			// What the launch needs is not left for the program to stumble over.
			name: "nothing of the launch is left",
			program: files{"main.cjs": `
				const { isMainThread, threadId } = require('node:worker_threads');
				console.log(JSON.stringify(process.execArgv), process.execArgv.length, process.env.NODE_OPTIONS, isMainThread, threadId);
				console.log(Object.keys(require.cache).length, module.parent, require.main.children.length, process.getActiveResourcesInfo().join());
				console.log(process.eventNames().map(String).sort().join(), Object.getOwnPropertyNames(globalThis).length, process.exitCode, process.title === process.execPath || process.title);
				console.log(process.allowedNodeEnvironmentFlags.size, process.report?.signal, process.stdin.constructor.name, process.stdout.isTTY, process.stderr.isTTY);`},
			entry: "main.cjs", holds: []string{"[] 0 undefined true 0\n1 "},
		},
		{
			name: "the process itself",
			source: `
				console.log(process.kill(process.pid, 0), process.pid > 0, process.ppid >= 0, typeof process.getuid(), process.getgroups().length >= 0);
				process.on('SIGUSR2', s => { console.log('got', s); clearInterval(t); }); const t = setInterval(() => {}, 1000); process.kill(process.pid, 'SIGUSR2');
				process.title = 'mine'; console.log(process.title.length > 0);
				process.emitWarning('careful', { code: 'W1' });`,
			holds: []string{"true true true number true\n", "got SIGUSR2\n", "[W1] Warning: careful"},
		},
	}
}

// inputFiles: the program reads what it was given.
func inputFiles(t *testing.T) []ordinary {
	t.Helper()
	return []ordinary{
		{
			name:  "reading the input in every way",
			input: files{"a.txt": "alpha\nbeta\n", "sub/b.bin": "\x00\xff\x80", "sub/deeper/c": "", "big": strings.Repeat("0123456789abcdef", 1<<16)},
			source: `
				import fs from 'node:fs'; import fsp from 'node:fs/promises'; import readline from 'node:readline'; import path from 'node:path';
				console.log(fs.readdirSync('.', { recursive: true }).sort().join(), fs.readdirSync('sub', { withFileTypes: true }).map(e => e.name + (e.isDirectory() ? '/' : '')).sort().join());
				console.log(fs.readFileSync('a.txt', 'utf8').length, (await fsp.readFile('sub/b.bin')).toString('hex'), fs.existsSync('none'), fs.existsSync('/proc/self/environ-of-nobody'));
				const s = fs.statSync('big'); console.log(s.size, s.isFile(), s.nlink, (s.mode & 0o7777).toString(8), s.mtimeMs > 1e12, fs.statSync('sub').isDirectory(), fs.lstatSync('a.txt').isSymbolicLink());
				let n = 0; for await (const chunk of fs.createReadStream('big', { start: 16 })) n += chunk.length; console.log(n);
				const lines = []; for await (const l of readline.createInterface({ input: fs.createReadStream('a.txt') })) lines.push(l); console.log(lines.join());
				const h = await fsp.open('big'); const { bytesRead, buffer } = await h.read(Buffer.alloc(4), 0, 4, 18); console.log(bytesRead, String(buffer), (await h.stat()).size); await h.close();
				for await (const e of await fsp.opendir('sub')) if (e.isFile()) console.log(e.name, path.relative(process.cwd(), e.parentPath));
				fs.accessSync('a.txt', fs.constants.R_OK); console.log(await fsp.realpath('sub/../a.txt') === path.resolve('a.txt'), (await Array.fromAsync(fsp.glob('**/*.txt'))).join());
				await new Promise(done => fs.readFile('none', e => { console.log(e.code, e.syscall); done(); })); process.chdir('sub'); console.log(fs.readdirSync('.').length, process.cwd().split('/').pop());
				console.log((await fs.openAsBlob('b.bin')).size, fs.readFileSync(new URL('../../program/main.mjs', 'file://' + process.cwd() + '/')).length > 100);`,
			holds: []string{"a.txt,big,sub,sub/b.bin,sub/deeper,sub/deeper/c b.bin,deeper/\n11 00ff80 false false\n1048576 true 1 400 ", "\n1048560\nalpha,beta\n4 2345 1048576\nb.bin sub\ntrue a.txt\nENOENT open\n2 sub\n3 true\n"},
		},
		{
			name:  "an SQLite file in the input",
			input: files{"data.db": sqliteFile(t)},
			source: `
				import { DatabaseSync } from 'node:sqlite';
				const db = new DatabaseSync('data.db', { readOnly: true });
				console.log(db.prepare('select sum(n) as sum, count(*) as count from t').get().sum);
				try { db.exec('insert into t values (1)') } catch (e) { console.log(e.code) }`,
			stdout: "499500\nERR_SQLITE_ERROR\n",
		},
		{name: "an empty input", source: `import fs from 'node:fs'; console.log(fs.readdirSync('.').length, fs.readdirSync(process.env.HOME).length)`, stdout: "0 0\n"},
		{
			name:   "standard input is at its end",
			source: `import fs from 'node:fs'; let n = 0; for await (const c of process.stdin) n += c.length; console.log(n, process.stdin.isTTY, JSON.stringify(fs.readFileSync(0, 'utf8')))`,
			stdout: `0 undefined ""` + "\n",
		},
	}
}

// sqliteFile is a database with a table of a thousand rows, made by plain Node.
func sqliteFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.db")
	const source = `
		const { DatabaseSync } = require('node:sqlite'); const db = new DatabaseSync(process.argv[1]);
		db.exec('create table t (n integer)'); const add = db.prepare('insert into t values (?)');
		db.exec('begin'); for (let i = 0; i < 1000; i++) add.run(i); db.exec('commit'); db.close();`
	if out, err := osexec.CommandContext(t.Context(), shared.node, "-e", source, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// arguments: what a program is called with.
func arguments() []ordinary {
	odd := []string{"", "two words", `"quoted" 'too'`, "new\nline", "tab\t", "ünï 🎉", "--inspect", "-e", "--", "$HOME `id` \\", "a=b", "\x01\x7f", strings.Repeat("long", 1024)}
	many := make([]string, 64)
	for i := range many {
		many[i] = strings.Repeat("x", i)
	}
	const source = `process.stdout.write(JSON.stringify(process.argv.slice(2)))`
	return []ordinary{
		{name: "odd arguments", source: source, args: odd, stdout: compact(odd)},
		{name: "64 arguments", source: source, args: many, stdout: compact(many)},
		{name: "an empty list of arguments", source: source, args: []string{}, stdout: "[]"},
	}
}

// compact is list as JSON.stringify writes it.
func compact(list []string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(list) // strings always encode
	return strings.TrimSuffix(strings.ReplaceAll(out.String(), `\u007f`, "\x7f"), "\n")
}
