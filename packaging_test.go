package confined

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// onMac are the scripts that run on a Mac too: with bash 3.2, a sh that is bash or dash, and the tools that macOS has.
var onMac = []string{"check-generated.sh", "demo.sh", "fetch-node.sh", "fit-dir.sh", "need.sh", "proven.sh", "which-node.sh"}

// linuxOnly is what a Mac has not: tools, options of GNU's, and what bash learnt after 3.2. What stands behind a test of the system is not seen
// as such; fit-dir.sh asks the stat of Linux there.
var linuxOnly = regexp.MustCompile(`\b(sha\d+sum|md5sum|flock|setpriv|timeout|nproc|realpath|tac|mapfile|readarray|coproc)\b|\breadlink -[fem]|` +
	`\bstat -c|\bgrep -[a-zA-Z]*[PZz]|\bsort -[a-zA-Z]*[zV]|\bsed -i|\bdate -d|\bxargs -[a-zA-Z]*r|\bcp -[a-zA-Z]*[a]|\b(declare|local|typeset) -[a-zA-Z]*[An]|` +
	`\$\{[^}]*(,,|\^\^|@[A-Z])[^}]*\}|\|&|&>>|\bwait -n`)

func TestScriptsParse(t *testing.T) {
	scripts, err := filepath.Glob("packaging/*.sh")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, path := range scripts {
		text := readText(t, path)
		shells := []string{"bash"}
		if strings.HasPrefix(text, "#!/bin/sh\n") {
			shells = append(shells, "dash")
		}
		for _, shell := range shells {
			if out, err := exec.Command(shell, "-n", path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", path, err, out)
			}
		}
	}
	control := exec.Command("dash", "-n")
	control.Stdin = strings.NewReader("if true; then\n")
	if control.Run() == nil {
		t.Error("the control parses")
	}
}

func TestScriptsOfTheMacAreForIt(t *testing.T) {
	for _, name := range onMac {
		for _, line := range withoutComments(readText(t, "packaging/"+name)) {
			if found := linuxOnly.FindString(line); found != "" {
				t.Errorf("%s has %q, which macOS has not: %s", name, found, line)
			}
		}
	}
	for _, line := range []string{"x | sha256sum", "flock 9", "readlink -f x", "grep -rlZ x", "sort -z", "mapfile -t x", "echo ${x,,}", "declare -A x", "stat -c %s x", "x |& y"} {
		if !linuxOnly.MatchString(line) {
			t.Errorf("the control %q passes", line)
		}
	}
}

