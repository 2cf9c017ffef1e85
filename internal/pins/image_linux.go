package pins

import (
	"context"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// imageMode: a confined process, of whatever user, opens its own executable, as V8 does to map its built-in code again.
	imageMode  = 0o555
	imageSeals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_EXEC | unix.F_SEAL_SEAL

	hugePage = 2 << 20
)

// newImageFile is an empty file in memory that can be sealed and executed, and may get that many bytes.
func newImageFile(size int64) (*os.File, error) {
	if err := mayWrite(size); err != nil {
		return nil, err
	}
	if err := mayKeep(size, memoryLimit()); err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate(ImageName, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	switch {
	case errors.Is(err, unix.EACCES):
		return nil, &UnsealableError{"vm.memfd_noexec=2 forbids files in memory that can be executed", "sysctl -w vm.memfd_noexec=1"}
	case err != nil:
		return nil, &UnsealableError{"memfd_create: " + err.Error(), cureSealing}
	}
	return os.NewFile(uintptr(fd), ImageName), nil
}

// mayWrite refuses a file of a size whose writing would end the daemon: the kernel kills who writes beyond the limit of file
// sizes.
func mayWrite(size int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return &UnsealableError{"the daemon's limit of file sizes cannot be read: " + err.Error(), cureSealing}
	}
	if limit.Cur < uint64(size) {
		return &UnsealableError{"the daemon's limit of file sizes is less than the size of Node", "raise it where the daemon is started (ulimit -f, LimitFSIZE=)"}
	}
	return nil
}

// noAtime is FS_NOATIME_FL of linux/fs.h. All runs share the copy, and can read it: without the flag each reading moves a time that all can see,
// which told one run when others started, and let two of them speak.
const noAtime = 0x80

// sealImageFile makes f executable, and immutable. It is errInUse while anybody has it mapped for writing.
func sealImageFile(f *os.File) error {
	if err := f.Chmod(imageMode); err != nil {
		return &UnsealableError{"chmod of a file in memory: " + reason(err), cureSealing}
	}
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, noAtime); err != nil {
		return &UnsealableError{"the kernel cannot leave out the time of reading of a file in memory: " + err.Error(), cureSealing}
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, imageSeals)
	switch {
	case errors.Is(err, unix.EBUSY):
		return errInUse
	case err != nil:
		return &UnsealableError{"F_ADD_SEALS: " + err.Error(), cureSealing}
	}
	return nil
}

// lookAtImage is an error unless f has all seals.
func lookAtImage(f *os.File) (imageLook, error) {
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err != nil {
		return imageLook{}, err
	}
	if seals&imageSeals != imageSeals {
		return imageLook{}, errors.New("it is not sealed")
	}
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return imageLook{}, err
	}
	if flags&noAtime == 0 {
		return imageLook{}, errors.New("it keeps the time of each reading")
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return imageLook{}, err
	}
	return imageLook{dev: st.Dev, ino: st.Ino, size: st.Size, mode: st.Mode, seals: uint32(seals)}, nil
}

// eachMapped calls see with the size bytes of f, in order, out of a mapping of it. On the way it has the kernel lay each
// piece out as one huge page, which every process that executes f profits from; where there is none to be had, and for the
// last piece, which is no whole one, the pages stay as they are.
func eachMapped(ctx context.Context, f *os.File, size int64, see func(piece []byte)) error {
	if size == 0 {
		return nil
	}
	mapping, unmap, err := mapAligned(f, int(size))
	if err != nil {
		return err
	}
	defer unmap()
	for len(mapping) > 0 && ctx.Err() == nil {
		piece := mapping[:min(len(mapping), hugePage)]
		_ = unix.Madvise(piece, unix.MADV_COLLAPSE)
		see(piece)
		mapping = mapping[len(piece):]
	}
	return ctx.Err()
}

// mapAligned maps f for reading at a multiple of hugePage: within a larger piece of address space, reserved for it.
func mapAligned(f *os.File, size int) (mapping []byte, unmap func(), err error) {
	whole := uintptr(size) + hugePage
	space, err := unix.MmapPtr(-1, 0, nil, whole, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, nil, err
	}
	unmap = func() { _ = unix.MunmapPtr(space, whole) }
	at := unsafe.Add(space, -uintptr(space)&(hugePage-1))
	if _, err := unix.MmapPtr(int(f.Fd()), 0, at, uintptr(size), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_FIXED); err != nil {
		unmap()
		return nil, nil, err
	}
	return unsafe.Slice((*byte)(at), size), unmap, nil
}
