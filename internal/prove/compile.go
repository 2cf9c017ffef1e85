package prove

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// errNoCompiler says that the native acts cannot be tried, since nothing here can build them.
var errNoCompiler = errors.New("no C compiler can be used: " + CompilerCure(runtime.GOOS))

// CompilerCure is how a host gets what the native acts are built with, for people.
func CompilerCure(goos string) string {
	if goos == "darwin" {
		return "install Apple's command line tools, which have clang and otool (xcode-select --install)"
	}
	return "install a C compiler and its headers (Debian, Ubuntu: gcc libc6-dev; Fedora: gcc glibc-devel; Alpine: build-base)"
}

// compile builds the named sources of the native directory into out, an executable or, shared, a library, and says which compiler did. It is
// errNoCompiler if there is none; any other error carries the compiler's words. Nothing but out is left behind: what the compiler's parts write
// lies beside out until they have ended, all of them with ctx.
func compile(ctx context.Context, out string, shared bool, sources ...string) (compiler string, err error) {
	cc, err := findCompiler()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(out), "native-")
	if err != nil {
		return "", fmt.Errorf("compile: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := writeSources(dir); err != nil {
		return "", fmt.Errorf("compile: %w", err)
	}
	words := append(compilerFlags(), "-o", out)
	if shared {
		words = append(words, sharedFlags(runtime.GOOS)...)
	}
	build := as(us(), osexec.CommandContext(ctx, cc, append(words, sources...)...))
	build.Cancel = func() error { return syscall.Kill(-build.Process.Pid, syscall.SIGKILL) }
	build.Dir, build.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile: %s: %w\n%s", cc, err, said)
	}
	version, err := osexec.CommandContext(ctx, cc, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("compile: %s --version: %w", cc, err)
	}
	compiler, _, _ = strings.Cut(string(version), "\n")
	return compiler, nil
}

// compilerFlags are those of all that is compiled here.
func compilerFlags() []string { return []string{"-std=gnu17", "-O1", "-Wall", "-pthread"} }

// sharedFlags make a library of it, which is what Node and SQLite load.
func sharedFlags(goos string) []string {
	if goos == "darwin" {
		return []string{"-dynamiclib", "-fPIC"}
	}
	return []string{"-shared", "-fPIC"}
}

// clangPath is Apple's compiler, or what stands there in its place, see [hasTool].
const clangPath = "/usr/bin/clang"

func findCompiler() (string, error) {
	if runtime.GOOS == "darwin" {
		if !hasTool(clangPath) {
			return "", errNoCompiler
		}
		return clangPath, nil
	}
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := osexec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoCompiler
}

// writeSources writes all sources, since they include each other.
func writeSources(dir string) error {
	within, err := fs.Sub(cSources, "native")
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(within, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		content, err := fs.ReadFile(within, e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
