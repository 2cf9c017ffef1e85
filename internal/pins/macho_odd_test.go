package pins

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// odd holds the reader against one file that it must refuse, with a sentence that stands behind a path.
func odd(t *testing.T, name string, file []byte, want string) {
	t.Helper()
	f, err := parseBytes(file)
	if err == nil || !strings.Contains(err.Error(), want) || !reflect.DeepEqual(f, machoFile{}) {
		t.Errorf("%s: %+v, %v, want an error with %q and no file", name, f, err, want)
		return
	}
	if verb, _, _ := strings.Cut(err.Error(), " "); !slices.Contains([]string{"is", "has", "ends", "says", "names"}, verb) {
		t.Errorf("%s: %v, which says nothing behind a path", name, err)
	}
}

// big32 and big64 are edits of the table of a universal file.
func big32(at int, v uint32) func([]byte) []byte {
	return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return b }
}

func big64(at int, v uint64) func([]byte) []byte {
	return func(b []byte) []byte { binary.BigEndian.PutUint64(b[at:], v); return b }
}

// TestOddMachO edits one thing of the header or the first segment of a good program each time.
func TestOddMachO(t *testing.T) {
	size := uint64(len(program().encode()))
	rows := []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"no file", cut(0), errNotMachO.Error()},
		{"three bytes", cut(3), errNotMachO.Error()},
		{"text", func([]byte) []byte { return []byte("#!/bin/sh\n") }, errNotMachO.Error()},
		{"ELF", func([]byte) []byte { return elfSpec{}.encode() }, errNotMachO.Error()},
		{"end in the header", cut(31), "ends within its Mach-O header"},
		{"magic alone", cut(4), "ends within its Mach-O header"},
		{"32 bits", put32(0, magicThin32), "Mach-O file of 32 bits"},
		{"big endian", put32(0, magicThinSwapped), "big-endian"},
		{"big endian of 32 bits", put32(0, magicThin32Swap), "big-endian"},
		{"universal, swapped", put32(0, magicFatSwapped), "wrong byte order"},
		{"universal of 64 bits, swapped", put32(0, magicFat64Swap), "wrong byte order"},
		{"x86-64", put32(atMachoCPU, 0x01000007), errOtherCPU.Error()},
		{"arm of 32 bits", put32(atMachoCPU, 12), errOtherCPU.Error()},
		{"arm64_32", put32(atMachoCPU, 0x0200000c), errOtherCPU.Error()},
		{"arm64e", put32(atMachoSub, 2), errOtherCPU.Error()},
		{"arm64e with its version", put32(atMachoSub, 0x80000002), errOtherCPU.Error()},
		{"object file", put32(atMachoType, 1), "Mach-O type 1"},
		{"bundle", put32(atMachoType, 8), "Mach-O type 8"},
		{"in the shared cache", put32(atMachoFlags, flagDyldLink|flagPIE|flagInCache), "in the shared cache"},
		{"not for dyld", put32(atMachoFlags, flagPIE), "not linked for dyld"},
		{"fixed address", put32(atMachoFlags, flagDyldLink), "for a fixed address"},
		{"no commands", put32(atMachoCount, 0), "0 Mach-O commands"},
		{"too many commands", put32(atMachoCount, maxCommands+1), "4097 Mach-O commands"},
		{"too many bytes of commands", put32(atMachoSize, maxCommandBytes+1), "more than 1048576"},
		{"commands outside", put32(atMachoSize, uint32(size)-machoHeaderSize+1), "commands outside the file"},
		{"commands end early", put32(atMachoCount, 20), "more Mach-O commands than bytes"},
		{"commands end late", put32(atMachoCount, 7), "bytes after its Mach-O commands"},
		{"command of 0 bytes", put32(atMachoFirst+4, 0), "has a Mach-O command of 0 bytes"},
		{"command of 4 bytes", put32(atMachoFirst+4, 4), "has a Mach-O command of 4 bytes"},
		{"command of 76 bytes", put32(atMachoFirst+4, 76), "has a Mach-O command of 76 bytes"},
		{"command beyond the others", put32(atMachoFirst+4, 1<<31), "command of 2147483648 bytes"},
		{"sections that are not there", put32(atMachoFirst+64, 1), "segment command of 72 bytes"},
		{"sections that overflow", put32(atMachoFirst+64, 0xffffffff), "segment command of 72 bytes"},
		{"segment outside", put64(atMachoFirst+48, size+1), "segment outside the file"},
		{"segment that overflows", put64(atMachoFirst+40, ^uint64(0)), "segment outside the file"},
		{"segment at an impossible address", put64(atMachoFirst+24, 1<<48), "impossible addresses"},
		{"segment of an impossible size", put64(atMachoFirst+32, 1<<48), "impossible addresses"},
		{"segment smaller in memory", put64(atMachoFirst+32, 1), "impossible addresses"},
		{"commands not mapped", put64(atMachoFirst+48, machoHeaderSize), "not mapped with the header"},
		{"commands not mapped to the last byte", put64(atMachoFirst+48, size-17), "not mapped with the header"},
		{"header not mapped", put64(atMachoFirst+48, 0), "0 Mach-O segments that map its header"},
		{"string before its fields", put32(atMachoSecond+8, 23), "outside its command"},
		{"string at the end of its command", put32(atMachoSecond+8, 40), "outside its command"},
		{"string far away", put32(atMachoSecond+8, 1<<31), "outside its command"},
		{"string without an end", patch("b.dylib\x00\x00", "b.dylibxx"), "without an end"},
		{"two strings", patch("b.dylib\x00\x00", "b.dylib\x00x"), "more than one string"},
		{"string that begins with a NUL", put8(atMachoSecond+24, 0), "more than one string"},
		{"marked, and a string too early", put32(atMachoSecond+12, 0x1a741800), "form that is not known"},
	}
	for _, row := range rows {
		odd(t, row.name, row.edit(program().encode()), row.want)
	}
}

