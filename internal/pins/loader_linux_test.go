package pins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// hostLoader is the loader of glibc on this host.
func hostLoader(t *testing.T) string {
	t.Helper()
	path := map[string]string{"amd64": "/lib64/ld-linux-x86-64.so.2", "arm64": "/lib/ld-linux-aarch64.so.1"}[runtime.GOARCH]
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: the tests compare with the loader of glibc: run them on a distribution that has it", err)
	}
	return path
}

// loaderSays runs ld.so on a program without its cache, and returns the canonical paths of all it would map, the program
// too. The second result is false when ld.so finds that it cannot start the program.
func loaderSays(t *testing.T, program string) ([]string, bool) {
	t.Helper()
	cmd := exec.Command(hostLoader(t), "--inhibit-cache", "--list", program)
	cmd.Env = []string{}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err != nil || bytes.Contains(out, []byte("not found")) {
		return nil, false
	}
	return canonical(t, append(listed(string(out)), program)), true
}

// listed are the paths in what `ld.so --list` prints: "name => path (address)", or "path (address)".
func listed(out string) []string {
	var paths []string
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		path := words[0]
		if len(words) > 2 && words[1] == "=>" {
			path = words[2]
		}
		if strings.HasPrefix(path, "/") { // and not the kernel's linux-vdso.so.1
			paths = append(paths, path)
		}
	}
	return paths
}

func canonical(t *testing.T, paths []string) []string {
	t.Helper()
	for i, p := range paths {
		var err error
		if paths[i], err = filepath.EvalSymlinks(p); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// difference says how a closure differs from what ld.so maps, or is empty.
func difference(c Closure, loader []string) string {
	var ours []string
	for _, f := range c.Files {
		ours = append(ours, f.Path)
	}
	if slices.Equal(ours, loader) {
		return ""
	}
	return fmt.Sprintf("closure %q\nld.so   %q", ours, loader)
}

// TestNodeAgainstLoader: ld.so itself gives the same closure, of the pinned Node and of the host's where there is one.
func TestNodeAgainstLoader(t *testing.T) {
	nodes := []string{pinnedNode(t)}
	if _, err := exec.Command("/usr/bin/node", "--version").Output(); err == nil {
		nodes = append(nodes, "/usr/bin/node")
	}
	for _, node := range nodes {
		c, err := TakeClosure(context.Background(), node, openLauncher(t))
		if err != nil {
			t.Errorf("%s: %v", node, err)
			continue
		}
		loader, works := loaderSays(t, c.Node)
		if problem := difference(c, loader); !works || problem != "" {
			t.Errorf("%s: %s", node, problem)
		}
		if len(c.Files) < 5 || difference(c, loader[1:]) == "" {
			t.Errorf("%s: the comparison would not see a library that is missing from %q", node, loader)
		}
	}
}

// compiled is a program named node and its libraries, linked in a directory of their own of one object.
type compiled struct {
	t      *testing.T
	dir    string
	object string
}

// compile has the C compiler make the object.
func compile(t *testing.T) compiled {
	t.Helper()
	c := compiled{t: t, dir: canonicalTemp(t)}
	c.object = filepath.Join(c.dir, "source.o")
	source := filepath.Join(c.dir, "source.c")
	writeFile(t, source, []byte("int main(void) { return 42; }\n"))
	c.cc("-c", "-fPIC", "-o", c.object, source)
	return c
}

// anew is the same object with another directory.
func (c compiled) anew() compiled {
	c.dir = canonicalTemp(c.t)
	return c
}

func (c compiled) cc(args ...string) {
	c.t.Helper()
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		c.t.Fatalf("cc: %v: install a C compiler (gcc)\n%s", err, out)
	}
}

// build links a program, or with -shared a library, to path. flags may use $D for the directory.
func (c compiled) build(path string, flags ...string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.dir, path)), 0o700); err != nil {
		c.t.Fatal(err)
	}
	args := []string{"-o", filepath.Join(c.dir, path), c.object, "-Wl,--no-as-needed"}
	for _, f := range flags {
		args = append(args, strings.ReplaceAll(f, "$D", c.dir))
	}
	c.cc(args...)
}

// lib builds a library with that soname ("" for none).
func (c compiled) lib(path, soname string, flags ...string) {
	c.t.Helper()
	if soname != "" {
		flags = append(flags, "-Wl,-soname,"+soname)
	}
	c.build(path, append([]string{"-shared"}, flags...)...)
}

// copied puts a library of another directory into one of c's.
func (c compiled) copied(name string, from compiled, into string) {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join(from.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	writeFile(c.t, filepath.Join(c.dir, into, name), content)
}

func (c compiled) edit(path string, edit func([]byte) []byte) {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		c.t.Fatal(err)
	}
	writeFile(c.t, filepath.Join(c.dir, path), edit(content))
}

const (
	oldTags = "-Wl,--disable-new-dtags" // RPATH
	newTags = "-Wl,--enable-new-dtags"  // RUNPATH
)

func runPath(path string) string { return "-Wl,-rpath," + path }

