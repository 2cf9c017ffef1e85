package main

import (
	"errors"
	"io"
	"net"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestExclusiveListener: what is accepted is a whole connection, and a listener that is closed says so as any.
func TestExclusiveListener(t *testing.T) {
	l := exclusively(t, unixListener(t))
	go func() {
		c, err := net.Dial("unix", l.Addr().String())
		if err == nil {
			_, _ = io.WriteString(c, "hello")
			_ = c.Close()
		}
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if said, err := io.ReadAll(c); string(said) != "hello" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := peerOf(c); err != nil {
		t.Errorf("who connected: %v", err)
	}
	ended := make(chan error)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	_ = l.Close()
	if err := <-ended; err == nil {
		t.Error("a listener that was closed accepted")
	}
}

// TestNoProgramInheritsAConnection: programs that are started while connections are accepted hold none of them. The control accepts as package net
// does where there is no accept4, first and marks after.
func TestNoProgramInheritsAConnection(t *testing.T) {
	if n := inherited(t, 200, exclusively); n != 0 {
		t.Errorf("%d programs hold a connection", n)
	}
	for range 20 {
		if inherited(t, 200, func(t *testing.T, l fileListener) net.Listener {
			return careless{exclusively(t, l).(*exclusiveListener)}
		}) > 0 {
			return
		}
	}
	t.Error("a careless listener lets nothing through either: the test shows nothing")
}

func exclusively(t *testing.T, l fileListener) net.Listener {
	t.Helper()
	with, err := newExclusiveListener(l)
	if err != nil {
		t.Fatal(err)
	}
	return with
}

// careless accepts in two steps.
type careless struct{ *exclusiveListener }

func (l careless) Accept() (net.Conn, error) {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var refused error
	err = raw.Read(func(listening uintptr) bool {
		fd, _, refused = syscall.Accept(int(listening))
		return !errors.Is(refused, syscall.EAGAIN)
	})
	if err = errors.Join(err, refused); err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return nil, syscall.Close(fd)
}

// inherited starts programs while connections are made and accepted, and counts those that hold a socket.
func inherited(t *testing.T, starts int, with func(*testing.T, fileListener) net.Listener) (holders int) {
	t.Helper()
	l := with(t, unixListener(t))
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if c != nil {
				_ = c.Close()
			}
		}
	})
	stop := make(chan struct{})
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if c, err := net.Dial("unix", l.Addr().String()); err == nil {
				_ = c.Close()
			}
		}
	})
	for range starts {
		said, err := osexec.Command("/bin/ls", "-l", "/dev/fd/").Output()
		if err != nil && len(said) == 0 {
			t.Fatal(err)
		}
		if strings.Contains(string(said), "socket:") {
			holders++
		}
	}
	close(stop)
	_ = l.Close()
	all.Wait()
	return holders
}

func unixListener(t *testing.T) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
