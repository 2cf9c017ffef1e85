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

// TestNativeTable: every act of the sources is in a row, every row's act is in the sources, and the sources are those that are compiled.
func TestNativeTable(t *testing.T) {
	files, err := fs.Glob(cSources, "native/*.c")
	if err != nil {
		t.Fatal(err)
	}
	acts, compiled := map[string]bool{}, strings.Join(probeSources(), " ")
	for _, path := range files {
		text, err := fs.ReadFile(cSources, path)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?:ACT|LASTING)\((\w+)\)|\{"(\w+)", \w+, 0\}`).FindAllStringSubmatch(string(text), -1)
		for _, act := range found {
			acts[act[1]+act[2]] = false
		}
		if used := strings.Contains(compiled, filepath.Base(path)); used != (len(found) > 0 || strings.HasSuffix(path, "/probe.c")) {
			t.Errorf("%s: %d acts, compiled into the probe: %v", path, len(found), used)
		}
	}
	for _, p := range append(nativeProbes("linux", "amd64"), soloActs("amd64")...) {
		act, _, _ := strings.Cut(p.Act, " ")
		if _, known := acts[act]; !known {
			t.Errorf("%s: the sources have no act %q", p.Name, act)
		}
		acts[act] = true
		if strings.ContainsAny(p.Act, "\t\n") {
			t.Errorf("%s: the list of acts cannot hold %q", p.Name, p.Act)
		}
	}
	for act, used := range acts {
		if !used {
			t.Errorf("no row has the act %q", act)
		}
	}
}

// TestNoWarnings: the compiler has nothing to say about the sources, however much it is asked.
func TestNoWarnings(t *testing.T) {
	dir := t.TempDir()
	if err := writeSources(dir); err != nil {
		t.Fatal(err)
	}
	build := osexec.CommandContext(t.Context(), "cc", slices.Concat(compilerFlags(), []string{"-Wextra", "-Werror", "-fsyntax-only", "addon.c"}, probeSources())...)
	build.Dir = dir
	if said, err := build.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v\n%s", err, said)
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
