package confine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestBrokenLaunchers has Launch execute something other than this program.
func TestBrokenLaunchers(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	copied := func(name string, content []byte, mode os.FileMode) *os.File {
		t.Helper()
		path := filepath.Join(s.dir, name)
		must(t, os.WriteFile(path, content, 0o600))
		must(t, os.Chmod(path, mode))
		return opened(t, path)
	}
	unlinked := copied("unlinked", self, 0o755)
	must(t, os.Remove(filepath.Join(s.dir, "unlinked")))
	closed := opened(t, "/proc/self/exe")
	must(t, closed.Close())
	if o, err := launchWith(t, i, unlinked); err != nil || o.control != limitLines("20", "64")+admittedRecord || o.stdout != "ran\n" {
		t.Errorf("the launcher is executed by handle, whatever became of its path: %v, %+v", err, o)
	}
	rows := []struct {
		name     string
		launcher *os.File
		want     string // what the launch says, or the process
	}{
		{"none", nil, "launch: fork/exec /proc/self/fd/4: no such file or directory"},
		{"closed", closed, "launch: fork/exec /proc/self/fd/4: no such file or directory"},
		{"not executable", copied("mode", self, 0o600), "launch: fork/exec /proc/self/fd/4: permission denied"},
		{"a directory", opened(t, s.dir), "launch: fork/exec /proc/self/fd/4: permission denied"},
		{"a text", copied("text", []byte("no program\n"), 0o755), "launch: fork/exec /proc/self/fd/4: exec format error"},
		{"cut short", copied("cut", self[:4096], 0o755), "signal: "},
		{"another program", opened(t, nodeClosure(t).Node), "exit status 1"},
	}
	before := census(t)
	for _, row := range rows {
		o, err := launchWith(t, i, row.launcher)
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			said = o.state.String()
		}
		if !strings.HasPrefix(said, row.want) || o.control != "" || strings.Contains(o.stdout, "ran") {
			t.Errorf("%s: %s, %+v", row.name, said, o)
		}
		if after := census(t); after != before {
			t.Errorf("%s: left over: %s, before %s", row.name, after, before)
		}
	}
	if p, err := Launch(Instance{}, unlinked); err == nil {
		t.Errorf("launched nothing as %+v", p)
	}
}

// opened is a file that is closed when the test ends.
func opened(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// launchWith opens the gate of whatever the launcher is.
func launchWith(t *testing.T, i Instance, launcher *os.File) (outcome, error) {
	t.Helper()
	runtime.LockOSThread()
	p, err := Launch(i, launcher)
	if err != nil {
		runtime.UnlockOSThread()
		return outcome{}, err
	}
	return running{p}.open(GoByte).finish(t), nil
}
