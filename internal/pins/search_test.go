package pins

import (
	"os"
	"slices"
	"testing"
)

// TestSearchOrder gives the library libc1.so a place in several directories, and asks which one is taken. Every row is
// also checked against ld.so itself, with real libraries, where there is a compiler: see TestAgainstLoader.
func TestSearchOrder(t *testing.T) {
	rows := []struct {
		name string
		node func(*tree, *elfSpec) // Node needs libm1.so, from mid/, which needs libc1.so
		mid  func(*tree, *elfSpec)
		want string
	}{
		{"default", nil, nil, "usr/lib/x"},
		{"RUNPATH before default", nil, func(tr *tree, s *elfSpec) { s.runpath = ref(tr.at("d1")) }, "d1"},
		{"RUNPATH in its order", nil, func(tr *tree, s *elfSpec) { s.runpath = ref(tr.at("none") + ":" + tr.at("d2/") + ":" + tr.at("d1")) }, "d2"},
		{"$ORIGIN", nil, func(tr *tree, s *elfSpec) { s.runpath = ref("$ORIGIN/../d1") }, "d1"},
		{"${ORIGIN}", nil, func(tr *tree, s *elfSpec) { s.runpath = ref("${ORIGIN}/../d1") }, "d1"},
		{"RUNPATH of Node is for its own needs", func(tr *tree, s *elfSpec) { s.runpath = ref(*s.runpath + ":" + tr.at("d1")) }, nil, "usr/lib/x"},
		{"RPATH of Node is for all", func(tr *tree, s *elfSpec) { s.rpath, s.runpath = ref(*s.runpath+":"+tr.at("d1")), nil }, nil, "d1"},
		{"RPATH beside RUNPATH does not count", func(tr *tree, s *elfSpec) { s.rpath = ref(tr.at("d1")) }, nil, "usr/lib/x"},
		{"RPATH of the library before Node's", func(tr *tree, s *elfSpec) { s.rpath, s.runpath = ref(*s.runpath+":"+tr.at("d1")), nil },
			func(tr *tree, s *elfSpec) { s.rpath = ref(tr.at("d2")) }, "d2"},
		{"RUNPATH of the library hides Node's RPATH", func(tr *tree, s *elfSpec) { s.rpath, s.runpath = ref(*s.runpath+":"+tr.at("d1")), nil },
			func(tr *tree, s *elfSpec) { s.runpath = ref(tr.at("none")) }, "usr/lib/x"},
		{"an empty RUNPATH hides it as well", func(tr *tree, s *elfSpec) { s.rpath, s.runpath = ref(*s.runpath+":"+tr.at("d1")), nil },
			func(tr *tree, s *elfSpec) { s.runpath = ref("") }, "usr/lib/x"},
		{"no default directories", nil, func(tr *tree, s *elfSpec) {
			s.runpath, s.tags = ref(tr.at("d2")), [][2]uint64{{tagFlags1, flagNoDefault}}
		}, "d2"},
		{"an absolute name", nil, func(tr *tree, s *elfSpec) { s.needed = []string{tr.at("d2/libc1.so")} }, "d2"},
		{"a name with $ORIGIN", nil, func(tr *tree, s *elfSpec) { s.needed = []string{"$ORIGIN/../d1/libc1.so"} }, "d1"},
		{"another machine is passed over", nil, func(tr *tree, s *elfSpec) { s.runpath = ref(tr.at("arm") + ":" + tr.at("d2")) }, "d2"},
		{"another class is passed over", nil, func(tr *tree, s *elfSpec) { s.runpath = ref(tr.at("bits32") + ":" + tr.at("d2")) }, "d2"},
		{"a file is no directory", nil, func(tr *tree, s *elfSpec) { s.runpath = ref(tr.at("d1/libc1.so") + ":" + tr.at("d2")) }, "d2"},
	}
	for _, row := range rows {
		tr := newTree(t)
		for _, dir := range []string{"d1", "d2", "usr/lib/x"} {
			tr.elf(dir+"/libc1.so", elfSpec{})
		}
		tr.elf("arm/libc1.so", elfSpec{machine: machineARM64})
		tr.write("bits32/libc1.so", string(put8(4, 1)(elfSpec{}.encode())))
		node, mid := tr.node, elfSpec{needed: []string{"libc1.so"}}
		node.needed, node.runpath = []string{"libm1.so"}, ref(tr.at("mid"))
		if row.node != nil {
			row.node(tr, &node)
		}
		if row.mid != nil {
			row.mid(tr, &mid)
		}
		tr.elf("opt/bin/node", node)
		tr.elf("mid/libm1.so", mid)
		want := []string{"mid/libm1.so", "opt/bin/node", "usr/lib/x/ld-linux-x86-64.so.2", row.want + "/libc1.so"}
		slices.Sort(want)
		if got := tr.paths(tr.mustTake()); !slices.Equal(got, want) {
			t.Errorf("%s: files %q, want %q", row.name, got, want)
		}
	}
}

