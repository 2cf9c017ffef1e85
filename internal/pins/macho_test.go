package pins

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func parseBytes(file []byte) (machoFile, error) {
	return parseMachO(bytes.NewReader(file), int64(len(file)))
}

// program and library are files with everything the reader knows.
func program() machoSpec {
	return machoSpec{kind: machoExecute, dylibs: []machoDylib{{"@rpath/b.dylib", false}, {"/opt/a.dylib", true}, {"@rpath/b.dylib", false}},
		rpaths: []string{"@loader_path/../lib", "/opt/lib"}}
}

func library() machoSpec { return machoSpec{name: "@rpath/me.1.dylib"} }

func TestParseMachO(t *testing.T) {
	zero := machoFile{kind: machoLibrary, installName: "/usr/local/lib/me.dylib"}
	whole := machoFile{kind: machoExecute, dylinker: dyldPath, dylibs: program().dylibs, rpaths: program().rpaths}
	other := func(n uint32) []byte { return put32(atMachoCPU, n)(machoSpec{}.encode()) }
	mapped := put64(atMachoFirst+48, uint64(len(machoSpec{}.encode()))-16)(machoSpec{}.encode())
	rows := []struct {
		name string
		file []byte
		want machoFile
	}{
		{"a library mapped no further than its commands", mapped, zero},
		{"a program", program().encode(), whole},
		{"a library", library().encode(), machoFile{kind: machoLibrary, installName: "@rpath/me.1.dylib"}},
		{"a library that needs nothing", machoSpec{}.encode(), zero},
		{"subtype 1", machoSpec{subtype: 1}.encode(), zero},
		{"a subtype with capability bits", machoSpec{subtype: 0x80000001}.encode(), zero},
		{"a library without MH_PIE", machoSpec{flags: flagDyldLink}.encode(), zero},
		{"a library for the iPad too", machoSpec{platforms: []uint32{6, 1}}.encode(), zero},
		{"LC_VERSION_MIN_MACOSX", machoSpec{without: []uint32{cmdBuildVersion}, more: [][]byte{command(cmdVersionMin, make([]byte, 8))}}.encode(), zero},
		{"not encrypted", machoSpec{more: [][]byte{command(cmdEncryption64, make([]byte, 16))}}.encode(), zero},
		{"one slice", fatSpec{slices: [][]byte{program().encode()}}.encode(), whole},
		{"the second slice of three", fatSpec{slices: [][]byte{other(0x01000007), program().encode(), machoSpec{subtype: 2}.encode()}}.encode(), whole},
		{"the same in 64 bits", fatSpec{wide: true, slices: [][]byte{other(0x01000007), program().encode(), machoSpec{subtype: 0x80000002}.encode()}}.encode(), whole},
		{"as many slices as allowed", fatSpec{slices: append(slices.Repeat([][]byte{other(7)}, maxSlices-1), program().encode())}.encode(), whole},
		{"bytes after the slice", append(fatSpec{slices: [][]byte{program().encode()}}.encode(), "more"...), whole},
	}
	for _, row := range rows {
		if got, err := parseBytes(row.file); err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %+v, %v, want %+v", row.name, got, err, row.want)
		}
	}
}

