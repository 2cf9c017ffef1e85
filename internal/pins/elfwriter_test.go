package pins

import (
	"encoding/binary"
)

// elfSpec is what a test wants an ELF file to say. The zero value is a shared object for amd64 that needs nothing.
type elfSpec struct {
	machine        uint16 // 0 stands for amd64
	kind           elfType
	interp         string
	needed         []string
	soname         string
	rpath, runpath *string
	tags           [][2]uint64 // further dynamic entries
	noDynamic      bool
	data           string // content beside the headers
}

func ref(s string) *string { return &s }

// Where encode puts things: the headers first, then everything else at data offset 0x200 and after, all of it mapped by
// one PT_LOAD at elfBase.
const (
	elfBase    = 0x10000
	atType     = 16
	atMachine  = 18
	atHeaders  = elfHeaderSize                   // the first program header is PT_LOAD
	atHeaders2 = atHeaders + programHeaderSize   // PT_DYNAMIC, unless there is none
	atHeaders3 = atHeaders + 2*programHeaderSize // PT_INTERP, unless there is none
	bodyAt     = 0x200
)

// encode writes the file. Its dynamic section ends it, the end mark being the last 16 bytes.
func (s elfSpec) encode() []byte {
	order := binary.LittleEndian
	file := make([]byte, bodyAt)
	copy(file, "\x7fELF\x02\x01\x01")
	machine, kind := s.machine, s.kind
	if machine == 0 {
		machine = machineAMD64
	}
	if kind == 0 {
		kind = elfDyn
	}
	order.PutUint16(file[atType:], uint16(kind))
	order.PutUint16(file[atMachine:], machine)
	order.PutUint32(file[20:], 1)
	order.PutUint64(file[32:], elfHeaderSize)
	order.PutUint16(file[52:], elfHeaderSize)
	order.PutUint16(file[54:], programHeaderSize)

	interpAt := len(file)
	file = append(file, s.interp+"\x00"...)
	file = append(file, s.data...)
	dynamic, table := s.dynamicSection(uint64(len(file)))
	file = append(file, table...)
	for len(file)%dynamicEntrySize != 0 {
		file = append(file, 0)
	}
	dynamicAt := len(file)
	file = append(file, dynamic...)

	segments := [][3]uint64{{1, 0, uint64(len(file))}}
	if !s.noDynamic {
		segments = append(segments, [3]uint64{2, uint64(dynamicAt), uint64(len(dynamic))})
	}
	if s.interp != "" {
		segments = append(segments, [3]uint64{3, uint64(interpAt), uint64(len(s.interp) + 1)})
	}
	order.PutUint16(file[56:], uint16(len(segments)))
	for i, segment := range segments {
		header := file[elfHeaderSize+i*programHeaderSize:]
		order.PutUint32(header, uint32(segment[0]))
		order.PutUint64(header[8:], segment[1])
		order.PutUint64(header[16:], elfBase+segment[1])
		order.PutUint64(header[32:], segment[2])
		order.PutUint64(header[40:], segment[2])
	}
	return file
}

// dynamicSection writes the entries and the string table, which will be at that offset of the file.
func (s elfSpec) dynamicSection(tableAt uint64) (entries, table []byte) {
	table = []byte{0}
	entry := func(tag, value uint64) {
		entries = binary.LittleEndian.AppendUint64(entries, tag)
		entries = binary.LittleEndian.AppendUint64(entries, value)
	}
	text := func(tag uint64, value string) {
		entry(tag, uint64(len(table)))
		table = append(table, value+"\x00"...)
	}
	for _, name := range s.needed {
		text(tagNeeded, name)
	}
	if s.soname != "" {
		text(tagSoname, s.soname)
	}
	if s.rpath != nil {
		text(tagRPath, *s.rpath)
	}
	if s.runpath != nil {
		text(tagRunPath, *s.runpath)
	}
	for _, tag := range s.tags {
		entry(tag[0], tag[1])
	}
	entry(tagStrTab, elfBase+tableAt)
	entry(tagStrSize, uint64(len(table)))
	entry(tagNull, 0)
	return entries, table
}
