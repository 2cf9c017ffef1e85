package pins

import (
	"debug/macho"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMacClosure: of a Node as Homebrew installs it every file and every symlink on the way is found, each once, and nothing of the system.
func TestMacClosure(t *testing.T) {
	tr := newMacTree(t)
	c := tr.must(tr.take("bin/node"))
	want := []string{
		"Cellar/icu/77.1/lib/libicudata.77.dylib", "Cellar/icu/77.1/lib/libicuuc.77.1.dylib", "Cellar/node/26.8.1/bin/node",
		"Cellar/node/26.8.1/lib/libnode.147.dylib", "Cellar/uv/1.51/lib/libuv.1.dylib",
	}
	if got := tr.paths(c); !slices.Equal(got, want) {
		t.Errorf("files %q", got)
	}
	links := "Cellar/icu/77.1/lib/libicuuc.77.dylib libicuuc.77.1.dylib\nbin/node ../Cellar/node/26.8.1/bin/node\nopt/icu ../Cellar/icu/77.1\nopt/uv ../Cellar/uv/1.51"
	if got := tr.aliases(c); got != links {
		t.Errorf("aliases\n%s", got)
	}
	if c.Node != tr.at("Cellar/node/26.8.1/bin/node") || c.Interpreter != dyldPath || len(c.Launchers) != 1 {
		t.Errorf("%+v", c)
	}
	if got := byAnotherReader(t, c.Node); !slices.Equal(got, tr.below(want)) {
		t.Errorf("another reader finds %q", got)
	}
}

// below are the whole paths of paths within the tree.
func (tr *macTree) below(paths []string) []string {
	var all []string
	for _, p := range paths {
		all = append(all, tr.at(p))
	}
	return all
}

// byAnotherReader finds the same by Go's own reader and a search of its own, which knows what the made-up tree needs and no more.
func byAnotherReader(t *testing.T, node string) []string {
	t.Helper()
	found := map[string]bool{}
	var visit func(at string)
	visit = func(at string) {
		real, err := filepath.EvalSymlinks(at)
		if err != nil || found[real] {
			return // not there: a weak one
		}
		found[real] = true
		f, err := macho.Open(real)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		names, err := f.ImportedLibraries()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = strings.Replace(name, "@rpath", path.Dir(node)+"/../lib", 1)
			name = strings.Replace(name, "@loader_path", path.Dir(real), 1)
			if !strings.HasPrefix(name, "/usr/lib/") && !strings.HasPrefix(name, "/System/") {
				visit(name)
			}
		}
	}
	visit(node)
	var all []string
	for p := range found {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// TestMacClosureOfTheOfficialNode: nodejs.org's is one file.
func TestMacClosureOfTheOfficialNode(t *testing.T) {
	for _, node := range darwinNodes(t) {
		c, err := subject{node: node, launchers: openLauncher(t)}.take(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Files) != 1 || c.Files[0].Path != c.Node || len(c.Aliases) != 0 {
			t.Errorf("%s: %+v", node, c)
		}
	}
}

// TestMacClosureSearches: where dyld looks, one change of the good tree each. Beside what was found, nothing else is.
func TestMacClosureSearches(t *testing.T) {
	const libnode = "Cellar/node/26.8.1/lib/libnode.147.dylib"
	for name, row := range map[string]struct {
		edit  func(*macTree)
		files string // that come on top of the tree's own, or with - those that are not there
		says  string // in place of a closure
	}{
		"as it is":                     {func(*macTree) {}, "", ""},
		"a weak library that is there": {func(tr *macTree) { tr.macho("lib/libweak.dylib", machoSpec{}) }, "lib/libweak.dylib", ""},
		"the first run path counts": {func(tr *macTree) {
			tr.macho("first/libnode.147.dylib", tr.libnode)
			tr.rpaths(tr.at("first"), "@loader_path/../lib")
		}, "first/libnode.147.dylib -" + libnode, ""},
		"a run path that leads nowhere": {func(tr *macTree) { tr.rpaths(tr.at("nowhere"), tr.at(libnode)+"/below", "@executable_path/../lib/") }, "", ""},
		"a library asks by its loader's run path": {func(tr *macTree) {
			tr.macho("Cellar/node/26.8.1/lib/libmore.dylib", machoSpec{})
			tr.libnode.dylibs = append(tr.libnode.dylibs, needs("@rpath/libmore.dylib")...)
			tr.macho(libnode, tr.libnode)
		}, "Cellar/node/26.8.1/lib/libmore.dylib", ""},
		"a library's own run path comes first": {func(tr *macTree) {
			tr.macho("own/libmore.dylib", machoSpec{})
			tr.macho("Cellar/node/26.8.1/lib/libmore.dylib", machoSpec{})
			tr.libnode.dylibs, tr.libnode.rpaths = append(tr.libnode.dylibs, needs("@rpath/libmore.dylib")...), []string{tr.at("own")}
			tr.macho(libnode, tr.libnode)
		}, "own/libmore.dylib", ""},
		"a run path of another library's does not count": {func(tr *macTree) {
			tr.macho("own/libmore.dylib", machoSpec{})
			tr.macho("Cellar/uv/1.51/lib/libuv.1.dylib", machoSpec{rpaths: []string{tr.at("own")}})
			tr.libnode.dylibs = append(tr.libnode.dylibs, needs("@rpath/libmore.dylib")...)
			tr.macho(libnode, tr.libnode)
		}, "", "which is not there"},
		"relative to the program": {func(tr *macTree) { tr.need("@executable_path/../lib/libnode.147.dylib") }, "", ""},
		"a library of the system's by a run path, and no other": {func(tr *macTree) {
			tr.rpaths("/usr/lib/swift", "@loader_path/../lib")
			tr.remove(libnode)
		}, "-" + libnode + " -Cellar/icu/77.1/lib/libicudata.77.dylib -Cellar/icu/77.1/lib/libicuuc.77.1.dylib", ""},

		"it may be the system's":               {func(tr *macTree) { tr.rpaths("/usr/lib/swift", "@loader_path/../lib") }, "", "which may be /usr/lib/swift/libnode.147.dylib of the system or"},
		"no library":                           {func(tr *macTree) { tr.remove(libnode) }, "", `needs "@rpath/libnode.147.dylib", which is not there`},
		"no run path":                          {func(tr *macTree) { tr.rpaths() }, "", "nowhere to be looked for"},
		"an empty run path":                    {func(tr *macTree) { tr.rpaths("") }, "", "empty"},
		"a relative run path":                  {func(tr *macTree) { tr.rpaths("lib") }, "", "neither absolute nor"},
		"a relative library":                   {func(tr *macTree) { tr.need("libx.dylib") }, "", "neither absolute nor"},
		"an unknown word":                      {func(tr *macTree) { tr.need("@home/libx.dylib") }, "", "neither absolute nor"},
		"out of the system's folders":          {func(tr *macTree) { tr.need("/usr/lib/../../" + tr.at("x.dylib")) }, "", "perhaps out of them again"},
		"the system's in other letters":        {func(tr *macTree) { tr.need("/USR/lib/libSystem.B.dylib") }, "", "which is not there"},
		"the system's, doubled slash":          {func(tr *macTree) { tr.need("/usr/lib//x.dylib") }, "", "perhaps out of them again"},
		"the system's, another way":            {func(tr *macTree) { tr.need("//usr/lib/none.dylib") }, "", "which is not there"},
		"a folder that begins like it":         {func(tr *macTree) { tr.need("/usr/library/x.dylib") }, "", "which is not there"},
		"a library that is a program":          {func(tr *macTree) { tr.macho(libnode, tr.node) }, "", "is no library"},
		"a library for another CPU":            {func(tr *macTree) { tr.macho(libnode, machoSpec{subtype: 2}) }, "", "without code for arm64"},
		"a library that is a script":           {func(tr *macTree) { tr.write(libnode, "#!/bin/sh\n") }, "", "is a script"},
		"a library that is a folder":           {func(tr *macTree) { tr.remove(libnode); tr.macho(libnode+"/x", machoSpec{}) }, "", "is no regular file"},
		"a library in a loop of links":         {func(tr *macTree) { tr.link("libnode.147.dylib", libnode) }, "", "symbolic links"},
		"beside the file, not beside its link": {func(tr *macTree) { tr.twoFolders("real") }, "real/liba.dylib real/libb.dylib", ""},
		"beside its link alone":                {func(tr *macTree) { tr.twoFolders("linked") }, "", "which is not there"},
		"Node is a library":                    {func(tr *macTree) { tr.macho("Cellar/node/26.8.1/bin/node", machoSpec{}) }, "", "is a library and no program"},
		"Node is a script":                     {func(tr *macTree) { tr.write("Cellar/node/26.8.1/bin/node", "#!/bin/sh\n") }, "", "is a script and not the Node binary"},
		"Node is for another CPU":              {func(tr *macTree) { tr.node.subtype = 2; tr.macho("Cellar/node/26.8.1/bin/node", tr.node) }, "", "without code for arm64"},
		"Node is Linux's":                      {func(tr *macTree) { tr.elf("Cellar/node/26.8.1/bin/node", elfSpec{kind: elfExec}) }, "", "is not a Mach-O file"},
		"Node is called something else":        {func(tr *macTree) { tr.link("../Cellar/uv/1.51/lib/libuv.1.dylib", "bin/node") }, "", "which is not called node"},
		"Node is not there":                    {func(tr *macTree) { tr.remove("bin/node") }, "", "is not there"},
		"Node loads JavaScript of files":       {func(tr *macTree) { tr.append(libnode, sharedBuiltin+"X") }, "", "was built to load parts of Node as JavaScript"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newMacTree(t)
			want := tr.paths(tr.must(tr.take("bin/node")))
			row.edit(tr)
			c, err := tr.take("bin/node")
			if row.says != "" {
				if err == nil || !strings.Contains(err.Error(), row.says) {
					t.Errorf("%v, want %q", err, row.says)
				}
				return
			}
			for file := range strings.FieldsSeq(row.files) {
				if gone, minus := strings.CutPrefix(file, "-"); minus {
					want = slices.DeleteFunc(want, func(p string) bool { return p == gone })
				} else {
					want = append(want, file)
				}
			}
			slices.Sort(want)
			if got := tr.paths(tr.must(c, err)); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// rpaths gives Node other run paths.
func (tr *macTree) rpaths(paths ...string) {
	tr.node.rpaths = paths
	tr.macho("Cellar/node/26.8.1/bin/node", tr.node)
}

// need gives Node one library more.
func (tr *macTree) need(name string) {
	tr.node.dylibs = append(slices.Clone(tr.node.dylibs), machoDylib{name: name})
	tr.macho("Cellar/node/26.8.1/bin/node", tr.node)
}

func (tr *macTree) append(path, text string) {
	content, err := os.ReadFile(tr.at(path))
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.write(path, string(content)+text)
}

// twoFolders has a library that is found by a link in another folder look for one beside it, which is in that folder.
func (tr *macTree) twoFolders(folder string) {
	tr.macho("real/liba.dylib", machoSpec{dylibs: needs("@loader_path/libb.dylib")})
	tr.link("../real/liba.dylib", "linked/liba.dylib")
	tr.macho(folder+"/libb.dylib", machoSpec{})
	tr.need(tr.at("linked/liba.dylib"))
}

// TestMacClosureChanges: what is swapped or led elsewhere between two looks is a change.
func TestMacClosureChanges(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(*macTree)
		says string
	}{
		"nothing":                {func(*macTree) {}, ""},
		"a library swapped":      {func(tr *macTree) { tr.macho("Cellar/uv/1.51/lib/libuv.1.dylib", machoSpec{}) }, "libuv.1.dylib"},
		"a link led elsewhere":   {func(tr *macTree) { tr.upgrade() }, "Cellar/uv/1.5"},
		"a weak library appears": {func(tr *macTree) { tr.macho("lib/libweak.dylib", machoSpec{}) }, "has become part of the runtime"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newMacTree(t)
			before := tr.must(tr.take("bin/node"))
			row.edit(tr)
			err := before.Unchanged(tr.must(tr.take("bin/node")))
			if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
				t.Errorf("%v, want %q", err, row.says)
			}
		})
	}
}

// upgrade is what `brew upgrade` does to a library.
func (tr *macTree) upgrade() {
	tr.macho("Cellar/uv/1.52/lib/libuv.1.dylib", machoSpec{dylibs: needs(systemLibrary)})
	tr.link("../Cellar/uv/1.52", "opt/uv")
}

// TestMacClosureIsBounded: a chain of libraries without an end is refused.
func TestMacClosureIsBounded(t *testing.T) {
	tr := newMacTree(t)
	for i := range maxObjects {
		name := func(n int) string {
			return "many/lib" + strings.Repeat("x", n%200) + string(rune('a'+n/200)) + ".dylib"
		}
		tr.macho(name(i), machoSpec{dylibs: needs(tr.at(name(i + 1)))})
	}
	tr.need(tr.at("many/liba.dylib"))
	if _, err := tr.take("bin/node"); err == nil || !strings.Contains(err.Error(), "more than") && !strings.Contains(err.Error(), "not there") {
		t.Error(err)
	}
}

// TestMacSealing: no copy can be sealed there, which is said before anything is copied.
func TestMacSealing(t *testing.T) {
	_, err := newMacTree(t).subject("bin/node").seal(t.Context())
	if _, ok := err.(*UnsealableError); !ok {
		t.Errorf("%v", err)
	}
}

// FuzzMacPlaces: whatever a library is called, each place is absolute, and what counts as the system's stays in its folders.
func FuzzMacPlaces(f *testing.F) {
	for _, seed := range []string{"@rpath/a", "@loader_path/../a", "@executable_path", "/usr/lib/../a", "/System/a", "//usr/lib/a", "@rpath/@rpath/a", "a", "", "@loader_path"} {
		f.Add(seed, "@loader_path/../lib")
		f.Add(seed, "/usr/lib/swift")
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, name, rpath string) {
		program := &image{file: RuntimeFile{Path: "/p/bin/node"}, macho: machoFile{rpaths: []string{rpath}}}
		library := &image{file: RuntimeFile{Path: "/l/b"}, parent: program}
		d := &dyld{images: []*image{program, library}}
		places, err := d.places(library, name)
		if err != nil {
			return
		}
		for _, p := range places {
			if !strings.HasPrefix(p, "/") {
				t.Errorf("%q with %q: %q", name, rpath, p)
			}
			if clean := path.Clean(p); isSystem(p) && clean != p {
				t.Errorf("%q counts as the system's and is %q", p, clean)
			}
		}
	})
}
