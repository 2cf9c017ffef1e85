package pins

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func hostFacts() ([]HostFact, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, fmt.Errorf("pins: host facts: uname: %w", err)
	}
	return []HostFact{
		{"kernel-release", unix.ByteSliceToString(u.Release[:])},
		{"kernel-version", unix.ByteSliceToString(u.Version[:])},
		{"landlock-abi", strconv.Itoa(landlockABI())},
	}, nil
}

// landlockABI is 0 where the kernel has no Landlock, or has it switched off.
func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// openNoSymlinks opens path for reading when no part of it is a symlink, and does not wait for the other end of a FIFO.
func openNoSymlinks(path string) (*os.File, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "openat2", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// spelledOnDisk is the path itself: a file system of Linux knows one spelling of a name, but for folders that somebody made
// to fold case, in which another spelling fails to be the name of anything in a private root.
func spelledOnDisk(_ int, path string) (string, error) { return path, nil }

func fileID(info fs.FileInfo) (FileID, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}, fmt.Errorf("pins: %s: no stat of it", info.Name())
	}
	return FileID{Dev: st.Dev, Ino: st.Ino, UID: st.Uid, Size: st.Size, MtimeNs: st.Mtim.Nano(), CtimeNs: st.Ctim.Nano()}, nil
}

func ownerOf(info fs.FileInfo) (uid, gid int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

func mountedNoexec(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.ST_NOEXEC != 0
}

// tellsChanges says whether the file system that f is on moves the change time of a file with every change of it. On tmpfs
// a write through a mapping does not, and on NFS and FUSE a server decides. overlayfs says what the file system below it
// says, and only root could write below it.
func tellsChanges(f *os.File) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &st) != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}

// machineID is the first id there is, as its file has it.
func machineID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return string(text)
		}
	}
	return ""
}
