package pins

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The Mach-O reader answers one question: what does dyld do with this file before any of its code runs? It reads the
// header and the load commands of the arm64 slice only, within the bounds below, and refuses every form that two readers
// could understand differently. It holds no state and allocates no more than the bounds allow, whatever the file says.
//
// Its sources are the public headers (mach-o/loader.h, mach-o/fat.h) and the published source of dyld. Nothing here was
// tried on a Mac. Entitlements, and all else that is signed, are not read: what they allow does not change which files
// are loaded.

// Bounds of what is read. The official Node is one slice of 21 commands in 2496 bytes, with 5 segments and 4 libraries.
const (
	maxSlices       = 16
	maxCommands     = 4096
	maxCommandBytes = 1 << 20
	maxSegments     = 64
	maxDylibs       = 256
	maxRPaths       = 64
	maxMachOString  = 1024 // bytes of one path, the ending NUL included: PATH_MAX of macOS
)

// The first four bytes of a file, as a little-endian number. The header of a file of several slices is big-endian.
const (
	magicThin        uint32 = 0xfeedfacf
	magicThinSwapped uint32 = 0xcffaedfe
	magicThin32      uint32 = 0xfeedface
	magicThin32Swap  uint32 = 0xcefaedfe
	magicFat         uint32 = 0xbebafeca
	magicFat64       uint32 = 0xbfbafeca
	magicFatSwapped  uint32 = 0xcafebabe
	magicFat64Swap   uint32 = 0xcafebabf
)

const machoHeaderSize = 32

// Flags of the header that decide whether dyld takes the file.
const (
	flagDyldLink = 0x4        // MH_DYLDLINK: it is for dyld
	flagPIE      = 0x200000   // MH_PIE: it runs at any address
	flagInCache  = 0x80000000 // MH_DYLIB_IN_CACHE: it is a library in the shared cache, and no file
)

// machoKind is the file type: a program or a library.
type machoKind uint32

const (
	machoExecute machoKind = 2
	machoLibrary machoKind = 6
)

var (
	// errNotMachO: the file does not begin as a Mach-O file does.
	errNotMachO = errors.New("is not a Mach-O file")
	// errOtherCPU: a Mach-O file of 64 bits without anything for arm64. The form for arm64e, Apple's own, is not that.
	errOtherCPU = errors.New("is a Mach-O file without code for arm64")
)

// machoFile is what dyld reads of one file's arm64 slice.
type machoFile struct {
	kind        machoKind
	dylinker    string       // LC_LOAD_DYLINKER: /usr/lib/dyld for a program, empty for a library
	installName string       // LC_ID_DYLIB; empty for a program
	dylibs      []machoDylib // in order, of every kind: plain, weak, re-exported, upward, lazy
	rpaths      []string     // in order
}

// machoDylib is one library that the file names. Of one that names none, newer versions of dyld act as if it named
// /usr/lib/libSystem.B.dylib.
type machoDylib struct {
	name string
	weak bool // dyld goes on without it
}

// parseMachO reads the file of size bytes behind r. Errors are errNotMachO, errOtherCPU, an error of r, or say what is odd
// about the file.
func parseMachO(r io.ReaderAt, size int64) (machoFile, error) {
	whole := extent{r, size}
	if !whole.within(0, 4) {
		return machoFile{}, errNotMachO
	}
	start := make([]byte, 4)
	if err := whole.read(start, 0); err != nil {
		return machoFile{}, err
	}
	switch magic := le32(start, 0); magic {
	case magicThin:
		return parseThin(whole)
	case magicFat, magicFat64:
		return parseFat(whole, magic == magicFat64)
	case magicFatSwapped, magicFat64Swap:
		return machoFile{}, errors.New("is a universal Mach-O file in the wrong byte order")
	case magicThinSwapped, magicThin32Swap:
		return machoFile{}, errors.New("is a big-endian Mach-O file")
	case magicThin32:
		return machoFile{}, errors.New("is a Mach-O file of 32 bits")
	}
	return machoFile{}, errNotMachO
}

// parseThin reads one slice, which is known to hold a magic number.
func parseThin(slice extent) (machoFile, error) {
	if !slice.within(0, machoHeaderSize) {
		return machoFile{}, errors.New("ends within its Mach-O header")
	}
	header := make([]byte, machoHeaderSize)
	if err := slice.read(header, 0); err != nil {
		return machoFile{}, err
	}
	if !(cpu{le32(header, 4), le32(header, 8)}).arm64() {
		return machoFile{}, errOtherCPU
	}
	kind := machoKind(le32(header, 12))
	if err := headerProblem(kind, le32(header, 24)); err != nil {
		return machoFile{}, err
	}
	commands, err := readCommands(slice, le32(header, 16), le32(header, 20))
	if err != nil {
		return machoFile{}, err
	}
	p := machoParser{slice: slice, end: machoHeaderSize + uint64(len(commands)), file: machoFile{kind: kind}}
	if err := p.commands(commands, le32(header, 16)); err != nil {
		return machoFile{}, err
	}
	if err := p.whole(); err != nil {
		return machoFile{}, err
	}
	return p.file, nil
}

// headerProblem is what dyld, or the kernel, would not take about the header.
func headerProblem(kind machoKind, flags uint32) error {
	switch {
	case kind != machoExecute && kind != machoLibrary:
		return fmt.Errorf("has Mach-O type %d, neither a program nor a library", kind)
	case flags&flagInCache != 0:
		return errors.New("says that it is in the shared cache, and is a file")
	case flags&flagDyldLink == 0:
		return errors.New("is not linked for dyld")
	case kind == machoExecute && flags&flagPIE == 0:
		return errors.New("is a program for a fixed address, which arm64 does not have")
	}
	return nil
}

func readCommands(slice extent, count, size uint32) ([]byte, error) {
	if count == 0 || count > maxCommands {
		return nil, fmt.Errorf("has %d Mach-O commands, not 1 to %d", count, maxCommands)
	}
	if size > maxCommandBytes {
		return nil, fmt.Errorf("has %d bytes of Mach-O commands, more than %d", size, maxCommandBytes)
	}
	if !slice.within(machoHeaderSize, uint64(size)) {
		return nil, errors.New("has Mach-O commands outside the file")
	}
	commands := make([]byte, size)
	return commands, slice.read(commands, machoHeaderSize)
}

// cpu is the type and subtype of a processor that a slice is for.
type cpu struct{ kind, subtype uint32 }

// arm64 holds for CPU_SUBTYPE_ARM64_ALL and _V8, whatever the capability bits say. Subtype 2 is arm64e.
func (c cpu) arm64() bool {
	const typeARM64, capabilities = 0x0100000c, 0xff000000
	return c.kind == typeARM64 && c.subtype&^capabilities <= 1
}

func be32(b []byte, at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
func be64(b []byte, at int) uint64 { return binary.BigEndian.Uint64(b[at:]) }
