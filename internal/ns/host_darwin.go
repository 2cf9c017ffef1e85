package ns

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const fitFileSystems = "APFS"

// fileSystemProblem says why a change, or its author, could go unseen on the file system that fd is on; empty when none would. APFS keeps
// ctimes in nanoseconds; HFS+ in whole seconds; on network file systems a server decides. A volume that ignores ownership, as external
// ones do unless told otherwise, shows every file as everybody's own. Access control lists are not looked at: only the owner, who is
// trusted, and root can give a directory one.
func fileSystemProblem(fd int) (string, error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return "", err
	}
	if name := unix.ByteSliceToString(st.Fstypename[:]); name != "apfs" {
		return "is on " + name + ", where a file swapped and swapped back cannot be seen", nil
	}
	if st.Flags&unix.MNT_IGNORE_OWNERSHIP != 0 {
		return "is on a volume that ignores ownership, so that it is everybody's", nil
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

// readEntries reads on in an open directory: whole entries, none at its end. x/sys has no getdirentries there. It opens the directory anew,
// without close-on-exec, and closes it again: no program may be forked meanwhile, or it would hold a directory of another run.
func readEntries(dir int, b []byte) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return unix.ReadDirent(dir, b)
}

func cutEntry(b []byte) (listed, []byte) { return cutDarwinEntry(b) }

// listBytes is how much of a directory is read at once. Each read of x/sys goes through the directory from its start and passes over as many
// names as were read before, so that a name can be missed while others go. Where that matters, the directory's ctime is compared afterwards,
// or the kernel refuses to remove what is not empty.
const listBytes = len(buffer{})

// macOS has no leases: the design asks for them on Linux only. A writer that has a file open or mapped during verification is seen there
// when it writes, by ctime and contents after the run, and not before.
func takeLease(int) error           { return nil }
func leaseIntact(int) (bool, error) { return true, nil }
func dropLease(int) error           { return nil }

// syncToDisk returns once the contents of an open file, or the names in an open directory, would survive a power cut: fsync on macOS stops
// at the drive's cache. A file system without F_FULLFSYNC, which no root is on, gets an fsync, as from [os.File.Sync]. That APFS takes a
// directory was not tried.
func syncToDisk(fd int) error {
	err := again(func() error { _, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0); return err })
	if err == unix.ENOTSUP {
		return again(func() error { return unix.Fsync(fd) })
	}
	return err
}
