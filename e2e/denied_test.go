//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// failures are ordinary ways to fail inside, one or more for each line, by what docs/denied.md says that Node says.
func failures() map[string][]string {
	return map[string][]string{
		"spawn EPERM":                                             {`await once(cp.spawn('ls'), 'exit')`},
		"spawnSync … EPERM":                                       {`cp.execFileSync('/bin/ls')`},
		"connect EPERM …":                                         {`await once(http.get('http://127.0.0.1:9/'), 'response')`},
		"fetch failed":                                            {`await fetch('http://confined.invalid/')`},
		"getaddrinfo EAI_AGAIN …":                                 {`await dns.promises.lookup('confined.invalid')`},
		"getaddrinfo ENOTFOUND …":                                 {`await dns.promises.lookup('localhost', { family: 4 })`},
		"queryA ECONNREFUSED …":                                   {`await dns.promises.resolve4('confined.invalid')`},
		"listen EPERM: operation not permitted …":                 {`await once(net.createServer().listen(0), 'listening')`},
		"bind EPERM …":                                            {`await once(dgram.createSocket('udp4').bind(0), 'listening')`, `const s = dgram.createSocket('udp4'); s.send('x', 9, '127.0.0.1'); await once(s, 'message')`},
		"EROFS: read-only file system, open '…'":                  {`fs.writeFileSync(os.tmpdir() + '/out.txt', '')`},
		"EACCES: permission denied, open '…'":                     {`fs.appendFileSync('data.txt', '')`},
		"EPERM: operation not permitted, mkdir '…'":               {`fs.mkdirSync('made')`, `fs.mkdirSync('.', { recursive: true })`},
		"EPERM: operation not permitted, unlink '…'":              {`fs.unlinkSync('data.txt')`},
		"EROFS: read-only file system, open '/dev/stdout'":        {`fs.writeFileSync('/dev/stdout', '')`},
		"EPERM, Operation not permitted: …":                       {`fs.rmSync('data.txt')`, `fs.rmSync('.', { recursive: true })`},
		"ENOTDIR: not a directory, scandir '…'":                   {`await fs.promises.rm('data.txt')`},
		"EPERM, Operation not permitted '…'":                      {`fs.cpSync('.', 'copied', { recursive: true })`},
		"EPERM: operation not permitted, fsync":                   {`fs.fsyncSync(fs.openSync('data.txt'))`},
		"EPERM: operation not permitted, fdatasync":               {`fs.fdatasyncSync(fs.openSync('data.txt'))`},
		"ENOENT: no such file or directory, open '/dev/stdin'":    {`fs.readFileSync('/dev/stdin')`},
		"ENOENT: no such file or directory, open '…'":             {`fs.readFileSync('/etc/hostname')`, `fs.writeFileSync('/srv/x', '')`},
		"EACCES: permission denied, scandir '/'":                  {`fs.readdirSync('/')`},
		"EPERM: operation not permitted, watch '…'":               {`fs.watch('.')`},
		"EPERM: operation not permitted, statfs '…'":              {`fs.statfsSync('.')`},
		"… failed to map segment from shared object":              {`process.dlopen({ exports: {} }, process.argv[1].replace('main.mjs', 'addon.node'))`},
		"uv_os_get_passwd returned ENOENT":                        {`os.userInfo()`},
		"uv_interface_addresses returned Unknown system error 1":  {`os.networkInterfaces()`},
		"uv_os_setpriority returned EPERM":                        {`os.setPriority(5)`},
		"kill EPERM":                                              {`process.kill(process.ppid, 0)`},
		"EPERM, Operation not permitted":                          {`process.setuid(0)`, `process.setgroups([0])`, `process.execve('/bin/ls')`},
		"unable to open database file":                            {`new DatabaseSync('new.db').exec('create table t (x)')`},
		"Starting inspector on … failed: operation not permitted": {`inspector.open(0)`},
	}
}

// TestDeniedIndex: whoever looks up what Node said in docs/denied.md finds it. One
// program fails in each of the ways that are listed there, and says so in those words.
func TestDeniedIndex(t *testing.T) {
	t.Parallel()
	doc, err := readText(filepath.Join(shared.repo, "docs", "denied.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\|.*\\|$").FindAllStringSubmatch(section(t, doc, "If your program fails inside"), -1) {
		listed[row[1]] = true
	}
	source := strings.Builder{}
	for _, module := range []string{"fs", "os", "net", "http", "dns", "dgram", "inspector"} {
		fmt.Fprintf(&source, "import %s from 'node:%s';\n", module, module)
	}
	source.WriteString("import cp from 'node:child_process';\nimport { once } from 'node:events';\nimport { DatabaseSync } from 'node:sqlite';\n")
	for says, acts := range failures() {
		if !listed[says] {
			t.Errorf("docs/denied.md does not list %q", says)
		}
		delete(listed, says)
		for _, act := range acts {
			fmt.Fprintf(&source, "try { %s } catch (error) { console.error(`%s => ${error.message}`) }\n", act, says)
		}
	}
	for says := range listed {
		t.Errorf("docs/denied.md lists %q, of which nothing is known here", says)
	}
	d := startDaemon(t)
	r := d.script(t, source.String()+"process.exit()")
	r.program["addon.node"], r.input = d.library(t), files{"data.txt": "some data"}
	got, _, _ := d.postRun(t, r)
	d.mustBeRight(t, r, got)
	said := d.outcome(t, got).stderr
	for says, acts := range failures() {
		words := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(says), "…", ".+")
		if !strings.HasPrefix(says, "Starting") { // that is no error: Node prints it, and goes on
			words = "(?m)^" + regexp.QuoteMeta(says) + " => .*" + strings.ReplaceAll(regexp.QuoteMeta(says), "…", ".+")
		}
		if n := len(regexp.MustCompile(words).FindAllString(said, -1)); n != len(acts) {
			t.Errorf("Node said %q %d times, not %d", says, n, len(acts))
		}
	}
	if t.Failed() {
		t.Log(said)
	}
}

// section is the part of a Markdown text under one heading, up to the next.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, below, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("there is no heading %q", heading)
	}
	inside, _, _ := strings.Cut(below, "\n## ")
	return inside
}

// library is a shared library of the runtime, which is native code that this
// host can load.
func (d *daemon) library(t *testing.T) string {
	t.Helper()
	runtime := decode[struct{ Files []struct{ Path string } }](t, d.get(t, "/v1/runtime").body)
	for _, f := range runtime.Files {
		if strings.Contains(f.Path, "/libm.") {
			content, err := readText(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
	t.Fatalf("no library of mathematics is in the runtime: %v", runtime.Files)
	return ""
}
