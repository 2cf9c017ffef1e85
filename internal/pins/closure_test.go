package pins

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestTakeClosure(t *testing.T) {
	tr := newTree(t)
	c := tr.mustTake()
	if c.Node != tr.at("opt/bin/node") || c.Interpreter != tr.at("lib64/ld-linux-x86-64.so.2") {
		t.Errorf("node %s, interpreter %s", c.Node, c.Interpreter)
	}
	want := []string{"opt/bin/node", "usr/lib/x/ld-linux-x86-64.so.2", "usr/lib/x/liba.so.1.2", "usr/lib/x/libb.so"}
	if got := tr.paths(c); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	aliases := []Alias{
		{tr.at("bin/node"), "../opt/bin/node"}, {tr.at("lib"), "usr/lib"}, {tr.at("lib64"), "usr/lib64"},
		{tr.at("usr/lib/x/liba.so.1"), "liba.so.1.2"}, {tr.at("usr/lib64/ld-linux-x86-64.so.2"), tr.at("lib/x/ld-linux-x86-64.so.2")},
	}
	if !slices.Equal(c.Aliases, aliases) {
		t.Errorf("aliases %q, want %q", c.Aliases, aliases)
	}
	for _, f := range append(c.Files, c.Launchers...) {
		content, err := os.ReadFile(f.Path)
		info, statErr := os.Stat(f.Path)
		if err != nil || statErr != nil {
			t.Fatal(err, statErr)
		}
		id, err := fileID(info)
		if err != nil || f.SHA256 != sha256.Sum256(content) || f.Size != int64(len(content)) || f.ID != id {
			t.Errorf("%s: %+v, want %+v and the hash of its content, %v", f.Path, f, id, err)
		}
	}
	if len(c.Launchers) != 1 || filepath.Base(c.Launchers[0].Path) != "launcher" {
		t.Errorf("launchers %+v", c.Launchers)
	}
}

// TestAnyWayToNode: the path that people give may lead through anything, since Node is started by its canonical one.
func TestAnyWayToNode(t *testing.T) {
	tr := newTree(t)
	tr.write("elsewhere/x", "")
	if c, err := tr.take("elsewhere/../bin/node"); err != nil || c.Node != tr.at("opt/bin/node") {
		t.Errorf("%s, %v", c.Node, err)
	}
}

