package exec

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// write is os.WriteFile while no process is forked: between fork and exec one
// of another row would hold the file open for writing, which is seen, and rightly.
func write(path string, content []byte, perm os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, perm)
}

func touch(path string) error { return write(path, []byte("not yours"), 0o600) }

// overwrite changes a file in place, as its owner can.
func overwrite(path, content string) error {
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	return write(path, []byte(content), 0o600)
}

// appendTo makes a file longer, as its owner can, and leaves what there is as it
// is: a program may have it mapped.
func appendTo(path, more string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, info.Mode()|0o200); err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(more)
	return errors.Join(err, f.Close())
}

// swapBack moves an entry away and back.
func swapBack(path string) error {
	if err := os.Rename(path, path+".aside"); err != nil {
		return err
	}
	return os.Rename(path+".aside", path)
}

// replaceByCopy puts a copy in a file's place: the same content, mode and
// owner, another inode.
func replaceByCopy(path string) error {
	if err := copyAs(path, path+".copy"); err != nil {
		return err
	}
	return os.Rename(path+".copy", path)
}

// copyAs copies a file with its mode and owner.
func copyAs(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(from, &st); err != nil {
		return err
	}
	if err := write(to, content, fs.FileMode(st.Mode&0o777)); err != nil {
		return err
	}
	return os.Lchown(to, int(st.Uid), int(st.Gid))
}

// copyDir copies a tree with its modes and owners.
func copyDir(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return copyAs(path, filepath.Join(to, name))
		}
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(to, name), fs.FileMode(st.Mode&0o777)); err != nil {
			return err
		}
		return os.Lchown(filepath.Join(to, name), int(st.Uid), int(st.Gid))
	})
}

// makeSocket leaves a Unix socket's name in the file system.
func makeSocket(path string) error {
	short := path
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // a socket's path has 107 bytes at most
		defer dir.Close()
		short = filepath.Join("/proc/self/fd", itoa(int(dir.Fd())), filepath.Base(path))
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}

// linkInPlace leaves a symlink to a file where the file was.
func linkInPlace(path string) error {
	if err := os.Rename(path, path+".real"); err != nil {
		return err
	}
	return os.Symlink(path+".real", path)
}

// once calls act when an entry is created (or deleted) in dir, from a goroutine
// that waits for it, before anything else is done in this process. name limits
// it to one entry; empty means any.
func (w *world) once(dir string, mask uint32, name string, act func()) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	w.must(err)
	_, err = unix.InotifyAddWatch(fd, dir, mask)
	w.must(err)
	var acted sync.WaitGroup
	acted.Add(1)
	go func() {
		defer acted.Done()
		defer unix.Close(fd)
		buf := make([]byte, 64<<10)
		for {
			if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 60_000); n == 0 || err != nil && !errors.Is(err, unix.EINTR) {
				w.t.Errorf("nothing happened in %s: %v", dir, err)
				return
			}
			n, err := unix.Read(fd, buf)
			if err != nil {
				w.t.Error(err)
				return
			}
			if name == "" || strings.Contains(string(buf[:n]), name) {
				act()
				return
			}
		}
	}()
	w.after = append(w.after, acted.Wait)
}

// lease takes a write lease on a file: from now on opening it would have to
// wait, and an open that does not wait fails.
func (w *world) lease(path string) {
	f, err := os.Open(path)
	w.must(err)
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	w.must(err)
	w.after = append(w.after, func() { _ = f.Close() })
}

// holdForWriting opens a file of the slot for writing until the run is over.
func (w *world) holdForWriting(path string) {
	w.must(os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	w.must(err)
	w.after = append(w.after, func() { _ = f.Close() })
}
