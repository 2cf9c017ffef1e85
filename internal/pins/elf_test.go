package pins

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func parse(file []byte) (elfFile, error) {
	return parseELF(bytes.NewReader(file), int64(len(file)))
}

// wholeSpec uses every field the reader knows.
func wholeSpec() elfSpec {
	return elfSpec{
		machine: machineARM64, kind: elfExec, interp: "/lib/ld-linux-aarch64.so.1", needed: []string{"b.so", "a.so", "b.so"}, soname: "me.so.1",
		rpath: ref("/r:$ORIGIN"), runpath: ref(""), tags: [][2]uint64{{tagFlags1, 0x8000801}, {0x6ffffef5, 1}},
	}
}

func TestParseELF(t *testing.T) {
	rows := []struct {
		name string
		spec elfSpec
		want elfFile
	}{
		{"everything", wholeSpec(), elfFile{
			machine: machineARM64, kind: elfExec, interp: "/lib/ld-linux-aarch64.so.1", dynamic: true, needed: []string{"b.so", "a.so", "b.so"},
			soname: "me.so.1", rpath: ref("/r:$ORIGIN"), runpath: ref(""), noDefault: true,
		}},
		{"a library that needs nothing", elfSpec{}, elfFile{machine: machineAMD64, kind: elfDyn, dynamic: true}},
		{"static", elfSpec{kind: elfExec, noDynamic: true}, elfFile{machine: machineAMD64, kind: elfExec}},
		{"other flags", elfSpec{tags: [][2]uint64{{tagFlags1, 0x8000001}}}, elfFile{machine: machineAMD64, kind: elfDyn, dynamic: true}},
		{"entries after the end", elfSpec{tags: [][2]uint64{{tagStrTab, elfBase + bodyAt}, {tagStrSize, 1}, {tagNull, 0}, {tagNeeded, 1 << 60}}}, elfFile{machine: machineAMD64, kind: elfDyn, dynamic: true}},
	}
	for _, row := range rows {
		got, err := parse(row.spec.encode())
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %+v, %v, want %+v", row.name, got, err, row.want)
		}
	}
}

// put16, put32 and put64 are edits of a file.
func put16(at int, v uint16) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint16(b[at:], v); return b }
}

func put32(at int, v uint32) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
}

func put64(at int, v uint64) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b }
}

func put8(at int, v byte) func([]byte) []byte {
	return func(b []byte) []byte { b[at] = v; return b }
}

func cut(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }

// patch edits the interp header's string and the like, found by content.
func patch(old, new string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
}

// secondLoad turns the third program header into a PT_LOAD.
func secondLoad(offset, address, fileSize uint64) func([]byte) []byte {
	return func(b []byte) []byte {
		binary.LittleEndian.PutUint32(b[atHeaders3:], 1)
		for at, v := range map[int]uint64{8: offset, 16: address, 32: fileSize, 40: fileSize} {
			binary.LittleEndian.PutUint64(b[atHeaders3+at:], v)
		}
		return b
	}
}

