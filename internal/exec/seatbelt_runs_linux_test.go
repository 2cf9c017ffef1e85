package exec

import (
	"bytes"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBrokenSeatbeltNeverRunsTheProgram: of the set-ups that a test of the macOS
// boundary must break, none runs the program. Whether it ran is not asked of the
// result: it makes a directory, which nothing here would deny it.
func TestBrokenSeatbeltNeverRunsTheProgram(t *testing.T) {
	learnUnderDash(t)
	for name, row := range map[string]struct {
		act  func(*world)
		ran  bool
		want outcome
	}{
		"the control":                {func(*world) {}, true, observedClean.ending("0")},
		"a syntax error":             {behaves("REFUSING"), false, neverAdmitted.ending("65").saying("unbound variable")},
		"everything is allowed":      {behaves("PLAIN"), false, barred(AdmissionRefused).ending("125").saying("met nothing instead of EPERM")},
		"no sandbox-exec":            {toolLost("sandbox-exec"), false, observed("admission-absent runtime-unverifiable").admitted(AdmissionAbsent).ending("127")},
		"another limit of processor": {otherLimit, false, mismatch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			underDash.prepare(w)
			row.act(w)
			w.main("import fs from 'node:fs'; fs.mkdirSync(process.argv[2])\n")
			evidence := filepath.Join(w.state, "ran")
			w.spec.Args = []string{evidence}
			e := w.executor()
			w.pin(e)
			row.want.check(t, w.run(e), w)
			if _, err := os.Stat(evidence); (err == nil) != row.ran {
				t.Errorf("the program ran: %v, want %v", err == nil, row.ran)
			}
		})
	}
}

// everyday are programs that must behave under the launch of macOS as under
// plain Node: what they print, and how they end.
var everyday = []struct {
	name  string
	entry string
	files map[string]string
	args  []string
	holds string // a part of what it prints, so that a comparison of nothing with nothing fails
}{
	{"ES modules", "main.mjs", map[string]string{"main.mjs": "import { v } from './lib/v.mjs'; console.log(v, import.meta.url, import.meta.dirname)", "lib/v.mjs": "export const v = 'seven'"}, nil, "seven"},
	{"CommonJS", "main.cjs", map[string]string{"main.cjs": "console.log(require('./v.cjs'), __filename, require.main === module)", "v.cjs": "module.exports = 'eight'"}, nil, "eight"},
	{"TypeScript", "main.ts", map[string]string{"main.ts": "const n: number = 9; console.log(`nine ${n}`)"}, nil, "nine 9"},
	{"the arguments", "main.mjs", map[string]string{"main.mjs": "console.log(JSON.stringify([process.argv, process.execArgv, process.execPath, process.title]))"},
		[]string{"", "a b", "--flag", "$HOME `x` \"'\\", "grün\n"}, "--flag"},
	{"the environment", "main.mjs", map[string]string{"main.mjs": "console.log(JSON.stringify(Object.entries(process.env).sort()), Object.keys(process.env).length)"}, nil, " 5\n"},
	{"the working directory", "main.mjs", map[string]string{"main.mjs": "import fs from 'node:fs'; console.log(process.cwd(), fs.readFileSync('in.txt', 'utf8'))"}, nil, "input\n"},
	{"its input at its end", "main.mjs", map[string]string{"main.mjs": "import fs from 'node:fs'; console.log('read', fs.readFileSync(0).length); process.stdin.on('end', () => console.log('end')).resume()"}, nil, "read 0"},
	{"workers", "main.mjs", map[string]string{
		"main.mjs": "import { Worker } from 'node:worker_threads'; new Worker(new URL('w.mjs', import.meta.url)).on('message', (m) => console.log('from', m)).on('exit', (c) => console.log('exit', c))",
		"w.mjs":    "import { parentPort } from 'node:worker_threads'; parentPort.postMessage(['a worker', process.execArgv])"}, nil, "a worker"},
	{"an uncaught error", "main.mjs", map[string]string{"main.mjs": "function deep(n) {\n  if (n === 0) throw new TypeError('boom');\n  deep(n - 1);\n}\ndeep(2);\n"}, nil, "TypeError: boom"},
	{"a rejection", "main.mjs", map[string]string{"main.mjs": "await Promise.reject(new RangeError('late'))"}, nil, "RangeError: late"},
	{"exit code 7", "main.mjs", map[string]string{"main.mjs": "console.log('out'); console.error('err'); process.exit(7)"}, nil, "out"},
	{"exit code 125", "main.mjs", map[string]string{"main.mjs": "process.on('exit', (c) => console.log('code', c)); process.exitCode = 125"}, nil, "code 125"},
	{"a signal to itself", "main.mjs", map[string]string{"main.mjs": "process.stdout.write('last\\n'); process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)"}, nil, "last"},
	{"an abort of its own", "main.mjs", map[string]string{"main.mjs": "process.stdout.write('last\\n'); process.kill(process.pid, 'SIGABRT'); setInterval(() => {}, 1000)"}, nil, "last"},
	{"much output", "main.mjs", map[string]string{"main.mjs": "process.stdout.write('0123456789abcdef'.repeat(40000)); process.stderr.write('e'.repeat(100000))"}, nil, "0123456789abcdef"},
	{"an await that never ends", "main.mjs", map[string]string{"main.mjs": "console.log('waits'); await new Promise(() => {})"}, nil, "waits"},
}

