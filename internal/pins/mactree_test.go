package pins

import (
	"context"
	"strings"
	"testing"
)

// macTree is a tree as Homebrew lays Node out below a prefix, opt standing for /opt/homebrew:
//
//	bin/node                             -> ../Cellar/node/26.8.1/bin/node
//	opt/uv, opt/icu                      -> ../Cellar/uv/1.51, ../Cellar/icu/77.1
//	Cellar/node/26.8.1/bin/node          needs @rpath/libnode.147.dylib, opt/uv/lib/libuv.1.dylib, weak libweak; run path @loader_path/../lib
//	Cellar/node/26.8.1/lib/libnode.147.dylib   needs opt/icu/lib/libicuuc.77.dylib and libuv once more
//	Cellar/uv/1.51/lib/libuv.1.dylib     needs libSystem alone
//	Cellar/icu/77.1/lib/libicuuc.77.dylib      -> libicuuc.77.1.dylib
//	Cellar/icu/77.1/lib/libicuuc.77.1.dylib    needs @loader_path/libicudata.77.dylib, and that one it
type macTree struct {
	tree
	node, libnode machoSpec // as they were written
	launchers     []Launcher
}

const systemLibrary = "/usr/lib/libSystem.B.dylib"

func newMacTree(t *testing.T) *macTree {
	t.Helper()
	tr := &macTree{tree: tree{t: t, root: canonicalTemp(t)}, launchers: openLauncher(t)}
	tr.link("../Cellar/node/26.8.1/bin/node", "bin/node")
	tr.link("../Cellar/uv/1.51", "opt/uv")
	tr.link("../Cellar/icu/77.1", "opt/icu")
	tr.link("libicuuc.77.1.dylib", "Cellar/icu/77.1/lib/libicuuc.77.dylib")
	tr.node = machoSpec{kind: machoExecute, rpaths: []string{"@loader_path/../lib"}, dylibs: append(
		needs(systemLibrary, "@rpath/libnode.147.dylib", tr.at("opt/uv/lib/libuv.1.dylib"), "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation"),
		machoDylib{name: tr.at("lib/libweak.dylib"), weak: true})}
	tr.libnode = machoSpec{dylibs: needs(tr.at("opt/icu/lib/libicuuc.77.dylib"), tr.at("opt/uv/lib/libuv.1.dylib"))}
	tr.macho("Cellar/node/26.8.1/bin/node", tr.node)
	tr.macho("Cellar/node/26.8.1/lib/libnode.147.dylib", tr.libnode)
	tr.macho("Cellar/uv/1.51/lib/libuv.1.dylib", machoSpec{dylibs: needs(systemLibrary)})
	tr.macho("Cellar/icu/77.1/lib/libicuuc.77.1.dylib", machoSpec{dylibs: needs("@loader_path/libicudata.77.dylib")})
	tr.macho("Cellar/icu/77.1/lib/libicudata.77.dylib", machoSpec{dylibs: needs("@loader_path/libicuuc.77.1.dylib")})
	return tr
}

// needs are plain dependencies.
func needs(names ...string) []machoDylib {
	var all []machoDylib
	for _, name := range names {
		all = append(all, machoDylib{name: name})
	}
	return all
}

func (tr *macTree) macho(path string, spec machoSpec) {
	tr.t.Helper()
	tr.write(path, string(spec.encode()))
}

func (tr *macTree) subject(node string) subject {
	tr.t.Helper()
	return subject{node: tr.at(node), launchers: tr.launchers}
}

func (tr *macTree) take(node string) (Closure, error) {
	tr.t.Helper()
	return tr.subject(node).take(context.Background(), nil, nil)
}

func (tr *macTree) aliases(c Closure) string {
	var all []string
	for _, a := range c.Aliases {
		all = append(all, strings.TrimPrefix(a.Path, tr.root+"/")+" "+a.Target)
	}
	return strings.Join(all, "\n")
}
