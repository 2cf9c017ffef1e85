package pins

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The ELF reader answers one question: what does the loader do with this file before any of its code runs? It reads
// the headers and the dynamic section only, within the bounds below, and refuses every form that two readers could
// understand differently. It holds no state and allocates no more than the bounds allow, whatever the file says.

// Machines of ELF files that a runtime can be built for (e_machine).
const (
	machineAMD64 uint16 = 62
	machineARM64 uint16 = 183
)

// Bounds of what is read. The official Node has 14 program headers and 38 dynamic entries.
const (
	maxProgramHeaders = 64
	maxDynamicBytes   = 64 << 10
	maxNeeded         = 256
	maxELFString      = 4096 // bytes of one path or name, the ending NUL included
)

const (
	elfHeaderSize     = 64
	programHeaderSize = 56
	dynamicEntrySize  = 16
	elfPageSize       = 4096
)

// elfType is e_type: a program at a fixed address, or a shared object (libraries and position-independent programs).
type elfType uint16

const (
	elfExec elfType = 2
	elfDyn  elfType = 3
)

var (
	// errNotELF: the file does not begin as an ELF file does.
	errNotELF = errors.New("is not an ELF file")
	// errOtherClass: an ELF file of 32 bits. The loader passes over such a library.
	errOtherClass = errors.New("is an ELF file of 32 bits")
	// errOtherMachine: an ELF file for neither x86-64 nor aarch64. The loader passes over such a library.
	errOtherMachine = errors.New("is an ELF file for another machine than x86-64 and aarch64")
)

// elfFile is what the loader reads of one file.
type elfFile struct {
	machine   uint16
	kind      elfType
	interp    string // PT_INTERP; empty when there is none
	dynamic   bool   // there is a PT_DYNAMIC
	needed    []string
	soname    string
	rpath     *string // nil when the file has none, which differs from an empty one
	runpath   *string
	noDefault bool // DF_1_NODEFLIB: what it needs is not looked for in the default directories
}

// parseELF reads the file of size bytes behind r. Errors are errNotELF, errOtherClass, errOtherMachine, an error of r, or
// say what is odd about the file.
func parseELF(r io.ReaderAt, size int64) (elfFile, error) {
	p := elfParser{extent: extent{r, size}}
	header, err := p.header()
	if err != nil {
		return elfFile{}, err
	}
	f := elfFile{machine: le16(header, 18), kind: elfType(le16(header, 16))}
	if err := p.segments(header); err != nil {
		return elfFile{}, err
	}
	if f.interp, err = p.interpreter(); err != nil {
		return elfFile{}, err
	}
	if p.dynamic == nil {
		return f, nil
	}
	f.dynamic = true
	tags, err := p.dynamicTags()
	if err != nil {
		return elfFile{}, err
	}
	if err := p.dependencies(tags, &f); err != nil {
		return elfFile{}, err
	}
	return f, nil
}

// elfParser holds the segments that the later steps look addresses up in.
type elfParser struct {
	extent
	loads   []segment // in ascending address order, no two sharing a page
	dynamic *segment
	interp  *segment
}

// segment is a program header whose bytes in the file are known to lie within the file.
type segment struct{ offset, address, fileSize, memory uint64 }

func (p *elfParser) header() ([]byte, error) {
	header := make([]byte, min(max(p.size, 0), elfHeaderSize))
	if err := p.read(header, 0); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(header), "\x7fELF") {
		return nil, errNotELF
	}
	if len(header) < elfHeaderSize {
		return nil, errors.New("ends within its ELF header")
	}
	if header[4] == 1 {
		return nil, errOtherClass
	}
	if header[4] != 2 || header[5] != 1 || header[6] != 1 || le32(header, 20) != 1 {
		return nil, errors.New("is not a little-endian ELF file of 64 bits and version 1")
	}
	if m := le16(header, 18); m != machineAMD64 && m != machineARM64 {
		return nil, errOtherMachine
	}
	// The loader accepts the System V and GNU ABIs in version 0.
	if abi := header[7]; (abi != 0 && abi != 3) || header[8] != 0 {
		return nil, fmt.Errorf("has ELF ABI %d version %d, not one of Linux", header[7], header[8])
	}
	if kind := elfType(le16(header, 16)); kind != elfExec && kind != elfDyn {
		return nil, fmt.Errorf("has ELF type %d, neither a program nor a shared object", kind)
	}
	return header, nil
}