// TestOddCommands adds to a good program or library, or leaves out, one thing each time.
func TestOddCommands(t *testing.T) {
	one := func(c []byte) [][]byte { return [][]byte{c} }
	execute := func(s machoSpec) machoSpec { s.kind = machoExecute; return s }
	whole := uint64(len(machoSpec{more: one(segmentCommand(0, 0, 0, 0))}.encode()))
	rows := []struct {
		name string
		spec machoSpec
		want string
	}{
		{"unknown and required", machoSpec{more: one(command(0x80000099, nil))}, "0x80000099, which dyld would have to know"},
		{"unknown", machoSpec{more: one(command(0x99, nil))}, "0x99, which is not known here"},
		{"harmless, but required", machoSpec{more: one(command(0x1b|cmdRequired, nil))}, "dyld would have to know"},
		{"encrypted", machoSpec{more: one(command(cmdEncryption64, numbers(0, 0, 1, 0)))}, "is encrypted"},
		{"encryption of another size", machoSpec{more: one(command(cmdEncryption64, nil))}, "LC_ENCRYPTION_INFO_64 of 8 bytes"},
		{"segment of another size", machoSpec{more: one(command(cmdSegment64, nil))}, "segment command of 8 bytes"},
		{"segments that overlap", machoSpec{more: one(segmentCommand(machoBase+8, 8, 0, 0))}, "segments that overlap"},
		{"segment around another", machoSpec{more: one(segmentCommand(0, machoBase+1, 0, 0))}, "segments that overlap"},
		{"header mapped twice", machoSpec{more: one(segmentCommand(0x1000, 0x1000, 0, whole))}, "2 Mach-O segments that map its header"},
		{"header mapped twice, once in part", machoSpec{more: one(segmentCommand(0x1000, 0x1000, 0, 16))}, "not mapped with the header"},
		{"no segments", machoSpec{without: []uint32{cmdSegment64}}, "0 Mach-O segments that map its header"},
		{"library without a name", machoSpec{without: []uint32{cmdIDDylib}}, "library without a name"},
		{"library with two names", machoSpec{more: one(dylibCommand(cmdIDDylib, "b"))}, "more than one LC_ID_DYLIB"},
		{"library with an entry", machoSpec{more: one(command(cmdMain, make([]byte, 16)))}, "library with an LC_MAIN"},
		{"library with a dynamic linker", machoSpec{more: one(stringCommand(cmdLoadDylinker, dyldPath))}, "library with a dynamic linker"},
		{"program with a name", execute(machoSpec{more: one(dylibCommand(cmdIDDylib, "b"))}), "name of a library"},
		{"program without an entry", execute(machoSpec{without: []uint32{cmdMain}}), "0 LC_MAIN"},
		{"program with two entries", execute(machoSpec{more: one(command(cmdMain, make([]byte, 16)))}), "2 LC_MAIN"},
		{"program without a dynamic linker", execute(machoSpec{without: []uint32{cmdLoadDylinker}}), `dynamic linker ""`},
		{"program with two dynamic linkers", execute(machoSpec{more: one(stringCommand(cmdLoadDylinker, dyldPath))}), "more than one LC_LOAD_DYLINKER"},
		{"program with another dynamic linker", execute(machoSpec{dylinker: "/tmp/dyld"}), `dynamic linker "/tmp/dyld"`},
		{"static program", execute(machoSpec{more: one(command(0x5, nil))}), "LC_UNIXTHREAD"},
		{"no platform", machoSpec{platforms: []uint32{}}, "not for macOS"},
		{"library for another system", machoSpec{platforms: []uint32{2}}, "not for macOS"},
		{"program for the iPad too", execute(machoSpec{platforms: []uint32{1, 6}}), "not for macOS"},
		{"platform cut short", machoSpec{more: one(command(cmdBuildVersion, nil))}, "version of 8 bytes"},
		{"library cut short", machoSpec{more: one(command(cmdLoadDylib, numbers(8, 0)))}, "too short for its fields"},
		{"library without a name", machoSpec{more: one(dylibCommand(cmdLoadDylib, ""))}, "empty Mach-O string"},
		{"weak library without a name", machoSpec{more: one(dylibCommand(cmdWeakDylib, ""))}, "empty Mach-O string"},
		{"marked, with an unknown flag", machoSpec{more: one(usedCommand(cmdLoadDylib, "b", 0x10))}, "form that is not known"},
		{"marked, and a string further on", machoSpec{more: one(command(cmdLoadDylib, append(numbers(32, 0x1a741800, 0, 0, 0, 0), "b\x00"...)))}, "form that is not known"},
		{"empty rpath", machoSpec{more: one(stringCommand(cmdRPath, ""))}, "empty Mach-O string"},
		{"rpath cut short", machoSpec{more: one(command(cmdRPath, nil))}, "too short for its fields"},
	}
	for _, row := range rows {
		odd(t, row.name, row.spec.encode(), row.want)
	}
	for kind, what := range refusedCommands() {
		odd(t, what, machoSpec{more: one(command(kind, make([]byte, 16)))}.encode(), what)
	}
}

