package main

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// fileListener is a listener that has a descriptor.
type fileListener interface {
	net.Listener
	File() (*os.File, error)
}

// exclusiveListener accepts connections that no program inherits. Where the
// system has no accept4, package net accepts first and marks close-on-exec
// after that, and holds no lock between the two: a program that another
// goroutine starts in that moment has the connection of a client. Here the
// whole is one step to whoever starts programs.
type exclusiveListener struct {
	net.Listener
	file *os.File // a duplicate of its descriptor: package net lets nobody wait at its own
}

// newExclusiveListener takes l over, and closes it where it fails.
func newExclusiveListener(l fileListener) (net.Listener, error) {
	f, err := l.File()
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &exclusiveListener{l, f}, nil
}

// Close implements [net.Listener].
func (l *exclusiveListener) Close() error { return errors.Join(l.file.Close(), l.Listener.Close()) }

// Accept implements [net.Listener]. A want of descriptors is a temporary error,
// as of any listener, which servers wait out. A client whose connection gets no
// second descriptor is turned away.
func (l *exclusiveListener) Accept() (net.Conn, error) {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, refused := -1, error(nil)
	err = raw.Read(func(listening uintptr) bool {
		fd, refused = acceptExclusive(int(listening))
		return !errors.Is(refused, syscall.EAGAIN)
	})
	if err == nil {
		err = os.NewSyscallError("accept", refused) // by this type net.OpError knows what is temporary
	}
	if err != nil {
		return nil, &net.OpError{Op: "accept", Net: l.Addr().Network(), Addr: l.Addr(), Err: err}
	}
	f := os.NewFile(uintptr(fd), "connection")
	defer f.Close()
	return net.FileConn(f) // a duplicate, which F_DUPFD_CLOEXEC marks in one step
}

// acceptExclusive accepts once there is somebody; EAGAIN until then.
func acceptExclusive(listening int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for {
		fd, _, err := syscall.Accept(listening)
		switch {
		case err == nil:
			syscall.CloseOnExec(fd)
			return fd, nil
		case !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.ECONNABORTED):
			return -1, err
		}
	}
}