// loaderRow is a program whose library libm1.so, in mid/, needs libc1.so, of which d1/ and d2/ hold one each.
type loaderRow struct {
	name  string
	build func(c compiled) // mid/libm1.so and node
	works bool             // ld.so can start it
	want  string           // a file that is then part of the closure
}

func loaderRows() []loaderRow {
	mid := func(flags ...string) func(compiled) {
		return func(c compiled) {
			c.lib("mid/libm1.so", "libm1.so", append(flags, "$D/d1/libc1.so")...)
		}
	}
	node := func(flags ...string) func(compiled) {
		return func(c compiled) {
			c.build("node", append(flags, "$D/mid/libm1.so", "-Wl,--allow-shlib-undefined")...)
		}
	}
	both := func(builds ...func(compiled)) func(compiled) {
		return func(c compiled) {
			for _, b := range builds {
				b(c)
			}
		}
	}
	return []loaderRow{
		{"RUNPATH of the library", both(mid(newTags, runPath("$D/d2")), node(newTags, runPath("$D/mid"))), true, "d2/libc1.so"},
		{"RUNPATH of the program is for its own needs", both(mid(), node(newTags, runPath("$D/mid:$D/d1"))), false, ""},
		{"RPATH of the program is for all", both(mid(), node(oldTags, runPath("$D/mid:$D/d1"))), true, "d1/libc1.so"},
		{"RPATH of the library comes first", both(mid(oldTags, runPath("$D/d2")), node(oldTags, runPath("$D/mid:$D/d1"))), true, "d2/libc1.so"},
		{"RUNPATH of the library hides the program's RPATH", both(mid(newTags, runPath("$D/none")), node(oldTags, runPath("$D/mid:$D/d1"))), false, ""},
		{"RUNPATH of the library before the program's RPATH", both(mid(newTags, runPath("$D/d2")), node(oldTags, runPath("$D/mid:$D/d1"))), true, "d2/libc1.so"},
		{"$ORIGIN", both(mid(newTags, runPath("$ORIGIN/../d2")), node(newTags, runPath("$ORIGIN/mid"))), true, "d2/libc1.so"},
		{"${ORIGIN} in an RPATH", both(mid(oldTags, runPath("${ORIGIN}/../d2/")), node(oldTags, runPath("${ORIGIN}/mid/"))), true, "d2/libc1.so"},
		{"$ORIGIN of a symlink is where the symlink is", both(mid(newTags, runPath("$ORIGIN/beside")), func(c compiled) {
			c.lib("links/beside/libc1.so", "libc1.so")
			c.lib("mid/beside/libc1.so", "libc1.so")
			symlink(c.t, "../mid/libm1.so", c.dir+"/links/libm1.so")
		}, node(newTags, runPath("$D/links"))), true, "links/beside/libc1.so"},
		{"a name that is a path", both(func(c compiled) {
			c.lib("d2/libnosoname.so", "")
			c.lib("mid/libm1.so", "libm1.so", "$D/d2/libnosoname.so")
		}, node(newTags, runPath("$D/mid"))), true, "d2/libnosoname.so"},
		{"known by its soname", func(c compiled) { // which no file is called by
			c.lib("d2/libreal.so", "libother.so.9")
			c.lib("mid/libm1.so", "libm1.so", "$D/d2/libreal.so")
			c.lib("d2/libreal.so", "libreal.so")
			node("$D/d2/libreal.so", newTags, runPath("$D/d2:$D/mid"))(c)
			c.lib("d2/libreal.so", "libother.so.9")
		}, true, "d2/libreal.so"},
		{"no default directories", both(mid(newTags, runPath("$D/d1"), "-Wl,-z,nodefaultlib"), node(newTags, runPath("$D/mid"))), true, "d1/libc1.so"},
		{"no default directories for the program", both(mid(newTags, runPath("$D/d1")), node(newTags, runPath("$D/mid"), "-Wl,-z,nodefaultlib")), false, ""},
		{"another machine is passed over", both(mid(newTags, runPath("$D/arm:$D/d2")), func(c compiled) {
			c.lib("arm/libc1.so", "libc1.so")
			c.edit("arm/libc1.so", put16(atMachine, 0xffff))
		}, node(newTags, runPath("$D/mid"))), true, "d2/libc1.so"},
		{"another class is passed over", both(mid(newTags, runPath("$D/bits32:$D/d2")), func(c compiled) {
			c.lib("bits32/libc1.so", "libc1.so")
			c.edit("bits32/libc1.so", put8(4, 1))
		}, node(newTags, runPath("$D/mid"))), true, "d2/libc1.so"},
		{"text is not passed over", both(mid(newTags, runPath("$D/text:$D/d2")), func(c compiled) {
			writeFile(c.t, c.dir+"/text/libc1.so", []byte("GROUP ( libc1.so.1 ) and so on, as long as a header of ELF is\n"))
		}, node(newTags, runPath("$D/mid"))), false, ""},
		{"a file is no directory", both(mid(newTags, runPath("$D/d1/libc1.so:$D/d2")), node(newTags, runPath("$D/mid"))), true, "d2/libc1.so"},
	}
}

