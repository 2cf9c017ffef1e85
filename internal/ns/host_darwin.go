package ns

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const fitFileSystems = "APFS"

// fileSystemProblem says why a change could go unseen on the file system that fd is on; empty when none would. APFS keeps ctimes in
// nanoseconds; HFS+ in whole seconds; on network file systems a server decides.
func fileSystemProblem(fd int) (string, error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return "", err
	}
	if name := unix.ByteSliceToString(st.Fstypename[:]); name != "apfs" {
		return "is on " + name + ", where a file swapped and swapped back cannot be seen", nil
	}
	return "", nil
}

func leaseProblem() (problem, cure string) { return "", "" }

// bornAt is the birth time of a name in an open directory, in nanoseconds since 1970.
func bornAt(parent int, name string) (ns int64, known bool, err error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(parent, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return 0, false, err
	}
	return st.Btim.Nano(), true, nil
}

// isMountPoint has nothing to add there: macOS has no bind mounts, and another file system shows by its device.
func isMountPoint(int, string) (bool, error) { return false, nil }

// cutEntry takes the first struct dirent off what getdirentries read.
func cutEntry(b []byte) (l listed, rest []byte) {
	size, length := binary.NativeEndian.Uint16(b[16:]), binary.NativeEndian.Uint16(b[18:])
	return listed{string(b[21 : 21+length]), binary.NativeEndian.Uint64(b), uint32(b[20]) << 12}, b[size:]
}

// macOS has no leases: the design asks for them on Linux only. A writer that has a file open or mapped during verification is seen there
// when it writes, by ctime and contents after the run, and not before.
func takeLease(int) error           { return nil }
func leaseIntact(int) (bool, error) { return true, nil }
func dropLease(int) error           { return nil }

// syncToDisk returns once the contents of an open file, or the names in an open directory, would survive a power cut; fsync on macOS stops
// at the drive's cache.
func syncToDisk(fd int) error {
	return again(func() error { _, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0); return err })
}