// TestOddELF edits one thing of a good file each time.
func TestOddELF(t *testing.T) {
	size := len(wholeSpec().encode())
	rows := []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"no file", cut(0), errNotELF.Error()},
		{"text", func([]byte) []byte { return []byte("#!/bin/sh\n") }, errNotELF.Error()},
		{"magic", put8(1, 'e'), errNotELF.Error()},
		{"end in the header", cut(63), "ends within"},
		{"32 bits", put8(4, 1), errOtherClass.Error()},
		{"class 0", put8(4, 0), "not a little-endian"},
		{"class 3", put8(4, 3), "not a little-endian"},
		{"big endian", put8(5, 2), "not a little-endian"},
		{"ident version", put8(6, 2), "not a little-endian"},
		{"version", put32(20, 2), "not a little-endian"},
		{"FreeBSD", put8(7, 9), "ELF ABI 9"},
		{"ABI version", put8(8, 1), "ABI 0 version 1"},
		{"machine", put16(atMachine, 3), errOtherMachine.Error()},
		{"object file", put16(atType, 1), "ELF type 1"},
		{"core", put16(atType, 4), "ELF type 4"},
		{"header size", put16(52, 63), "unknown size"},
		{"program header size", put16(54, 32), "unknown size"},
		{"no program headers", put16(56, 0), "0 ELF program headers"},
		{"too many program headers", put16(56, maxProgramHeaders+1), "65 ELF program headers"},
		{"PN_XNUM", put16(56, 0xffff), "65535 ELF program headers"},
		{"program headers beyond the end", put64(32, uint64(size)-100), "headers outside"},
		{"program headers far away", put64(32, 1<<63), "headers outside"},
		{"load beyond the end", put64(atHeaders+32, uint64(size)+1), "segment of type 1 outside"},
		{"load that overflows", put64(atHeaders+8, ^uint64(0)), "segment of type 1 outside"},
		{"load at an impossible address", put64(atHeaders+16, 1<<48), "impossible addresses"},
		{"load with an impossible size", put64(atHeaders+40, 1<<48), "impossible addresses"},
		{"load smaller in memory", put64(atHeaders+40, 1), "impossible addresses"},
		{"load not congruent", put64(atHeaders+16, elfBase+1), "differ within a page"},
		{"loads that overlap", secondLoad(0, elfBase, 16), "overlap"},
		{"loads out of order", secondLoad(0, elfBase-0x1000, 16), "overlap"},
		{"two dynamic sections", put32(atHeaders3, 2), "more than one ELF PT_DYNAMIC"},
		{"two interpreters", put32(atHeaders2, 3), "more than one ELF PT_INTERP"},
		{"interpreter outside", put64(atHeaders3+8, 1<<40), "segment of type 3 outside"},
		{"interpreter empty", put64(atHeaders3+32, 1), "name of 1 bytes"},
		{"interpreter without an end", patch("aarch64.so.1\x00", "aarch64.so.1!"), "not one NUL-terminated"},
		{"interpreter of two strings", patch("/ld-linux", "/ld\x00linux"), "not one NUL-terminated"},
		{"interpreter of NULs", patch("/lib/ld", "\x00lib/ld"), "not one NUL-terminated"},
		{"dynamic section empty", put64(atHeaders2+32, 0), "section of 0 bytes"},
		{"dynamic section of odd size", put64(atHeaders2+32, 24), "section of 24 bytes"},
		{"dynamic section elsewhere in memory", put64(atHeaders2+16, elfBase), "not mapped from where it is"},
		{"dynamic section unmapped", put64(atHeaders2+16, 1<<40), "not mapped from where it is"},
		{"dynamic section mapped in part", put64(atHeaders+32, uint64(size)-8), "not mapped from where it is"},
		{"dynamic section without an end", put64(atHeaders2+32, dynamicEntrySize), "without an end"},
	}
	for _, row := range rows {
		if f, err := parse(row.edit(wholeSpec().encode())); err == nil || !strings.Contains(err.Error(), row.want) || !reflect.DeepEqual(f, elfFile{}) {
			t.Errorf("%s: %+v, %v, want an error with %q and no file", row.name, f, err, row.want)
		}
	}
}

func TestOddDynamicSections(t *testing.T) {
	long := strings.Repeat("x", maxELFString)
	rows := []struct {
		name string
		spec elfSpec
		want string
	}{
		{"audit", elfSpec{tags: [][2]uint64{{0x6ffffefc, 1}}}, "DT_AUDIT"},
		{"audit of dependencies", elfSpec{tags: [][2]uint64{{0x6ffffefb, 1}}}, "DT_DEPAUDIT"},
		{"configuration", elfSpec{tags: [][2]uint64{{0x6ffffefa, 1}}}, "DT_CONFIG"},
		{"filter", elfSpec{tags: [][2]uint64{{0x7fffffff, 1}}}, "DT_FILTER"},
		{"auxiliary filter", elfSpec{tags: [][2]uint64{{0x7ffffffd, 1}}}, "DT_AUXILIARY"},
		{"two run paths", elfSpec{runpath: ref("/a"), tags: [][2]uint64{{tagRunPath, 1}}}, "0x1d twice"},
		{"two string tables", elfSpec{tags: [][2]uint64{{tagStrTab, elfBase}}}, "0x5 twice"},
		{"needs too much", elfSpec{needed: slices.Repeat([]string{"a"}, maxNeeded+1)}, "more than 256 libraries"},
		{"needs a library without a name", elfSpec{needed: []string{""}}, "without a name"},
		{"name outside its table", elfSpec{tags: [][2]uint64{{tagNeeded, 1 << 20}}}, "outside its string table"},
		{"soname outside its table", elfSpec{tags: [][2]uint64{{tagSoname, ^uint64(0)}}}, "outside its string table"},
		{"RPATH outside its table", elfSpec{tags: [][2]uint64{{tagRPath, 1 << 20}}}, "outside its string table"},
		{"RUNPATH outside its table", elfSpec{tags: [][2]uint64{{tagRunPath, 1 << 20}}}, "outside its string table"},
		{"no string table", elfSpec{tags: [][2]uint64{{tagNeeded, 1}, {tagNull, 0}}}, "without a string table"},
		{"string table unmapped", elfSpec{tags: [][2]uint64{{tagNeeded, 1}, {tagStrTab, 1 << 40}, {tagStrSize, 8}, {tagNull, 0}}}, "outside its string table"},
		{"string table beyond its segment", elfSpec{tags: [][2]uint64{{tagNeeded, 1}, {tagStrTab, elfBase}, {tagStrSize, 1 << 30}, {tagNull, 0}}}, "outside its string table"},
		{"string without an end", elfSpec{tags: [][2]uint64{{tagNeeded, 0}, {tagStrTab, elfBase}, {tagStrSize, 4}, {tagNull, 0}}}, "without an end"},
		{"a name too long", elfSpec{needed: []string{long}}, "more than 4096 bytes"},
		{"an interpreter too long", elfSpec{interp: long}, "name of 4097 bytes"},
	}
	for _, row := range rows {
		if f, err := parse(row.spec.encode()); err == nil || !strings.Contains(err.Error(), row.want) || !reflect.DeepEqual(f, elfFile{}) {
			t.Errorf("%s: %+v, %v, want an error with %q and no file", row.name, f, err, row.want)
		}
	}
	if _, err := parse(elfSpec{needed: []string{long[1:]}}.encode()); err != nil {
		t.Errorf("the longest name: %v", err)
	}
	if _, err := parse(elfSpec{needed: slices.Repeat([]string{"a"}, maxNeeded)}.encode()); err != nil {
		t.Errorf("as many libraries as allowed: %v", err)
	}
}