// TestHarmlessCommands: each one may be there, and changes nothing.
func TestHarmlessCommands(t *testing.T) {
	want, err := parseBytes(program().encode())
	if err != nil {
		t.Fatal(err)
	}
	for kind, name := range harmlessCommands() {
		spec := program()
		spec.more = [][]byte{command(kind, make([]byte, 40))}
		if got, err := parseBytes(spec.encode()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
		if refused, both := refusedCommands()[kind]; both {
			t.Errorf("%s is harmless and refused: %s", name, refused)
		}
	}
}

// TestEveryDylibCommandIsAnEdge, in its order, whichever command and form it is.
func TestEveryDylibCommandIsAnEdge(t *testing.T) {
	more := [][]byte{
		dylibCommand(cmdLoadDylib, "plain"), dylibCommand(cmdWeakDylib, "weak"), dylibCommand(cmdReexport, "re-exported"),
		dylibCommand(cmdUpward, "upward"), dylibCommand(cmdLazyDylib, "lazy"),
		usedCommand(cmdLoadDylib, "used", 0), usedCommand(cmdLoadDylib, "used weak", 1), usedCommand(cmdLoadDylib, "used with all", 0xf),
		usedCommand(cmdWeakDylib, "used not weak", 0xe), usedCommand(cmdWeakDylib, "used both", 1),
	}
	want := []machoDylib{{"plain", false}, {"weak", true}, {"re-exported", false}, {"upward", false}, {"lazy", false},
		{"used", false}, {"used weak", true}, {"used with all", true}, {"used not weak", false}, {"used both", true}}
	got, err := parseBytes(machoSpec{more: more}.encode())
	if err != nil || !slices.Equal(got.dylibs, want) {
		t.Errorf("%+v, %v, want %+v", got.dylibs, err, want)
	}
}

// TestMachOBounds: what is at a bound is read, and what is past it is refused.
func TestMachOBounds(t *testing.T) {
	long := strings.Repeat("x", maxMachOString)
	note := func(n int) [][]byte { return slices.Repeat([][]byte{command(0x31, nil)}, n) }
	bytesOf := func(n int) []byte { // a file with n bytes of commands
		rest := n - int(le32(machoSpec{}.encode(), atMachoSize)) - 8
		return machoSpec{more: [][]byte{command(0x31, make([]byte, rest))}}.encode()
	}
	segments := func(n int) [][]byte { return slices.Repeat([][]byte{segmentCommand(0, 0, 0, 0)}, n) }
	rows := []struct {
		name     string
		at, past []byte
		want     string
	}{
		{"commands", machoSpec{more: note(maxCommands - 3)}.encode(), machoSpec{more: note(maxCommands - 2)}.encode(), "4097 Mach-O commands"},
		{"bytes of commands", bytesOf(maxCommandBytes), bytesOf(maxCommandBytes + 8), "more than 1048576"},
		{"segments", machoSpec{more: segments(maxSegments - 1)}.encode(), machoSpec{more: segments(maxSegments)}.encode(), "more than 64 Mach-O segments"},
		{"libraries", machoSpec{dylibs: slices.Repeat([]machoDylib{{"a", false}}, maxDylibs)}.encode(),
			machoSpec{dylibs: slices.Repeat([]machoDylib{{"a", false}}, maxDylibs+1)}.encode(), "more than 256 libraries"},
		{"rpaths", machoSpec{rpaths: slices.Repeat([]string{"a"}, maxRPaths)}.encode(),
			machoSpec{rpaths: slices.Repeat([]string{"a"}, maxRPaths+1)}.encode(), "more than 64 LC_RPATH"},
		{"a name", machoSpec{name: long[1:]}.encode(), machoSpec{name: long}.encode(), "more than 1023 bytes"},
	}
	for _, row := range rows {
		if _, err := parseBytes(row.at); err != nil {
			t.Errorf("%s at the bound: %v", row.name, err)
		}
		odd(t, row.name, row.past, row.want)
	}
}

// TestUnreadableMachO: an error of the reader is the error, at whatever byte it comes, and is not taken for a form.
func TestUnreadableMachO(t *testing.T) {
	for _, file := range [][]byte{program().encode(), fatSpec{slices: [][]byte{library().encode()}}.encode()} {
		unread := 16 // bytes at the end that nothing asks for
		for n := range len(file) - unread {
			_, err := parseMachO(bytes.NewReader(file[:n]), int64(len(file)))
			if err == nil || errors.Is(err, errNotMachO) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("with %d bytes readable: %v", n, err)
			}
		}
	}
}

func machoSeeds() [][]byte {
	used := machoSpec{more: [][]byte{usedCommand(cmdLoadDylib, "/opt/a.dylib", 1), usedCommand(cmdWeakDylib, "b", 0), dylibCommand(cmdLazyDylib, "c")}}
	fat := fatSpec{slices: [][]byte{machoSpec{subtype: 2}.encode(), program().encode()}}
	return [][]byte{
		program().encode(), library().encode(), machoSpec{}.encode(), used.encode(), machoSpec{platforms: []uint32{6, 1}}.encode(),
		machoSpec{more: [][]byte{segmentCommand(0, 4096, 0, 0)}}.encode(), fat.encode(), fatSpec{wide: true, slices: fat.slices}.encode(),
		nil, []byte("#!/bin/sh\n"), numbers(magicThin), numbers(magicFat), program().encode()[:100], put32(atMachoSize, 1<<31)(program().encode()),
	}
}

// boundedMachO fails the test when it is asked for more than any part of a file can be.
type boundedMachO struct {
	t *testing.T
	r *bytes.Reader
}

func (b boundedMachO) ReadAt(p []byte, at int64) (int, error) {
	if len(p) > maxCommandBytes || at < 0 {
		b.t.Fatalf("%d bytes at %d are read at once", len(p), at)
	}
	return b.r.ReadAt(p, at)
}

// FuzzMachO: whatever the bytes, the reader ends, reads in bounded pieces, gives nothing with an error, and what it gives
// it gives again for a file that says just that and no more.
func FuzzMachO(f *testing.F) {
	for _, seed := range machoSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := parseMachO(boundedMachO{t, bytes.NewReader(file)}, int64(len(file)))
		if err != nil {
			if !reflect.DeepEqual(got, machoFile{}) {
				t.Fatalf("%+v and %v", got, err)
			}
			return
		}
		spec := machoSpec{kind: got.kind, dylinker: got.dylinker, name: got.installName, dylibs: got.dylibs, rpaths: got.rpaths}
		for _, again := range [][]byte{spec.encode(), fatSpec{slices: [][]byte{spec.encode()}}.encode()} {
			if read, err := parseBytes(again); err != nil || !reflect.DeepEqual(read, got) {
				t.Fatalf("%+v, %v, want %+v", read, err, got)
			}
		}
	})
}

func TestMachOSeeds(t *testing.T) {
	accepted := 0
	for _, seed := range machoSeeds() {
		if _, err := parseBytes(seed); err == nil {
			accepted++
		}
	}
	if accepted != 8 {
		t.Errorf("%d seeds of FuzzMachO are read, want 8", accepted)
	}
}