// fatForm is a form of the table of a universal file, and where in one of two slices the fields of the second are.
type fatForm struct {
	wide                                    bool
	cpu, sub, offset, size, align, tableEnd int
}

// number edits an offset or a size.
func (f fatForm) number(at int, v uint32) func([]byte) []byte {
	if f.wide {
		return big64(at, uint64(v))
	}
	return big32(at, v)
}

// far sets the first bit of a big-endian number.
func far(at int) func([]byte) []byte { return put8(at, 0x80) }

// TestOddFat edits one thing of a good universal file of two slices each time, in both forms.
func TestOddFat(t *testing.T) {
	oddFat(t, fatForm{wide: false, cpu: 28, sub: 32, offset: 36, size: 40, align: 44, tableEnd: 48})
	oddFat(t, fatForm{wide: true, cpu: 40, sub: 44, offset: 48, size: 56, align: 64, tableEnd: 72})
}

func oddFat(t *testing.T, form fatForm) {
	good := func() []byte {
		x86 := put32(atMachoCPU, 0x01000007)(library().encode())
		return fatSpec{wide: form.wide, slices: [][]byte{x86, library().encode()}}.encode()
	}
	all, one := len(good()), len(library().encode())
	second := all - one // where the second slice begins
	if _, err := parseBytes(good()); err != nil {
		t.Errorf("the good one (64 bits: %t): %v", form.wide, err)
	}
	rows := []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"end in the header", cut(7), "ends within its Mach-O header"},
		{"end in the table", cut(form.tableEnd - 1), "ends within its table"},
		{"no slices", big32(4, 0), "0 Mach-O slices"},
		{"too many slices", big32(4, maxSlices+1), "17 Mach-O slices"},
		{"Java", big32(4, 52), "52 Mach-O slices"},
		{"slice outside", form.number(form.size, uint32(one+1)), "outside the file"},
		{"slice beyond the end", form.number(form.offset, uint32(all+16)), "outside the file"},
		{"slice far away", far(form.offset), "outside the file"},
		{"size far away", far(form.size), "outside the file"},
		{"size that overflows", form.number(form.size, ^uint32(0)), "outside the file"},
		{"slice in the table", form.number(form.offset, uint32(form.tableEnd-1)), "within its table"},
		{"alignment", big32(form.align, maxFatAlignment+1), "not aligned"},
		{"alignment that overflows", big32(form.align, 64), "not aligned"},
		{"not aligned", big32(form.align, 15), "not aligned"},
		{"slices that overlap", form.number(form.offset, uint32(second-16)), "overlap"},
		{"two arm64 slices", big32(8, 0x0100000c), "more than one arm64 slice"},
		{"no arm64 slice", big32(form.cpu, 7), errOtherCPU.Error()},
		{"arm64e only", big32(form.sub, 2), errOtherCPU.Error()},
		{"empty slice", form.number(form.size, 0), "arm64 slice that ends within"},
		{"slice of 31 bytes", form.number(form.size, 31), "arm64 slice that ends within"},
		{"slice that is no Mach-O file", put32(second, 0), "not a little-endian Mach-O file"},
		{"slice that is universal", put32(second, magicFat), "not a little-endian Mach-O file"},
		{"slice for another processor", put32(second+atMachoCPU, 0x01000007), "another processor"},
		{"slice of another subtype", put32(second+atMachoSub, 1), "another processor"},
		{"slice with commands outside", put32(second+atMachoSize, 4096), "commands outside the file"},
	}
	for _, row := range rows {
		odd(t, fmt.Sprintf("%s (64 bits: %t)", row.name, form.wide), row.edit(good()), row.want)
	}
}