// TestAgainstLoader builds programs with the C compiler: each closure is what ld.so maps, or both find it cannot be had.
func TestAgainstLoader(t *testing.T) {
	object := compile(t)
	object.lib("libc1.so", "libc1.so")
	for _, row := range loaderRows() {
		c := object.anew()
		c.copied("libc1.so", object, "d1")
		c.copied("libc1.so", object, "d2")
		row.build(c)
		node := c.dir + "/node"
		loader, works := loaderSays(t, node)
		if works != row.works {
			t.Errorf("%s: ld.so can start it: %v, the row says %v", row.name, works, row.works)
		}
		got, err := TakeClosure(context.Background(), node, openLauncher(t))
		var unavailable *UnavailableError
		switch {
		case !works && !errors.As(err, &unavailable):
			t.Errorf("%s: %v, but ld.so cannot start it", row.name, err)
		case works && (err != nil || difference(got, loader) != ""):
			t.Errorf("%s: %v %s", row.name, err, difference(got, loader))
		case works && !slices.Contains(loader, c.dir+"/"+row.want):
			t.Errorf("%s: the closure does not hold %s: %q", row.name, row.want, loader)
		}
	}
}

// TestClosureIsEnough copies a closure's files and symlinks into an empty directory and starts the program with that
// directory as its root: it runs, and without any one of the files or symlinks it does not.
func TestClosureIsEnough(t *testing.T) {
	c := compile(t)
	c.lib("real/libc1.so.1", "libc1.so")
	symlink(t, "../real/libc1.so.1", c.dir+"/links/libc1.so")
	symlink(t, "links", c.dir+"/alias")
	c.lib("mid/libm1.so", "libm1.so", newTags, runPath("$D/alias"), "$D/alias/libc1.so")
	c.build("node", newTags, runPath("$D/mid"), "$D/mid/libm1.so", "-Wl,--allow-shlib-undefined")
	closure, err := TakeClosure(context.Background(), c.dir+"/node", openLauncher(t))
	if err != nil {
		t.Fatal(err)
	}
	if code := runInCopy(t, closure, ""); code != 42 {
		t.Errorf("in a tree of the closure the program exits %d, want 42", code)
	}
	for _, f := range closure.Files {
		if code := runInCopy(t, closure, f.Path); code == 42 {
			t.Errorf("the program runs without %s", f.Path)
		}
	}
	for _, a := range closure.Aliases {
		if code := runInCopy(t, closure, a.Path); code == 42 {
			t.Errorf("the program runs without the symlink %s", a.Path)
		}
	}
}

// TestOriginNeedsProcExe: a program that names its libraries by $ORIGIN starts where /proc/self/exe is a plain symlink to
// it, and does not where that is missing.
func TestOriginNeedsProcExe(t *testing.T) {
	rows := []struct {
		name  string
		flags []string // of the program
		needs bool
	}{
		{"absolute", []string{newTags, runPath("$D/mid")}, false},
		{"RUNPATH", []string{newTags, runPath("$ORIGIN/mid")}, true},
		{"RPATH", []string{oldTags, runPath("$ORIGIN/mid")}, true},
	}
	object := compile(t)
	for _, row := range rows {
		c := object.anew()
		c.lib("mid/deep/libc1.so", "libc1.so")
		c.lib("mid/libm1.so", "libm1.so", "$D/mid/deep/libc1.so", newTags, runPath("$ORIGIN/deep"))
		c.build("node", append(row.flags, "$D/mid/libm1.so", "-Wl,--allow-shlib-undefined")...)
		closure, err := TakeClosure(context.Background(), c.dir+"/node", openLauncher(t))
		if err != nil {
			t.Fatal(err)
		}
		if code := runInCopy(t, closure, ""); (code == 42) == row.needs {
			t.Errorf("%s: without /proc the program exits %d", row.name, code)
		}
		closure.Aliases = append(closure.Aliases, Alias{Path: "/proc/self/exe", Target: closure.Node})
		if code := runInCopy(t, closure, ""); code != 42 {
			t.Errorf("%s: with the symlink the program exits %d", row.name, code)
		}
	}
}

// runInCopy starts the closure's program in a tree of all but one of its files and symlinks, and returns its exit code,
// or -1 when it could not be started.
func runInCopy(t *testing.T, c Closure, without string) int {
	t.Helper()
	root := canonicalTemp(t)
	for _, f := range c.Files {
		content, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if f.Path != without {
			writeFile(t, root+f.Path, content)
			if err := os.Chmod(root+f.Path, 0o500); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, a := range c.Aliases {
		if a.Path != without {
			symlink(t, a.Target, root+a.Path)
		}
	}
	cmd := exec.Command(c.Node)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: root, Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	case errors.Is(err, syscall.ENOENT):
		return -1
	}
	t.Fatalf("%v: the tests need user namespaces, as confined does", err)
	return 0
}
