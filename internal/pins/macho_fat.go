package pins

import (
	"errors"
	"fmt"
	"io"
)

// fatSlice is one entry of the table that a file of several slices begins with.
type fatSlice struct {
	cpu          cpu
	offset, size uint64
	align        uint32 // as a power of two
}

const (
	fatHeaderSize   = 8
	fatEntrySize    = 20
	fat64EntrySize  = 32
	maxFatAlignment = 15 // as a power of two: what the linker and lipo write at most
)

// parseFat reads the arm64 slice of a universal file. The kernel and dyld choose by processor: a slice for arm64e beside
// one for arm64 is for Apple's own programs, and taken by no other unless the machine was started for that.
func parseFat(whole extent, wide bool) (machoFile, error) {
	table, err := fatSlices(whole, wide)
	if err != nil {
		return machoFile{}, err
	}
	var chosen *fatSlice
	for i := range table {
		if !table[i].cpu.arm64() {
			continue
		}
		if chosen != nil {
			return machoFile{}, errors.New("has more than one arm64 slice")
		}
		chosen = &table[i]
	}
	if chosen == nil {
		return machoFile{}, errOtherCPU
	}
	return chosen.parse(whole)
}

// parse reads the slice as a file of its own.
func (s fatSlice) parse(whole extent) (machoFile, error) {
	slice := extent{io.NewSectionReader(whole.r, int64(s.offset), int64(s.size)), int64(s.size)}
	if !slice.within(0, machoHeaderSize) {
		return machoFile{}, errors.New("has an arm64 slice that ends within its Mach-O header")
	}
	start := make([]byte, 12)
	if err := slice.read(start, 0); err != nil {
		return machoFile{}, err
	}
	if le32(start, 0) != magicThin {
		return machoFile{}, errors.New("has an arm64 slice that is not a little-endian Mach-O file of 64 bits")
	}
	if said := (cpu{le32(start, 4), le32(start, 8)}); said != s.cpu {
		return machoFile{}, errors.New("has an arm64 slice that says it is for another processor")
	}
	return parseThin(slice)
}

// fatSlices reads the table, in which no two slices share a byte.
func fatSlices(whole extent, wide bool) ([]fatSlice, error) {
	if !whole.within(0, fatHeaderSize) {
		return nil, errors.New("ends within its Mach-O header")
	}
	header := make([]byte, fatHeaderSize)
	if err := whole.read(header, 0); err != nil {
		return nil, err
	}
	count := be32(header, 4)
	if count == 0 || count > maxSlices {
		return nil, fmt.Errorf("has %d Mach-O slices, not 1 to %d", count, maxSlices)
	}
	entry := fatEntrySize
	if wide {
		entry = fat64EntrySize
	}
	raw := make([]byte, int(count)*entry)
	if !whole.within(fatHeaderSize, uint64(len(raw))) {
		return nil, errors.New("ends within its table of Mach-O slices")
	}
	if err := whole.read(raw, fatHeaderSize); err != nil {
		return nil, err
	}
	var table []fatSlice
	for ; len(raw) > 0; raw = raw[entry:] {
		s := fatSliceAt(raw, wide)
		if err := s.problem(whole, table, fatHeaderSize+uint64(int(count)*entry)); err != nil {
			return nil, err
		}
		table = append(table, s)
	}
	return table, nil
}

func fatSliceAt(b []byte, wide bool) fatSlice {
	s := fatSlice{cpu: cpu{be32(b, 0), be32(b, 4)}}
	if wide {
		s.offset, s.size, s.align = be64(b, 8), be64(b, 16), be32(b, 24)
	} else {
		s.offset, s.size, s.align = uint64(be32(b, 8)), uint64(be32(b, 12)), be32(b, 16)
	}
	return s
}

// problem says what is odd about where the slice is, after those before it and a table that ends at tableEnd.
func (s fatSlice) problem(whole extent, before []fatSlice, tableEnd uint64) error {
	if !whole.within(s.offset, s.size) || s.offset < tableEnd {
		return errors.New("has a Mach-O slice outside the file, or within its table")
	}
	if s.align > maxFatAlignment || s.offset%(1<<s.align) != 0 {
		return errors.New("has a Mach-O slice that is not aligned as it says")
	}
	for _, b := range before {
		if s.offset < b.offset+b.size && b.offset < s.offset+s.size {
			return errors.New("has Mach-O slices that overlap")
		}
	}
	return nil
}