// TestEverydayProgramsUnderDash runs each of them twice.
func TestEverydayProgramsUnderDash(t *testing.T) {
	learnUnderDash(t)
	for _, row := range everyday {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			underDash.prepare(w)
			w.program(row.files)
			w.spec.Entry, w.spec.Args = row.entry, row.args
			e := w.executor()
			w.pin(e)
			got, want := w.underDash(e), w.plainly(row.files)
			if got != want {
				t.Errorf("under dash\n%.2000s\nplain Node\n%.2000s", got, want)
			}
			if !strings.Contains(want, row.holds) {
				t.Errorf("plain Node does not say %q:\n%.2000s", row.holds, want)
			}
		})
	}
}

// TestPlainNodeIsAnother: the comparison sees a difference.
func TestPlainNodeIsAnother(t *testing.T) {
	w := newWorld(t)
	underDash.prepare(w)
	w.main("console.log(1)")
	e := w.executor()
	w.pin(e)
	if got, other := w.underDash(e), w.plainly(map[string]string{"main.mjs": "console.log(2)"}); got == other || !strings.HasPrefix(got, "0 1\n") {
		t.Errorf("%q and %q", got, other)
	}
}

// underDash is what a run of the world's program came to.
func (w *world) underDash(e *Executor) string {
	w.t.Helper()
	r, ok := w.run(e).(Observed)
	if !ok || !r.Attributable || r.Process.Exit == nil {
		w.t.Fatalf("%+v", r)
	}
	end := ""
	if c := r.Process.Exit.Code; c != nil {
		end = fmt.Sprint(*c)
	} else {
		end = *r.Process.Exit.Signal
	}
	return strings.ReplaceAll(fmt.Sprintf("%s %s\n%s", end, r.Process.Stdout.Bytes(), r.Process.Stderr.Bytes()), w.slot(), "<slot>")
}

// plainly is what plain Node makes of the same files, in a tree of the same form.
func (w *world) plainly(files map[string]string) string {
	slot := filepath.Join(w.state, "plain")
	for _, dir := range []string{"", "program", "program/lib", "input", "home"} {
		w.must(os.Mkdir(filepath.Join(slot, dir), 0o700))
	}
	for name, content := range files {
		w.must(write(filepath.Join(slot, "program", name), []byte(content), 0o600))
	}
	w.must(write(filepath.Join(slot, "input/in.txt"), []byte("input\n"), 0o600))
	home := filepath.Join(slot, "home")
	cmd := osexec.Command(w.node, append([]string{filepath.Join(slot, "program", w.spec.Entry)}, w.spec.Args...)...)
	cmd.Dir = filepath.Join(slot, "input")
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "HOME=" + home, "TMPDIR=" + home, "OPENSSL_CONF=/dev/null"}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(""), &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	end := fmt.Sprint(cmd.ProcessState.ExitCode())
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		end = unix.SignalName(status.Signal())
	}
	return strings.ReplaceAll(fmt.Sprintf("%s %s\n%s", end, stdout.Bytes(), stderr.Bytes()), slot, "<slot>")
}