// TestUnreadableELF: an error of the reader is the error, at whatever byte it comes, and is not taken for a form.
func TestUnreadableELF(t *testing.T) {
	file := wholeSpec().encode()
	for n := range len(file) {
		_, err := parseELF(bytes.NewReader(file[:n]), int64(len(file)))
		if err == nil || errors.Is(err, errNotELF) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("with %d bytes readable: %v", n, err)
		}
	}
}

// TestParsePinnedNode: the reader understands the file it is for.
func TestParsePinnedNode(t *testing.T) {
	f, err := os.Open(pinnedNode(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseELF(f, info.Size())
	if err != nil || !got.dynamic || !slices.Contains(got.needed, "libstdc++.so.6") || !strings.HasPrefix(got.interp, "/lib") {
		t.Errorf("%+v, %v", got, err)
	}
}

func elfSeeds() [][]byte {
	odd := wholeSpec().encode()
	return [][]byte{
		wholeSpec().encode(), elfSpec{}.encode(), elfSpec{kind: elfExec, noDynamic: true}.encode(), elfSpec{interp: "/lib64/ld-linux-x86-64.so.2", needed: []string{"libc.so.6"}}.encode(),
		nil, []byte("#!/bin/sh\n"), []byte("\x7fELF"), odd[:100], put64(32, 1<<63)(odd),
	}
}

func TestELFSeeds(t *testing.T) {
	if len(elfSeeds()) == 0 {
		t.Fatal("FuzzELF has no seeds")
	}
}

// boundedReader fails the test when it is asked for more than any part of a file can be.
type boundedReader struct {
	t *testing.T
	r *bytes.Reader
}

func (b boundedReader) ReadAt(p []byte, at int64) (int, error) {
	if len(p) > maxDynamicBytes || at < 0 {
		b.t.Fatalf("%d bytes at %d are read at once", len(p), at)
	}
	return b.r.ReadAt(p, at)
}

// FuzzELF: whatever the bytes, the reader ends, reads in bounded pieces, gives nothing with an error, and what it gives
// it gives again for a file that says just that and no more.
func FuzzELF(f *testing.F) {
	for _, seed := range elfSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := parseELF(boundedReader{t, bytes.NewReader(file)}, int64(len(file)))
		if err != nil {
			if !reflect.DeepEqual(got, elfFile{}) {
				t.Fatalf("%+v and %v", got, err)
			}
			return
		}
		spec := elfSpec{machine: got.machine, kind: got.kind, interp: got.interp, needed: got.needed, soname: got.soname, rpath: got.rpath, runpath: got.runpath, noDynamic: !got.dynamic}
		if got.noDefault {
			spec.tags = [][2]uint64{{tagFlags1, flagNoDefault}}
		}
		again, err := parse(spec.encode())
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%+v, %v, want %+v", again, err, got)
		}
	})
}
