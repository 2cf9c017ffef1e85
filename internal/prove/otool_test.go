package prove

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	nodeText = `/opt/node/bin/node:
	/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation (compatibility version 150.0.0, current version 3502.1.255)
	/usr/lib/libc++.1.dylib (compatibility version 1.0.0, current version 1900.180.0)
	@rpath/libnode.137.dylib (compatibility version 0.0.0, current version 0.0.0)
	/opt/a (b)/libx.dylib (compatibility version 1.0.0, current version 1.0.0, weak)
`
	loadText = `/opt/node/bin/node:
Load command 12
          cmd LC_LOAD_DYLIB
      cmdsize 56
         name /usr/lib/libSystem.B.dylib (offset 24)
Load command 19
          cmd LC_RPATH
      cmdsize 32
         path @loader_path/../lib (offset 12)
Load command 20
          cmd LC_OTHER
         path /not/one (offset 12)
`
)

func TestDependents(t *testing.T) {
	got, err := dependents(nodeText, "/usr/lib/libc++.1.dylib")
	want := []dependent{{"/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation", false}, {"@rpath/libnode.137.dylib", false}, {"/opt/a (b)/libx.dylib", true}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "/x is not an object file\n", "/x:\nArchive : /x\n", "/x:\n\t/a.dylib\n", "/x:\n\t (compatibility version 1)\n"} {
		if got, err := dependents(bad, ""); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
	if name := givenName("/x/libx.dylib:\n@rpath/libx.dylib\n"); name != "@rpath/libx.dylib" {
		t.Errorf("its own name is %q", name)
	}
	if name := givenName("/opt/node/bin/node:\n"); name != "" {
		t.Errorf("a program has the name %q", name)
	}
	if got := runPaths(loadText); !slices.Equal(got, []string{"@loader_path/../lib"}) {
		t.Errorf("run paths %q", got)
	}
}

func FuzzDependents(f *testing.F) {
	f.Add(nodeText, "")
	f.Add(":\n\t (compatibility version )\n", "x")
	f.Fuzz(func(t *testing.T, text, own string) {
		got, err := dependents(text, own)
		if err != nil && got != nil {
			t.Errorf("%v, and %+v", err, got)
		}
		for _, d := range got {
			if d.name == "" || d.name == own || strings.Contains(d.name, "\n") {
				t.Errorf("%+v", d)
			}
		}
		runPaths(text)
	})
}

// machine is a tree of files, and what otool would say of each.
type machine struct {
	dir  string
	deps map[string][]string // by path below dir: what it asks for; the first of a library is its own name
	runs map[string]string
}

func (m machine) ask(arguments ...string) (string, error) {
	path := arguments[3]
	name := strings.TrimPrefix(path, m.dir)
	deps, known := m.deps[name]
	if !known {
		return "", errors.New("otool is asked about " + path)
	}
	text := path + ":\n"
	switch library := strings.HasSuffix(name, "dylib"); arguments[2] {
	case "-L":
		for _, d := range deps {
			text += "\t" + strings.ReplaceAll(d, "DIR", m.dir) + " (compatibility version 1.0.0, current version 1.0.0)\n"
		}
	case "-D":
		if library {
			text += strings.ReplaceAll(deps[0], "DIR", m.dir) + "\n"
		}
	case "-l":
		if run := m.runs[name]; run != "" {
			text += "  cmd LC_RPATH\n path " + run + " (offset 12)\n"
		}
	}
	return text, nil
}

// homebrew is a tree as Homebrew lays it out: aliases into the Cellar, a library by @rpath that is found by who asked for it, and a circle.
func homebrew(t *testing.T) machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := machine{dir, map[string][]string{
		"/Cellar/node/bin/node":             {"@rpath/libnode.dylib", "DIR/opt/uv/lib/libuv.dylib", "/usr/lib/libSystem.B.dylib"},
		"/Cellar/node/lib/libnode.dylib":    {"@rpath/libnode.dylib", "@loader_path/libinner.dylib", "/System/Library/x"},
		"/Cellar/node/lib/libinner.dylib":   {"@rpath/libinner.dylib", "@rpath/libnode.dylib", "@executable_path/../lib/libnode.dylib"},
		"/Cellar/uv/1.51/lib/libuv.dylib":   {"DIR/opt/uv/lib/libuv.dylib", "DIR/opt/uv/lib/libleaf.dylib"},
		"/Cellar/uv/1.51/lib/libleaf.dylib": {"DIR/opt/uv/lib/libleaf.dylib"},
	}, map[string]string{"/Cellar/node/bin/node": "@loader_path/../lib"}}
	for name := range m.deps {
		if err := put(dir+name, "Mach-O"); err != nil {
			t.Fatal(err)
		}
	}
	for alias, to := range map[string]string{"/opt/uv": "../Cellar/uv/1.51", "/bin/node": "../Cellar/node/bin/node"} {
		err := errors.Join(os.MkdirAll(filepath.Dir(dir+alias), 0o755), os.Symlink(to, dir+alias))
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestClosureByOtool(t *testing.T) {
	m := homebrew(t)
	var want []string
	for name := range m.deps {
		want = append(want, m.dir+name)
	}
	slices.Sort(want)
	got, err := closureByOtool(m.dir+"/bin/node", m.ask)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q, %v", got, err)
	}
	if differs := closureDiffers(got, want); differs != "" {
		t.Error(differs)
	}
	if got, want := closureDiffers([]string{"/a", "/b"}, []string{"/b", "/c"}), "only pinned: /a; only in otool's: /c"; got != want {
		t.Errorf("%q", got)
	}
	m.deps["/Cellar/node/lib/libinner.dylib"] = []string{"x", "@rpath/libgone.dylib"}
	if got, err := closureByOtool(m.dir+"/bin/node", m.ask); err == nil || !strings.Contains(err.Error(), "libgone.dylib is nowhere") {
		t.Errorf("with a library less: %q, %v", got, err)
	}
	if got, err := closureByOtool(m.dir+"/bin/node", func(...string) (string, error) { return "", errors.New("no otool") }); err == nil {
		t.Errorf("without otool: %q", got)
	}
}

// TestOtoolSearchOrder: by whose run paths a library is found follows from dyld's order, which goes deep before it goes wide; so is the row of
// package pins.
func TestOtoolSearchOrder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := machine{dir, map[string][]string{
		"/node":    {"DIR/a.dylib", "DIR/b.dylib"},
		"/a.dylib": {"a", "DIR/c.dylib"}, "/b.dylib": {"b", "DIR/d.dylib"},
		"/c.dylib": {"c", "DIR/d.dylib"}, "/d.dylib": {"d", "@rpath/x.dylib"},
		"/one/x.dylib": {"x"}, "/two/x.dylib": {"x"},
	}, map[string]string{"/b.dylib": dir + "/one", "/c.dylib": dir + "/two"}}
	for name := range m.deps {
		if err := put(dir+name, "Mach-O"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := closureByOtool(dir+"/node", m.ask)
	if err != nil || !slices.Contains(got, dir+"/two/x.dylib") || slices.Contains(got, dir+"/one/x.dylib") {
		t.Errorf("%q, %v", got, err)
	}
}
