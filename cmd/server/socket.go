package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// claim is the right to listen on one socket path: a lock beside it that one
// daemon at a time holds.
type claim struct {
	path string
	lock *os.File
}

// listener is a socket with its claim: closing it removes the socket, then
// gives up the claim.
type listener struct {
	*net.UnixListener
	claim
}

// listen establishes that path is a socket of mode 0600 that only this process
// answers. A socket somebody answers, and anything that is not a socket, stays
// and is named. The socket's directory is private: see makePlaces.
func listen(path string) (*listener, error) {
	if err := fitsSocket(path); err != nil {
		return nil, err
	}
	c, err := claimSocket(path)
	if err != nil {
		return nil, err
	}
	l, err := c.listen()
	if err != nil {
		c.release()
		return nil, err
	}
	return &listener{UnixListener: l, claim: c}, nil
}

// Close stops listening, removes the socket, and lets another daemon have it.
func (l *listener) Close() error {
	err := l.UnixListener.Close()
	if errors.Is(err, net.ErrClosed) {
		return err // closed before: the claim is gone too
	}
	l.release()
	return err
}

// fitsSocket compares path with what the system's socket address holds.
func fitsSocket(path string) error {
	var address syscall.RawSockaddrUnix
	if limit := len(address.Path) - 1; len(path) > limit {
		return fmt.Errorf("--socket: %w", &unfitError{
			fmt.Sprintf("the path is %d bytes long and this system takes at most %d: %s", len(path), limit, path),
			fmt.Sprintf("choose a shorter one, as in --socket %s, for clients too", shortSocket())})
	}
	return nil
}

// claimSocket takes the lock. It is tried again when the file it locked was
// removed by a daemon that ended in between.
func claimSocket(path string) (claim, error) {
	name := path + ".lock"
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return claim{}, fmt.Errorf("--socket: its lock file: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && sameFile(f, name) {
			return claim{path: path, lock: f}, nil
		}
		f.Close()
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return claim{}, fmt.Errorf("--socket: %w", taken("another daemon", path))
		case err != nil:
			return claim{}, fmt.Errorf("--socket: locking %s: %w", name, err)
		}
	}
}

func sameFile(f *os.File, name string) bool {
	held, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(held, there)
}

// release removes the lock file while it is still held, so that whoever opened
// it meanwhile notices.
func (c claim) release() {
	_ = os.Remove(c.lock.Name())
	_ = c.lock.Close()
}

func (c claim) listen() (*net.UnixListener, error) {
	if err := c.clear(); err != nil {
		return nil, fmt.Errorf("--socket: %w", err)
	}
	// The umask is the process's; nothing else runs yet.
	before := syscall.Umask(0o177)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.path, Net: "unix"})
	syscall.Umask(before)
	if err != nil {
		return nil, fmt.Errorf("--socket: %w", err)
	}
	return l, nil
}

// clear removes a socket that nobody answers.
func (c claim) clear() error {
	info, err := os.Lstat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return inTheWay(c.path, info)
	}
	if answered(c.path) {
		return taken("another process", c.path)
	}
	return os.Remove(c.path)
}

// taken says that somebody listens on path, and which process where the kernel
// tells.
func taken(who, path string) error {
	stop := "stop it"
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		defer conn.Close()
		if p, err := peerOf(conn); err == nil && p.PID > 0 {
			stop = fmt.Sprintf("stop it (kill %d)", p.PID)
		}
	}
	return &unfitError{who + " has " + path, stop + ", or choose another --socket for this one"}
}

func inTheWay(path string, info fs.FileInfo) error {
	return &unfitError{fmt.Sprintf("%s is in the way and is not a socket (%s)", path, info.Mode()), "move it away, or choose another socket"}
}

// answered says whether somebody may still be listening: only a refused
// connection proves that nobody is. On macOS it may also be one who has more
// connections waiting than it takes; a daemon of this kind holds its lock, and
// is not asked.
func answered(path string) bool {
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
	}
	return !errors.Is(err, syscall.ECONNREFUSED)
}