func (p *elfParser) segments(header []byte) error {
	count, offset := int(le16(header, 56)), le64(header, 32)
	if le16(header, 52) != elfHeaderSize || le16(header, 54) != programHeaderSize {
		return errors.New("has ELF headers of an unknown size")
	}
	if count == 0 || count > maxProgramHeaders {
		return fmt.Errorf("has %d ELF program headers, not 1 to %d", count, maxProgramHeaders)
	}
	table := make([]byte, count*programHeaderSize)
	if !p.within(offset, uint64(len(table))) {
		return errors.New("has ELF program headers outside the file")
	}
	if err := p.read(table, int64(offset)); err != nil {
		return err
	}
	for i := range count {
		if err := p.segment(table[i*programHeaderSize:][:programHeaderSize]); err != nil {
			return err
		}
	}
	return nil
}

// segment keeps one program header if the loader acts on it.
func (p *elfParser) segment(header []byte) error {
	const typeLoad, typeDynamic, typeInterp = 1, 2, 3
	kind := le32(header, 0)
	if kind != typeLoad && kind != typeDynamic && kind != typeInterp {
		return nil
	}
	s := segment{offset: le64(header, 8), address: le64(header, 16), fileSize: le64(header, 32), memory: le64(header, 40)}
	if !p.within(s.offset, s.fileSize) {
		return fmt.Errorf("has an ELF segment of type %d outside the file", kind)
	}
	// 1<<48 is far above any user address, and keeps every sum below free of overflow.
	if s.address >= 1<<48 || s.memory >= 1<<48 || s.memory < s.fileSize {
		return fmt.Errorf("has an ELF segment of type %d at impossible addresses", kind)
	}
	switch kind {
	case typeDynamic:
		return keepOnce(&p.dynamic, s, "PT_DYNAMIC")
	case typeInterp:
		return keepOnce(&p.interp, s, "PT_INTERP")
	}
	return p.load(s)
}

// load keeps a segment that is mapped. Two that share a page, or are out of order, would leave it open which bytes of the
// file are at an address.
func (p *elfParser) load(s segment) error {
	if s.offset%elfPageSize != s.address%elfPageSize {
		return errors.New("has an ELF segment that cannot be mapped: its offset and address differ within a page")
	}
	if n := len(p.loads); n > 0 {
		last := p.loads[n-1]
		if end := last.address + last.memory; s.address/elfPageSize < (end+elfPageSize-1)/elfPageSize {
			return errors.New("has ELF segments that overlap or are out of order")
		}
	}
	p.loads = append(p.loads, s)
	return nil
}

func keepOnce(to **segment, s segment, name string) error {
	if *to != nil {
		return fmt.Errorf("has more than one ELF %s", name)
	}
	*to = &s
	return nil
}

// interpreter reads PT_INTERP: one NUL-terminated string that fills its segment, as the kernel demands.
func (p *elfParser) interpreter() (string, error) {
	if p.interp == nil {
		return "", nil
	}
	if n := p.interp.fileSize; n < 2 || n > maxELFString {
		return "", fmt.Errorf("has an ELF interpreter name of %d bytes", n)
	}
	raw := make([]byte, p.interp.fileSize)
	if err := p.read(raw, int64(p.interp.offset)); err != nil {
		return "", err
	}
	name, rest, found := strings.Cut(string(raw), "\x00")
	if !found || rest != "" || name == "" {
		return "", errors.New("has an ELF interpreter name that is not one NUL-terminated string")
	}
	return name, nil
}

func le16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
func le32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func le64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
