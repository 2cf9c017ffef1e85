package ns

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// darwinEntry is a struct dirent as sys/dirent.h of macOS lays it out: what x/sys has as Dirent for darwin/arm64.
func darwinEntry(ino uint64, kind byte, name string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, ino)
	b = binary.LittleEndian.AppendUint64(b, 0x1111222233334444) // d_seekoff
	size := (21 + len(name) + 1 + 3) / 4 * 4
	b = binary.LittleEndian.AppendUint16(b, uint16(size))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
	b = append(append(b, kind), name...)
	return append(b, bytes.Repeat([]byte{0}, size-len(b))...)
}

// linuxEntry is a struct linux_dirent64.
func linuxEntry(ino uint64, kind byte, name string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, ino)
	b = binary.LittleEndian.AppendUint64(b, 0x1111222233334444) // d_off
	size := (19 + len(name) + 1 + 7) / 8 * 8
	b = binary.LittleEndian.AppendUint16(b, uint16(size))
	b = append(append(b, kind), name...)
	return append(b, bytes.Repeat([]byte{0}, size-len(b))...)
}

func TestEntriesOfBothLayouts(t *testing.T) {
	want := []listed{{"slot-0", 1<<40 + 7, unix.S_IFDIR}, {"a", 2, unix.S_IFREG}, {"gone", 0, unix.S_IFREG}, {"link", 3, unix.S_IFLNK}}
	for name, layout := range map[string]struct {
		write func(uint64, byte, string) []byte
		cut   func([]byte) (listed, []byte)
		fits  bool
	}{
		"macOS":              {darwinEntry, cutDarwinEntry, true},
		"Linux":              {linuxEntry, cutLinuxEntry, true},
		"one for the other":  {linuxEntry, cutDarwinEntry, false},
		"the other, for one": {darwinEntry, cutLinuxEntry, false},
	} {
		var text []byte
		for _, l := range want {
			text = append(text, layout.write(l.ino, byte(l.kind>>12), l.name)...)
		}
		got := entriesOf(text, layout.cut)
		if fits := slices.Equal(got, want); fits != layout.fits {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// entriesOf stops where a layout leads out of the text.
func entriesOf(text []byte, cut func([]byte) (listed, []byte)) (out []listed) {
	defer func() { _ = recover() }()
	for len(text) > 0 {
		var l listed
		l, text = cut(text)
		out = append(out, l)
	}
	return out
}
