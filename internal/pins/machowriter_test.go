package pins

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// machoSpec is what a test wants a Mach-O file to say. The zero value is a library of arm64 without dependencies.
type machoSpec struct {
	kind      machoKind // 0 stands for a library
	subtype   uint32
	flags     uint32 // in place of those that are usual; 0 stands for them
	dylinker  string // of a program: empty stands for dyld
	name      string // of a library: empty stands for one
	dylibs    []machoDylib
	rpaths    []string
	platforms []uint32 // nil stands for macOS
	more      [][]byte // further commands
	without   []uint32 // commands that are left out
}

// Where encode puts things. The first command maps the whole file.
const (
	machoBase     = 0x100000000
	atMachoCPU    = 4
	atMachoSub    = 8
	atMachoType   = 12
	atMachoCount  = 16
	atMachoSize   = 20
	atMachoFlags  = 24
	atMachoFirst  = machoHeaderSize
	atMachoSecond = machoHeaderSize + segmentHeaderSize
)

// encode writes the file: header and commands, and 16 bytes that are mapped after them.
func (s machoSpec) encode() []byte {
	if s.kind == 0 {
		s.kind = machoLibrary
	}
	if s.flags == 0 {
		s.flags = flagDyldLink | flagPIE
	}
	commands := slices.DeleteFunc(s.commands(), func(c []byte) bool { return slices.Contains(s.without, le32(c, 0)) })
	body := bytes.Join(commands, nil)
	file := numbers(magicThin, 0x0100000c, s.subtype, uint32(s.kind), uint32(len(commands)), uint32(len(body)), s.flags, 0)
	file = append(append(file, body...), make([]byte, 16)...)
	if len(commands) > 0 && le32(file, atMachoFirst) == cmdSegment64 {
		binary.LittleEndian.PutUint64(file[atMachoFirst+32:], uint64(len(file)))
		binary.LittleEndian.PutUint64(file[atMachoFirst+48:], uint64(len(file)))
	}
	return file
}

func (s machoSpec) commands() [][]byte {
	commands := [][]byte{segmentCommand(machoBase, 0, 0, 0)}
	for _, d := range s.dylibs {
		kind := uint32(cmdLoadDylib)
		if d.weak {
			kind = cmdWeakDylib
		}
		commands = append(commands, dylibCommand(kind, d.name))
	}
	for _, p := range s.rpaths {
		commands = append(commands, stringCommand(cmdRPath, p))
	}
	if s.platforms == nil {
		s.platforms = []uint32{1}
	}
	for _, p := range s.platforms {
		commands = append(commands, command(cmdBuildVersion, numbers(p, 0xd0500, 0xf0000, 0)))
	}
	if s.kind == machoExecute {
		return append(append(commands, stringCommand(cmdLoadDylinker, orElse(s.dylinker, dyldPath)),
			command(cmdMain, make([]byte, 16))), s.more...)
	}
	return append(append(commands, dylibCommand(cmdIDDylib, orElse(s.name, "/usr/local/lib/me.dylib"))), s.more...)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// numbers are 32-bit fields.
func numbers(fields ...uint32) []byte {
	var b []byte
	for _, f := range fields {
		b = binary.LittleEndian.AppendUint32(b, f)
	}
	return b
}

// command is a load command, filled with NULs to a multiple of 8 bytes.
func command(kind uint32, body []byte) []byte {
	size := (8 + len(body) + 7) / 8 * 8
	c := append(numbers(kind, uint32(size)), body...)
	return append(c, make([]byte, size-len(c))...)
}

func stringCommand(kind uint32, s string) []byte {
	return command(kind, append(numbers(12), s+"\x00"...))
}

func dylibCommand(kind uint32, name string) []byte {
	return command(kind, append(numbers(24, 2, 0x10000, 0x10000), name+"\x00"...))
}

// usedCommand is a library in the form of macOS 15.
func usedCommand(kind uint32, name string, flags uint32) []byte {
	return command(kind, append(numbers(28, 0x1a741800, 0x10000, 0x10000, flags), name+"\x00"...))
}

// segmentCommand is a segment without sections.
func segmentCommand(address, memory, offset, fileSize uint64) []byte {
	body := append([]byte("__SEG"), make([]byte, 11)...)
	for _, v := range []uint64{address, memory, offset, fileSize} {
		body = binary.LittleEndian.AppendUint64(body, v)
	}
	return command(cmdSegment64, append(body, numbers(5, 5, 0, 0)...))
}

// fatSpec is a universal file. Each slice stands at the next multiple of 16 after the table and those before it.
type fatSpec struct {
	wide   bool
	slices [][]byte
}

// encode writes the file. The table says of each slice what the slice says itself.
func (s fatSpec) encode() []byte {
	entry, magic := fatEntrySize, magicFat
	if s.wide {
		entry, magic = fat64EntrySize, magicFat64
	}
	head := binary.BigEndian.AppendUint32(numbers(magic), uint32(len(s.slices)))
	offset := fatHeaderSize + entry*len(s.slices)
	var body []byte
	for _, slice := range s.slices {
		pad := -(offset + len(body)) & 15
		body = append(body, make([]byte, pad)...)
		fields := []uint32{le32(slice, 4), le32(slice, 8), uint32(offset + len(body)), uint32(len(slice)), 4}
		if s.wide {
			fields = []uint32{fields[0], fields[1], 0, fields[2], 0, fields[3], 4, 0}
		}
		for _, f := range fields {
			head = binary.BigEndian.AppendUint32(head, f)
		}
		body = append(body, slice...)
	}
	return append(head, body...)
}
