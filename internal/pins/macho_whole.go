package pins

import (
	"errors"
	"fmt"
)

// machoSegment is a part of the slice that is mapped.
type machoSegment struct{ address, memory, offset, fileSize uint64 }

const (
	segmentHeaderSize = 72
	sectionSize       = 80
)

// segment keeps a segment. Two that overlap in memory would leave it open which bytes of the file are there.
func (p *machoParser) segment(raw []byte) error {
	if len(raw) < segmentHeaderSize || uint64(len(raw)) != segmentHeaderSize+sectionSize*uint64(le32(raw, 64)) {
		return fmt.Errorf("has a Mach-O segment command of %d bytes, which is not what its sections take", len(raw))
	}
	if len(p.segments) == maxSegments {
		return fmt.Errorf("has more than %d Mach-O segments", maxSegments)
	}
	s := machoSegment{le64(raw, 24), le64(raw, 32), le64(raw, 40), le64(raw, 48)}
	if !p.slice.within(s.offset, s.fileSize) {
		return errors.New("has a Mach-O segment outside the file")
	}
	// 1<<48 is far above any user address, and keeps every sum below free of overflow.
	if s.address >= 1<<48 || s.memory >= 1<<48 || s.memory < s.fileSize {
		return errors.New("has a Mach-O segment at impossible addresses")
	}
	for _, b := range p.segments {
		if s.address < b.address+b.memory && b.address < s.address+s.memory {
			return errors.New("has Mach-O segments that overlap")
		}
	}
	p.segments = append(p.segments, s)
	return nil
}

// platform notes what the file is for. A library may be for programs of the iPad on a Mac too.
func (p *machoParser) platform(kind uint32, raw []byte) error {
	const macOS = 1
	if len(raw) < 16 {
		return fmt.Errorf("has a Mach-O version of %d bytes", len(raw))
	}
	if kind == cmdVersionMin || le32(raw, 8) == macOS {
		p.macOS = true
	} else {
		p.other = true
	}
	return nil
}

// whole checks what no command shows alone.
func (p *machoParser) whole() error {
	if !p.macOS || p.other && p.file.kind == machoExecute {
		return errors.New("is a Mach-O file that is not for macOS")
	}
	if err := p.headerMapped(); err != nil {
		return err
	}
	if p.file.kind == machoLibrary {
		return p.wholeLibrary()
	}
	return p.wholeProgram()
}

// headerMapped: dyld reads the commands again where they are mapped, and both must be the same bytes.
func (p *machoParser) headerMapped() error {
	found := 0
	for _, s := range p.segments {
		if s.offset == 0 && s.fileSize > 0 {
			found++
			if s.fileSize < p.end {
				return errors.New("has Mach-O commands that are not mapped with the header")
			}
		}
	}
	if found != 1 {
		return fmt.Errorf("has %d Mach-O segments that map its header, not one", found)
	}
	return nil
}

func (p *machoParser) wholeProgram() error {
	switch f := p.file; {
	case f.dylinker != dyldPath:
		return fmt.Errorf("is a program for the dynamic linker %q, not %s", f.dylinker, dyldPath)
	case p.mains != 1:
		return fmt.Errorf("is a program with %d LC_MAIN, not one", p.mains)
	case f.installName != "":
		return errors.New("is a program with the name of a library (LC_ID_DYLIB)")
	}
	return nil
}

func (p *machoParser) wholeLibrary() error {
	switch f := p.file; {
	case f.dylinker != "":
		return errors.New("is a library with a dynamic linker (LC_LOAD_DYLINKER)")
	case p.mains != 0:
		return errors.New("is a library with an LC_MAIN")
	case f.installName == "":
		return errors.New("is a library without a name (LC_ID_DYLIB)")
	}
	return nil
}
