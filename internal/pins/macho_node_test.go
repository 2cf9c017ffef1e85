package pins

import (
	"bytes"
	"debug/macho"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// darwinNodes are the official Nodes for macOS that tests read, oldest first.
func darwinNodes(t testing.TB) []string {
	t.Helper()
	var nodes []string
	for _, version := range []string{"26.3.0", "26.10.0"} {
		node := repoFile(t, filepath.Join(".node/darwin-arm64", version, "bin/node"))
		if _, err := os.Stat(node); err != nil {
			t.Fatalf("%v: run `make tools`", err)
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// openFile opens a file until the test ends.
func openFile(t *testing.T, path string) (f *os.File, size int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return f, info.Size()
}

// TestDarwinNode: what the official Node for macOS needs. All of it belongs to the system; a change of this list decides
// what the profile must allow.
func TestDarwinNode(t *testing.T) {
	want := machoFile{kind: machoExecute, dylinker: "/usr/lib/dyld", dylibs: []machoDylib{
		{"/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation", false},
		{"/System/Library/Frameworks/Security.framework/Versions/A/Security", false},
		{"/usr/lib/libc++.1.dylib", false},
		{"/usr/lib/libSystem.B.dylib", false},
	}}
	for _, node := range darwinNodes(t) {
		f, size := openFile(t, node)
		got, err := parseMachO(f, size)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", node, got, err, want)
		}
		agree(t, node, got, f)
	}
}

// TestDarwinNodeInFat: the same is read of it as one slice of a universal file.
func TestDarwinNodeInFat(t *testing.T) {
	f, size := openFile(t, darwinNodes(t)[1])
	want, err := parseMachO(f, size)
	if err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 1<<14)
	at := len(head)
	for i, v := range []uint32{0xcafebabe, 1, 0x0100000c, 0, uint32(at), uint32(size), 14} {
		head = big32(4*i, v)(head)
	}
	got, err := parseMachO(after{head, f}, int64(at)+size)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// after reads a file that stands behind a head. No read crosses the border.
type after struct {
	head []byte
	file io.ReaderAt
}

func (a after) ReadAt(p []byte, at int64) (int, error) {
	if at < int64(len(a.head)) {
		return copy(p, a.head[at:]), nil
	}
	return a.file.ReadAt(p, at-int64(len(a.head)))
}

// TestMachOAgreesWithGo: the reader of the standard library, which keeps plain libraries and LC_RPATH only, understands
// what the writer of these tests wrote as this reader does.
func TestMachOAgreesWithGo(t *testing.T) {
	for _, spec := range []machoSpec{program(), library(), {}, {kind: machoExecute}} {
		file := spec.encode()
		got, err := parseBytes(file)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, "a file of these tests", got, bytes.NewReader(file))
	}
}

// agree compares what was read with what the standard library reads.
func agree(t *testing.T, name string, got machoFile, r io.ReaderAt) {
	t.Helper()
	file, err := macho.NewFile(r)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	var rpaths []string
	weak := 0
	for _, load := range file.Loads {
		if rpath, ok := load.(*macho.Rpath); ok {
			rpaths = append(rpaths, rpath.Path)
		}
		if raw := load.Raw(); le32(raw, 0) == cmdWeakDylib {
			weak++
		}
	}
	var strong []string
	for _, d := range got.dylibs {
		if !d.weak {
			strong = append(strong, d.name)
		}
	}
	if !slices.Equal(strong, plain) || len(got.dylibs) != len(plain)+weak || !slices.Equal(rpaths, got.rpaths) || uint32(got.kind) != uint32(file.Type) {
		t.Errorf("%s: %+v, and debug/macho reads %v, %d weak and %v in type %d", name, got, plain, weak, rpaths, file.Type)
	}
}
