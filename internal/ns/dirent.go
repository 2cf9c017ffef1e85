package ns

import (
	"bytes"
	"encoding/binary"
)

// Both layouts are little-endian, as every system that this is for, and begin with the inode number, of 64 bits, and eight bytes that mean
// nothing here. Then come, at 16, the size of the entry; what follows differs.

// cutLinuxEntry takes the first struct linux_dirent64 off what getdents64 read: the kind at 18, the name from 19 to its NUL.
func cutLinuxEntry(b []byte) (l listed, rest []byte) {
	size := binary.LittleEndian.Uint16(b[16:])
	name, _, _ := bytes.Cut(b[19:size], []byte{0})
	return listed{string(name), binary.LittleEndian.Uint64(b), uint32(b[18]) << 12}, b[size:]
}

// cutDarwinEntry takes the first struct dirent off what was read of a directory, that of 64-bit inodes, the only one on arm64: the length
// of the name at 18, the kind at 20, the name from 21.
func cutDarwinEntry(b []byte) (l listed, rest []byte) {
	size, length := binary.LittleEndian.Uint16(b[16:]), binary.LittleEndian.Uint16(b[18:])
	return listed{string(b[21:size][:length]), binary.LittleEndian.Uint64(b), uint32(b[20]) << 12}, b[size:]
}