// TestOrigin: $ORIGIN of a library is where it was found, $ORIGIN of Node is where it really is.
func TestOrigin(t *testing.T) {
	tr := newTree(t)
	tr.node.needed, tr.node.runpath = []string{"liblink.so"}, ref("$ORIGIN/../links")
	tr.elf("opt/bin/node", tr.node) // bin/node is a symlink to it
	tr.link("../real/liblink.so.1", "opt/links/liblink.so")
	tr.elf("opt/real/liblink.so.1", elfSpec{needed: []string{"libc1.so"}, runpath: ref("$ORIGIN")})
	tr.elf("opt/links/libc1.so", elfSpec{})
	tr.elf("opt/real/libc1.so", elfSpec{})
	want := []string{"opt/bin/node", "opt/links/libc1.so", "opt/real/liblink.so.1", "usr/lib/x/ld-linux-x86-64.so.2"}
	if got := tr.paths(tr.mustTake()); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestKnownByName: what an object was asked for by, or calls itself, is not looked for again.
func TestKnownByName(t *testing.T) {
	tr := newTree(t)
	tr.node.needed = []string{"libplain.so", "libuser.so", "libplain.so"}
	tr.elf("opt/bin/node", tr.node)
	tr.elf("usr/lib/x/libplain.so", elfSpec{soname: "libplain.so.7"})
	tr.elf("usr/lib/x/libuser.so", elfSpec{needed: []string{"libplain.so.7", "libplain.so"}}) // there is no file libplain.so.7
	want := []string{"opt/bin/node", "usr/lib/x/ld-linux-x86-64.so.2", "usr/lib/x/libplain.so", "usr/lib/x/libuser.so"}
	if got := tr.paths(tr.mustTake()); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestFirstNameWins: a library of a known name is not looked for where a later one would find another.
func TestFirstNameWins(t *testing.T) {
	tr := newTree(t)
	tr.node.needed, tr.node.runpath = []string{"libc1.so", "libuser.so"}, ref(tr.at("d1"))
	tr.elf("opt/bin/node", tr.node)
	tr.elf("d1/libc1.so", elfSpec{})
	tr.elf("d2/libc1.so", elfSpec{})
	tr.elf("d1/libuser.so", elfSpec{needed: []string{"libc1.so"}, runpath: ref(tr.at("d2"))})
	want := []string{"d1/libc1.so", "d1/libuser.so", "opt/bin/node", "usr/lib/x/ld-linux-x86-64.so.2"}
	if got := tr.paths(tr.mustTake()); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestOneFileIsMappedOnce: a file that is found by a second path keeps the $ORIGIN of the first.
func TestOneFileIsMappedOnce(t *testing.T) {
	tr := newTree(t)
	tr.node.needed, tr.node.runpath = []string{"libone.so", "libtwo.so"}, ref(tr.at("d1")+":"+tr.at("d2"))
	tr.elf("opt/bin/node", tr.node)
	tr.elf("d1/libone.so", elfSpec{needed: []string{"$ORIGIN/libdep.so"}})
	tr.elf("d1/libdep.so", elfSpec{})
	tr.link("../d1/libone.so", "d2/libtwo.so") // and there is no d2/libdep.so
	want := []string{"d1/libdep.so", "d1/libone.so", "opt/bin/node", "usr/lib/x/ld-linux-x86-64.so.2"}
	if got := tr.paths(tr.mustTake()); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestLoaderHasNeeds: what the loader itself needs is part of the closure, and the program's RPATH serves it too.
func TestLoaderHasNeeds(t *testing.T) {
	tr := newTree(t)
	tr.node.needed, tr.node.rpath = nil, ref(tr.at("d1"))
	tr.elf("opt/bin/node", tr.node)
	tr.elf("usr/lib/x/ld-linux-x86-64.so.2", elfSpec{needed: []string{"libl.so"}})
	tr.elf("d1/libl.so", elfSpec{})
	want := []string{"d1/libl.so", "opt/bin/node", "usr/lib/x/ld-linux-x86-64.so.2"}
	if got := tr.paths(tr.mustTake()); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestHardLink: two names of one file are both part of the tree that the loader needs, though it maps one of them.
func TestHardLink(t *testing.T) {
	tr := newTree(t)
	tr.node.needed = []string{"libone.so", "libtwo.so"}
	tr.elf("opt/bin/node", tr.node)
	tr.elf("usr/lib/x/libone.so", elfSpec{})
	if err := os.Link(tr.at("usr/lib/x/libone.so"), tr.at("usr/lib/x/libtwo.so")); err != nil {
		t.Fatal(err)
	}
	want := []string{"opt/bin/node", "usr/lib/x/ld-linux-x86-64.so.2", "usr/lib/x/libone.so", "usr/lib/x/libtwo.so"}
	if got := tr.paths(tr.mustTake()); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// TestUnusedVariants: copies for certain processors matter only where the library is looked for before it is found.
func TestUnusedVariants(t *testing.T) {
	tr := newTree(t)
	tr.write("usr/lib/x/glibc-hwcaps/x86-64-v3/libother.so", "")
	tr.write("usr/lib/x/tls/libother.so", "")
	tr.elf("first/libb.so", elfSpec{})
	tr.elf("usr/lib/x/liba.so.1.2", elfSpec{needed: []string{"libb.so"}, runpath: ref(tr.at("first"))})
	tr.write("usr/lib/x/glibc-hwcaps/x86-64-v3/libb.so", "")
	if got := tr.paths(tr.mustTake()); !slices.Contains(got, "first/libb.so") {
		t.Errorf("files %q", got)
	}
}
