package ns

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A swap that is swapped back shows in nothing but ctime. On these file systems every change of contents, names or mode moves it, also one
// made through a mapping (page_mkwrite), and a read lease means what it says. On tmpfs a mapped write moves no ctime; on overlayfs the lower
// file can be rewritten under an intact lease; on NFS and FUSE a server decides.
const fitFileSystems = "ext4, xfs or btrfs"

// fileSystemProblem says why a change could go unseen on the file system that fd is on; empty when none would.
func fileSystemProblem(fd int) (string, error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return "", err
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC:
	default:
		return "is on " + fileSystemName(uint32(st.Type)) + ", where a file swapped and swapped back cannot be seen", nil
	}
	// Inodes too small for a birth time (ext2 and ext3 leave 128 bytes) have ctimes of whole seconds.
	if _, born, err := bornAt(fd, "."); err != nil || !born {
		return "is on a file system that keeps no birth times, so its ctimes are too coarse to show a swap", err
	}
	return "", nil
}

func fileSystemName(magic uint32) string {
	switch magic {
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs (as all of a container is but its volumes, docker run -v)"
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.MSDOS_SUPER_MAGIC:
		return "FAT"
	}
	return fmt.Sprintf("a file system of type %#x", magic)
}

// leaseProblem says why the kernel would grant us no leases at all, with the cure; both empty when it would. What cannot be read is left to
// the first lease to tell.
func leaseProblem() (problem, cure string) {
	if os.Geteuid() == 0 && !maySetLeases() {
		return "this process runs as root without CAP_LEASE, so that an open writer of a slot's files, which belong to another user, could not be seen",
			"give it CAP_LEASE, or run it as an ordinary user"
	}
	text, err := os.ReadFile("/proc/sys/fs/leases-enable")
	if err == nil && strings.TrimSpace(string(text)) == "0" {
		return "file leases are switched off on this host, so that an open writer could not be seen", "sysctl -w fs.leases-enable=1"
	}
	return "", ""
}

// maySetLeases reports whether this thread may take leases on files of other users.
func maySetLeases() bool {
	var sets [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &sets[0])
	return err != nil || sets[unix.CAP_LEASE/32].Effective&(1<<(unix.CAP_LEASE%32)) != 0
}

// bornAt is the birth time of a name in an open directory, in nanoseconds since 1970; false when the file system keeps none.
func bornAt(parent int, name string) (ns int64, known bool, err error) {
	var st unix.Statx_t
	if err := again(func() error { return unix.Statx(parent, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) }); err != nil {
		return 0, false, err
	}
	if st.Mask&unix.STATX_BTIME == 0 {
		return 0, false, nil
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec), true, nil
}

// isMountPoint reports whether a name in an open directory leads to the top of another mount, a bind mount of the same file system included.
func isMountPoint(parent int, name string) (bool, error) {
	var st unix.Statx_t
	err := again(func() error { return unix.Statx(parent, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, 0, &st) })
	return st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, err
}

// readEntries reads on in an open directory: whole entries, none at its end.
func readEntries(dir int, b []byte) (int, error) { return unix.ReadDirent(dir, b) }

func cutEntry(b []byte) (listed, []byte) { return cutLinuxEntry(b) }

// listBytes is how much of a directory is read at once. More is not faster.
const listBytes = 8 << 10

// takeLease asks for a read lease on a descriptor open for reading. EAGAIN: somebody has the file open or mapped for writing. It needs the
// file's owner or CAP_LEASE. A broken lease sends SIGIO, which the Go runtime drops unless a program asked os/signal for it.
func takeLease(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	return err
}

// leaseIntact reports whether no writer has come since takeLease; a writer that waits for us to let go counts as come.
func leaseIntact(fd int) (bool, error) {
	kind, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return kind == unix.F_RDLCK, err
}

// dropLease must be called before the descriptor is closed: a child between fork and exec holds a copy, and with it the lease.
func dropLease(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err
}

// syncToDisk returns once the contents of an open file, or the names in an open directory, would survive a power cut.
func syncToDisk(fd int) error {
	return again(func() error { return unix.Fsync(fd) })
}
