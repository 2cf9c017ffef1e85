package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"confined/internal/confine"
)

// seatbeltSources are the stand-ins for sandbox-exec, and for the one denial.
const seatbeltSources = "../confine/testdata/"

// compiling keeps two rows from compiling the same.
var compiling sync.Mutex

// denying is the boundary with the stand-in that denies what the preload looks
// for.
func denying(t testing.TB) standInMac { return variant(t, "DENYING") }

// variant is the boundary with a stand-in for sandbox-exec that behaves in one
// of the ways of standin.c.
func variant(t testing.TB, name string) standInMac {
	t.Helper()
	dir := buildStandIn(t)
	compiling.Lock()
	defer compiling.Unlock()
	library := filepath.Join(dir, "deny.so")
	compileOnce(t, library, "-shared", "-fPIC", seatbeltSources+"deny.c", "-ldl")
	own := filepath.Join(dir, name)
	if err := os.Mkdir(own, 0o755); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	path := filepath.Join(own, "sandbox-exec")
	compileOnce(t, path, "-DVARIANT="+name, fmt.Sprintf("-DLIBRARY=%q", library), `-DNAME="(deny default)"`, seatbeltSources+"standin.c")
	apple := confine.AppleTools()
	return standInMac{confine.Seatbelt{Tools: confine.Tools{Dash: realPath(t, apple.Dash), Env: realPath(t, apple.Env), SandboxExec: path}}}
}

// compileOnce makes a file of a C source, unless it is there.
func compileOnce(t testing.TB, path string, args ...string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := cc(append([]string{"-O1", "-Wall", "-o", path}, args...)...); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// realPath is the path of a tool as a launcher's must be: through no symlink, as
// /bin is one on many hosts.
func realPath(t testing.TB, path string) string {
	t.Helper()
	found, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatalf("the launch of macOS is tried with the real shell; install dash: %v", err)
	}
	return found
}

// byPath says whether what runs is found by its path while it starts, as on macOS,
// and not by what was opened before.
func (w *world) byPath() bool {
	_, mac := w.boundary.(standInMac)
	return mac
}
