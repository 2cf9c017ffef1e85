package prove

import (
	"context"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNativeTable: on each system every row's act is in the sources that are compiled there, and every act of the sources is in a row somewhere.
func TestNativeTable(t *testing.T) {
	used := map[string]bool{}
	for _, host := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}} {
		acts := actsOf(t, host[0])
		for _, p := range ProbesOn(host[0], host[1]) {
			act, _, _ := strings.Cut(p.Act, " ")
			if p.Kind != Native {
				continue
			}
			if used[act] = true; !acts[act] {
				t.Errorf("%s: the sources for %s have no act %q", p.Name, host[0], act)
			}
			if strings.ContainsAny(p.Act, "\t\n") {
				t.Errorf("%s: the list of acts cannot hold %q", p.Name, p.Act)
			}
		}
	}
	if actsOf(t, "darwin")["by_self_link"] || actsOf(t, "linux")["look_up"] {
		t.Error("an act is taken for one of a system that does not compile it")
	}
	for _, goos := range []string{"linux", "darwin"} {
		for act := range actsOf(t, goos) {
			if !used[act] {
				t.Errorf("no row has the act %q of %s", act, goos)
			}
		}
	}
}

// actsOf are the acts in the sources for a system: what stands between #ifdef __linux__ and #endif is Linux's alone, and after an #else within it
// everybody else's.
func actsOf(t *testing.T, goos string) map[string]bool {
	t.Helper()
	acts := map[string]bool{}
	for _, name := range probeSources(goos) {
		text, err := fs.ReadFile(cSources, "native/"+name)
		if err != nil {
			t.Fatal(err)
		}
		var hidden []bool // by each condition around a line
		found := 0
		for line := range strings.Lines(string(text)) {
			switch {
			case strings.HasPrefix(line, "#if"):
				hidden = append(hidden, strings.HasPrefix(line, "#ifdef __linux__") && goos != "linux")
			case strings.HasPrefix(line, "#else"):
				hidden[len(hidden)-1] = !hidden[len(hidden)-1]
			case strings.HasPrefix(line, "#endif"):
				hidden = hidden[:len(hidden)-1]
			case !slices.Contains(hidden, true):
				for _, act := range regexp.MustCompile(`(?:ACT|LASTING)\((\w+)\)|\{"(\w+)", \w+, 0\}`).FindAllStringSubmatch(line, -1) {
					acts[act[1]+act[2]] = true
					found++
				}
			}
		}
		if found == 0 && name != "probe.c" {
			t.Errorf("%s has no acts for %s", name, goos)
		}
	}
	return acts
}

// TestNoWarnings: the compiler has nothing to say about the sources, however much it is asked, nor about those for a system that is no Linux.
func TestNoWarnings(t *testing.T) {
	dir := t.TempDir()
	if err := writeSources(dir); err != nil {
		t.Fatal(err)
	}
	for goos, words := range map[string][]string{"linux": nil, "darwin": {"-U__linux__"}} {
		build := osexec.CommandContext(t.Context(), "cc", slices.Concat(compilerFlags(), words, []string{"-Wextra", "-Werror", "-fsyntax-only", "addon.c"}, probeSources(goos))...)
		build.Dir = dir
		if said, err := build.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("for %s: %v\n%s", goos, err, said)
		}
	}
}

// TestNothingOfLinux: what is compiled on macOS includes no header that only Linux has, and names no place that only Linux has.
func TestNothingOfLinux(t *testing.T) {
	dir := t.TempDir()
	if err := writeSources(dir); err != nil {
		t.Fatal(err)
	}
	for goos, clean := range map[string]bool{"darwin": true, "linux": false} { // of Linux itself both are found
		words := map[string][]string{"darwin": {"-U__linux__"}}[goos]
		build := osexec.CommandContext(t.Context(), "cc", slices.Concat([]string{"-std=gnu17", "-fdirectives-only", "-E", "-P"}, words, probeSources(goos))...)
		build.Dir = dir
		text, err := build.Output()
		if err != nil {
			t.Fatal(err)
		}
		deps := osexec.CommandContext(t.Context(), "cc", slices.Concat([]string{"-std=gnu17", "-H", "-fsyntax-only"}, words, probeSources(goos))...)
		deps.Dir = dir
		included, err := deps.CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		header := regexp.MustCompile(`(?m)^\. \S*/(linux/\S+|sys/(prctl|sendfile|epoll|eventfd|timerfd|personality|inotify|fanotify|syscall|xattr|statfs)\.h)$`).Find(included)
		if place := regexp.MustCompile(`"/proc\b|"/dev/shm`).Find(text); (place == nil && header == nil) != clean {
			t.Errorf("for %s: a place %q, a header %q", goos, place, header)
		}
	}
}

// TestCompile: the probe is an executable, and a host without a compiler is told so.
func TestCompile(t *testing.T) {
	out := filepath.Join(t.TempDir(), "probe")
	compiler, err := compileProbe(t.Context(), out)
	if err != nil || !regexp.MustCompile(`\d+\.\d+`).MatchString(compiler) {
		t.Fatalf("%q, %v", compiler, err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := compile(t.Context(), out, false, "absent.c"); err == nil || !strings.Contains(err.Error(), "absent.c") {
		t.Errorf("without a source: %v", err)
	}
	cancelled, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // in the middle of it, or before
	defer cancel()
	if _, err := compileProbe(cancelled, out+"-2"); err == nil {
		t.Error("a compiler that nothing ends")
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("left beside the probe: %v, %v", left, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := compileProbe(t.Context(), out); err != errNoCompiler {
		t.Errorf("without a compiler on %s: %v", runtime.GOOS, err)
	}
}
