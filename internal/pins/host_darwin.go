package pins

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func hostFacts() ([]HostFact, error) {
	build, err := unix.Sysctl("kern.osversion")
	if err != nil {
		return nil, fmt.Errorf("pins: host facts: kern.osversion: %w", err)
	}
	return []HostFact{{"kern.osversion", build}}, nil
}

// openNoSymlinks opens path for reading when no part of it is a symlink, and does not wait for the other end of a FIFO.
func openNoSymlinks(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NOFOLLOW_ANY, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// spelledOnDisk is F_GETPATH of fcntl(2), which leaves firmlinks as people see them (/Users, not /System/Volumes/Data/Users). The path
// it was opened by is not looked at.
func spelledOnDisk(fd int, _ string) (string, error) {
	path := bytes.Repeat([]byte{0}, 1024) // MAXPATHLEN, and on the heap: the kernel is told a number, which must not move
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&path[0]))))
	runtime.KeepAlive(path)
	return unix.ByteSliceToString(path), err
}

func fileID(info fs.FileInfo) (FileID, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}, fmt.Errorf("pins: %s: no stat of it", info.Name())
	}
	return FileID{Dev: uint64(st.Dev), Ino: st.Ino, UID: st.Uid, Size: st.Size, MtimeNs: st.Mtimespec.Nano(), CtimeNs: st.Ctimespec.Nano()}, nil
}

func ownerOf(info fs.FileInfo) (uid, gid int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

// tellsChanges is for sealed copies, which there are none of.
func tellsChanges(*os.File) bool { return false }

func mountedNoexec(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.MNT_NOEXEC != 0
}

// machineID is empty: no sysctl tells the machine's own id (kern.uuid is that of the kernel's build).
func machineID() string { return "" }