// TestOneNodeIsNamed: the Node of the tests is spelled in several places, which all mean the one that fetch-node.sh brings.
func TestOneNodeIsNamed(t *testing.T) {
	version := regexp.MustCompile(`(\.node/|-|/v|Node |Node.js |node-v)(\d+\.\d+\.\d+)\b`)
	want := version.FindStringSubmatch(readText(t, "packaging/fetch-node.sh"))[2]
	for path, times := range map[string]int{
		"packaging/load.sh": 1, "packaging/proven.sh": 1, "packaging/which-node.sh": 3, "README.md": 1, "docs/prove-on-mac.md": 4,
		"internal/pins/cure.go": 1,
	} {
		named := version.FindAllStringSubmatch(readText(t, path), -1)
		if len(named) != times {
			t.Errorf("%s names a Node %d times, and is known to do so %d times", path, len(named), times)
		}
		for _, n := range named {
			if n[2] != want {
				t.Errorf("%s names Node %s, and fetch-node.sh brings %s", path, n[2], want)
			}
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func withoutComments(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// mac is a Mac as far as scripts ask: tools that answer as macOS's are known to.
type mac map[string]string // by the tool's name, what it does as a script

func aMac(change mac) mac {
	m := mac{
		"uname":        `case $1 in -s) echo Darwin ;; -m) echo arm64 ;; -sm) echo Darwin arm64 ;; esac`,
		"id":           `echo 501`,
		"xcode-select": `echo /Library/Developer/CommandLineTools`,
		"node":         `exit 1`,
		"df":           `printf 'Filesystem 512-blocks Used Available Capacity Mounted on\n/dev/disk3s5 1 1 1 1%% /System/Volumes/Data\n'`,
		"stat":         `exit 1`,
		"mount": `echo '/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)'
echo '/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect, root data)'
echo '/dev/disk3s51 on /Volumes/x (hfs, local)'`,
	}
	for name, does := range change {
		m[name] = does
	}
	return m
}

// runs runs a script of packaging on that Mac and says what it said, and whether it succeeded.
func (m mac) runs(t *testing.T, shell string, environment []string, script string, args ...string) (stdout, stderr string, ok bool) {
	t.Helper()
	tools := t.TempDir()
	for name, does := range m {
		if does == "" {
			continue
		}
		if err := os.WriteFile(tools+"/"+name, []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(shell, append([]string{"packaging/" + script}, args...)...)
	cmd.Env = append(environment, "PATH="+tools+":/usr/bin:/bin", "HOME="+tools)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return strings.ReplaceAll(out.String(), tools, "TOOLS"), strings.ReplaceAll(errs.String(), tools, "TOOLS"), err == nil
}

func TestScriptsOnAMac(t *testing.T) {
	const rosetta = `case $1 in -s) echo Darwin ;; *) echo x86_64 ;; esac`
	place, err := filepath.EvalSymlinks("/tmp")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change mac
		env    []string
		script []string
		stdout string // all of it
		stderr string // a part; empty when there is none
		fails  bool
	}{
		"a Mac":             {script: []string{"need.sh", "host", "node"}},
		"under Rosetta":     {change: mac{"uname": rosetta}, script: []string{"need.sh", "host"}, stderr: "Apple silicon", fails: true},
		"as root":           {change: mac{"id": "echo 0"}, script: []string{"need.sh", "host"}, stderr: "an ordinary user", fails: true},
		"no clang":          {change: mac{"xcode-select": "exit 2"}, script: []string{"need.sh", "node"}, stderr: "xcode-select --install", fails: true},
		"what is for Linux": {script: []string{"need.sh", "linux"}, stderr: "docs/prove-on-mac.md", fails: true},
		"Linux":             {change: mac{"uname": "echo Linux"}, script: []string{"need.sh", "host", "linux"}},
		"another system":    {change: mac{"uname": "echo Plan9"}, script: []string{"need.sh", "host"}, stderr: "nothing runs on Plan9", fails: true},
		"Node in PATH":      {script: []string{"which-node.sh"}, stdout: "TOOLS/node\n"},
		"Node named":        {env: []string{"CONFINED_NODE=/bin/sh"}, script: []string{"which-node.sh"}, stdout: "/bin/sh\n"},
		"no such Node":      {env: []string{"CONFINED_NODE=/nowhere/node"}, script: []string{"which-node.sh"}, stderr: "there is no /nowhere/node", fails: true},
		"no pinned Node":    {script: []string{"fetch-node.sh"}, stderr: "no Node is built in for macOS", fails: true},
		"a root's place":    {script: []string{"fit-dir.sh"}, stdout: place + "\n"},
		"nowhere APFS":      {change: mac{"mount": "echo '/dev/disk3s5 on / (hfs, local)'"}, script: []string{"fit-dir.sh"}, stderr: "no writable directory on APFS", fails: true},
		"Linux's file system": {change: mac{"uname": "echo Linux", "stat": "echo tmpfs"}, script: []string{"fit-dir.sh"},
			stderr: "no writable directory on ext4, xfs or btrfs", fails: true},
	} {
		for _, shell := range []string{"bash", "dash"} {
			out, errs, ok := aMac(row.change).runs(t, shell, row.env, row.script[0], row.script[1:]...)
			if ok == row.fails || out != row.stdout || !strings.Contains(errs, row.stderr) || (row.stderr == "" && errs != "") {
				t.Errorf("%s, %s: ok %v, stdout %q, stderr %q", name, shell, ok, out, errs)
			}
		}
	}
}