func TestTakeClosureLeavesTheLauncherAlone(t *testing.T) {
	tr := newTree(t)
	launcher := openLauncher(t)
	if _, err := launcher[0].File.Seek(3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := (subject{tr.at("bin/node"), launcher, &elfHost{machineAMD64, tr.systemDirs()}}).take(context.Background(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if at, err := launcher[0].File.Seek(0, io.SeekCurrent); at != 3 || err != nil {
		t.Errorf("the launcher's offset is %d, %v", at, err)
	}
}

// refusalRow is a change to the good tree after which there is no closure. The wanted path, problem and cure are parts of
// what the error must say.
type refusalRow struct {
	name                string
	change              func(*tree)
	path, problem, cure string
}

func nodeRefusals() []refusalRow {
	node := func(edit func(*elfSpec)) func(*tree) {
		return func(tr *tree) {
			spec := tr.node
			edit(&spec)
			tr.elf("opt/bin/node", spec)
		}
	}
	return []refusalRow{
		{"missing", func(tr *tree) { tr.remove("opt/bin/node") }, "bin/node", "is not there", "node -p process.execPath"},
		{"below a file", func(tr *tree) { tr.link("../opt/bin/node/node", "bin/node") }, "bin/node", "is not there", "process.execPath"},
		{"a shim", func(tr *tree) { tr.write("opt/bin/node", "#!/bin/sh\nexec node\n") }, "bin/node", "is a script", "process.execPath"},
		{"a version manager", func(tr *tree) {
			tr.elf("opt/bin/volta-shim", tr.node)
			tr.link("../opt/bin/volta-shim", "bin/node")
		}, "bin/node", "opt/bin/volta-shim, which is not called node, as a version manager's shim is not", "process.execPath"},
		{"text", func(tr *tree) { tr.write("opt/bin/node", "hello") }, "bin/node", "is not an ELF file", "process.execPath"},
		{"empty", func(tr *tree) { tr.write("opt/bin/node", "") }, "bin/node", "is not an ELF file", "process.execPath"},
		{"a directory", func(tr *tree) { tr.remove("opt/bin/node"); tr.write("opt/bin/node/x", "") }, "opt/bin/node", "is no regular file (d", "process.execPath"},
		{"a FIFO", func(tr *tree) {
			tr.remove("opt/bin/node")
			if err := syscall.Mkfifo(tr.at("opt/bin/node"), 0o600); err != nil {
				tr.t.Fatal(err)
			}
		}, "opt/bin/node", "is no regular file (p", "process.execPath"},
		{"a symlink to itself", func(tr *tree) { tr.link("node", "bin/node") }, "bin/node", "too many", "process.execPath"},
		{"damaged", func(tr *tree) { tr.write("opt/bin/node", "\x7fELF") }, "bin/node", "ends within its ELF header", "process.execPath"},
		{"32 bits", func(tr *tree) { tr.write("opt/bin/node", string(put8(4, 1)(tr.node.encode()))) }, "bin/node", "32 bits", "official Node"},
		{"an unknown machine", node(func(s *elfSpec) { s.machine = 243 }), "bin/node", "another machine", "official Node"},
		{"another machine", node(func(s *elfSpec) { s.machine = machineARM64 }), "opt/bin/node", "is built for arm64, and this host is amd64", "official Node"},
		{"static", node(func(s *elfSpec) { s.interp, s.noDynamic, s.needed = "", true, nil }), "opt/bin/node", "statically linked", "official Node"},
		{"static PIE", node(func(s *elfSpec) { s.interp, s.kind, s.needed = "", elfDyn, nil }), "opt/bin/node", "statically linked", "official Node"},
		{"a loader and nothing to load", node(func(s *elfSpec) { s.noDynamic = true }), "opt/bin/node", "nothing for it to load", "official Node"},
		{"musl", node(func(s *elfSpec) { s.interp = "/lib/ld-musl-x86_64.so.1" }), "opt/bin/node", "not the loader of glibc", "official Node"},
		{"JavaScript elsewhere", node(func(s *elfSpec) { s.data = `"defines": ["NODE_SHARED_BUILTIN_UNDICI_UNDICI_PATH=/usr/share/nodejs` }), "opt/bin/node", "from outside its binary", "official Node"},
		{"a relative loader", node(func(s *elfSpec) { s.interp = "lib/ld-linux-x86-64.so.2" }), "lib/ld-linux-x86-64.so.2", "no absolute path", "official Node"},
		{"a directory with Node in it", func(tr *tree) {
			tr.remove("opt/bin/node")
			tr.write("opt/bin/node/bin/node", "")
		}, "bin/node", "is a directory", "bin/node/bin/node"},
		{"a directory with a newline", func(tr *tree) {
			tr.elf("o\npt/node", tr.node)
			tr.link("../o\npt/node", "bin/node")
		}, "o\npt/node", "control characters", "another path"},
		{"a target with a tab", func(tr *tree) {
			tr.elf("opt/o\tpt/node", tr.node)
			tr.link("../opt/o\tpt/../bin/node", "bin/node")
		}, "bin/node", "control characters", "another path"},
	}
}

func libraryRefusals() []refusalRow {
	liba := func(spec elfSpec) func(*tree) {
		return func(tr *tree) { tr.elf("usr/lib/x/liba.so.1.2", spec) }
	}
	return []refusalRow{
		{"no loader", func(tr *tree) { tr.remove("usr/lib/x/ld-linux-x86-64.so.2") }, "lib64/ld-linux-x86-64.so.2", "is not there", "install what is missing"},
		{"the loader is text", func(tr *tree) { tr.write("usr/lib/x/ld-linux-x86-64.so.2", "text") }, "lib64/ld-linux-x86-64.so.2", "not an ELF file", "install what is missing"},
		{"the loader of another machine", func(tr *tree) { tr.elf("usr/lib/x/ld-linux-x86-64.so.2", elfSpec{machine: machineARM64}) }, "lib64/ld-linux-x86-64.so.2", "is no loader for amd64", "install"},
		{"the loader has a loader", func(tr *tree) { tr.elf("usr/lib/x/ld-linux-x86-64.so.2", elfSpec{interp: "/ld.so"}) }, "lib64/ld-linux-x86-64.so.2", "is no loader", "install"},
		{"the loader is a program", func(tr *tree) { tr.elf("usr/lib/x/ld-linux-x86-64.so.2", elfSpec{kind: elfExec}) }, "lib64/ld-linux-x86-64.so.2", "is no loader", "install"},
		{"a loader without default directories", func(tr *tree) { tr.interpreter() }, "opt/bin/node", `needs "liba.so.1", which is in none of the directories`, "install what is missing"},
		{"no library", func(tr *tree) { tr.remove("usr/lib/x/libb.so") }, "usr/lib/x/liba.so.1.2", `needs "libb.so"`, "install what is missing"},
		{"a dangling symlink", func(tr *tree) { tr.remove("usr/lib/x/liba.so.1.2") }, "opt/bin/node", `needs "liba.so.1"`, "install"},
		{"only one of another machine", liba(elfSpec{machine: machineARM64}), "opt/bin/node", `needs "liba.so.1"`, "install"},
		{"a library that is a linker script", func(tr *tree) { tr.write("usr/lib/x/libb.so", "GROUP ( x )") }, "lib/x/libb.so", "not an ELF file", "official Node"},
		{"a library that is a directory", func(tr *tree) { tr.remove("usr/lib/x/libb.so"); tr.write("usr/lib/x/libb.so/x", "") }, "usr/lib/x/libb.so", "no regular file", "process.execPath"},
		{"a library that is a program", liba(elfSpec{kind: elfExec}), "lib/x/liba.so.1", "is no shared library", "official Node"},
		{"a library without a dynamic section", liba(elfSpec{noDynamic: true}), "lib/x/liba.so.1", "is no shared library", "official Node"},
		{"a library with an audit", liba(elfSpec{tags: [][2]uint64{{0x6ffffefc, 1}}}), "lib/x/liba.so.1", "DT_AUDIT", "official Node"},
		{"a library that is Node and loads JavaScript", liba(elfSpec{data: "xNODE_SHARED_BUILTIN_ACORN_PATH"}), "usr/lib/x/liba.so.1.2", "from outside its binary", "official Node"},
		{"no default directories wanted", liba(elfSpec{needed: []string{"libb.so"}, tags: [][2]uint64{{tagFlags1, flagNoDefault}}}), "usr/lib/x/liba.so.1.2", `needs "libb.so"`, "install"},
		{"a relative RUNPATH", liba(elfSpec{needed: []string{"libb.so"}, runpath: ref("/a:lib")}), "liba.so.1.2", `directory "lib", relative`, "official Node"},
		{"an empty part of a RUNPATH", liba(elfSpec{needed: []string{"libb.so"}, runpath: ref("/a::/b")}), "liba.so.1.2", `directory "", relative`, "official Node"},
		{"a relative RPATH", liba(elfSpec{needed: []string{"libb.so"}, rpath: ref(".")}), "liba.so.1.2", `directory ".", relative`, "official Node"},
		{"$LIB", liba(elfSpec{needed: []string{"libb.so"}, runpath: ref("/$LIB")}), "liba.so.1.2", "token other than $ORIGIN", "official Node"},
		{"$ORIGINAL", liba(elfSpec{needed: []string{"libb.so"}, rpath: ref("$ORIGINAL")}), "liba.so.1.2", "token other than $ORIGIN", "official Node"},
		{"${ORIGIN", liba(elfSpec{needed: []string{"${ORIGIN/libb.so"}}), "liba.so.1.2", "token other than $ORIGIN", "official Node"},
		{"a relative library", liba(elfSpec{needed: []string{"x/libb.so"}}), "liba.so.1.2", `needs "x/libb.so", relative`, "official Node"},
		{"a missing absolute library", liba(elfSpec{needed: []string{"/nowhere/libb.so"}}), "liba.so.1.2", `needs "/nowhere/libb.so", which is not there`, "install"},
		{"a copy for newer processors", func(tr *tree) { tr.write("usr/lib/x/glibc-hwcaps/x86-64-v3/libb.so", "") }, "lib/x/glibc-hwcaps/x86-64-v3/libb.so", "for certain processors", "remove the copy"},
		{"a copy in an old place", func(tr *tree) { tr.write("usr/lib/x/tls/haswell/x86_64/liba.so.1", "") }, "lib/x/tls/haswell/x86_64/liba.so.1", "for certain processors", "remove the copy"},
		{"a path through a foreign directory", func(tr *tree) {
			tr.write("elsewhere/x", "")
			tr.elf("usr/lib/x/liba.so.1.2", elfSpec{needed: []string{tr.at("elsewhere/../usr/lib/x/libb.so")}})
		}, "elsewhere/../usr/lib/x/libb.so", "which holds no part of the runtime", "official Node"},
	}
}

func TestRefusals(t *testing.T) {
	for _, row := range append(nodeRefusals(), libraryRefusals()...) {
		tr := newTree(t)
		row.change(tr)
		c, err := tr.take("bin/node")
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) {
			t.Errorf("%s: %v, want an UnavailableError", row.name, err)
			continue
		}
		if !strings.HasSuffix(unavailable.Path, row.path) || !strings.Contains(unavailable.Problem, row.problem) || !strings.Contains(unavailable.Cure, row.cure) {
			t.Errorf("%s: %+v, want path %s, problem %s, cure %s", row.name, *unavailable, row.path, row.problem, row.cure)
		}
		if c.Node != "" || c.Files != nil || c.Aliases != nil || c.Launchers != nil {
			t.Errorf("%s: a closure beside the error: %+v", row.name, c)
		}
	}
}

func TestNodePathMustBeAbsolute(t *testing.T) {
	for _, node := range []string{"", "node", "./node", "/a\nb"} {
		_, err := subject{node, openLauncher(t), &elfHost{machineAMD64, nil}}.take(context.Background(), nil, nil)
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) || unavailable.Path != node || !strings.Contains(unavailable.Cure, "process.execPath") {
			t.Errorf("node %q: %v", node, err)
		}
	}
}

func TestUnreadableIsNamed(t *testing.T) {
	err := refusal("/x/node", &os.PathError{Op: "open", Path: "/x/node", Err: syscall.EACCES}, "cure")
	if want := "/x/node cannot be read by this user; cure: make it readable for the user that confined runs as"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestMachineOf(t *testing.T) {
	if m, ok := machineOf("linux", "amd64"); !ok || m != machineAMD64 {
		t.Error("linux/amd64")
	}
	if m, ok := machineOf("linux", "arm64"); !ok || m != machineARM64 || !slices.Contains(defaultDirs(m), "/lib/aarch64-linux-gnu") {
		t.Error("linux/arm64")
	}
	for _, other := range []string{"darwin", "windows"} {
		if _, ok := machineOf(other, "arm64"); ok {
			t.Error(other)
		}
	}
	if _, known := machineOf(runtime.GOOS, runtime.GOARCH); !known {
		if _, err := TakeClosure(context.Background(), "/node", openLauncher(t)); err == nil {
			t.Error("a closure where none can be read")
		}
	}
}

func TestTakeClosureOfAnotherMachine(t *testing.T) {
	tr := newTree(t)
	spec := tr.node
	spec.machine, spec.interp, spec.needed = machineARM64, tr.at("lib/x/ld-linux-aarch64.so.1"), nil
	tr.elf("opt/bin/node", spec)
	tr.elf("lib/x/ld-linux-aarch64.so.1", elfSpec{machine: machineARM64})
	c, err := subject{tr.at("bin/node"), openLauncher(t), &elfHost{machineARM64, tr.systemDirs()}}.take(context.Background(), nil, nil)
	if err != nil || !slices.Equal(tr.paths(c), []string{"opt/bin/node", "usr/lib/x/ld-linux-aarch64.so.1"}) {
		t.Errorf("%q, %v", tr.paths(c), err)
	}
}

func TestCancelledClosure(t *testing.T) {
	tr := newTree(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := subject{tr.at("bin/node"), openLauncher(t), &elfHost{machineAMD64, tr.systemDirs()}}.take(ctx, nil, nil)
	var unavailable *UnavailableError
	if !errors.Is(err, context.Canceled) || errors.As(err, &unavailable) {
		t.Errorf("%v, want context.Canceled and no UnavailableError", err)
	}
}
