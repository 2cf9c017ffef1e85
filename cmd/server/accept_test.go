package main

import (
	"errors"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestExclusiveListener: what is accepted is a whole connection, and a listener
// that is closed says so as any.
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

// TestNoProgramInheritsAConnection: programs that are started while connections
// are accepted hold none of them. The control accepts as package net does where
// there is no accept4, first and marks after.
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

// TestExclusiveListenerOfNothing: a listener without a descriptor is closed,
// and none comes of it.
func TestExclusiveListenerOfNothing(t *testing.T) {
	var l withoutFile
	got, err := newExclusiveListener(&l)
	if got != nil || !errors.Is(err, syscall.EMFILE) || l.closed != 1 {
		t.Errorf("%v, %v, closed %d times", got, err, l.closed)
	}
}

// withoutFile has no descriptor to give.
type withoutFile struct {
	net.Listener
	closed int
}

func (*withoutFile) File() (*os.File, error) { return nil, syscall.EMFILE }

func (l *withoutFile) Close() error {
	l.closed++
	return nil
}

// asFewDescriptors makes the test binary be what TestAcceptWithoutDescriptors
// is about.
const asFewDescriptors = "CONFINED_TEST_FEW_DESCRIPTORS"

// TestAcceptWithoutDescriptors: a want of descriptors ends no server, since
// servers wait out what is temporary. It has a process of its own, which nobody
// else's descriptors are taken from.
func TestAcceptWithoutDescriptors(t *testing.T) {
	if os.Getenv(asFewDescriptors) != "" {
		acceptWithoutDescriptors(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command(self, "-test.run=^"+t.Name()+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), asFewDescriptors+"=1")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

func acceptWithoutDescriptors(t *testing.T) {
	l := exclusively(t, unixListener(t))
	var turnedAway, served net.Conn
	for _, client := range []*net.Conn{&turnedAway, &served} {
		c, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		*client = c
	}
	give := takeDescriptors(t)
	defer give(-1)
	temporary := func(moment string) {
		t.Helper()
		_, err := l.Accept()
		if e, ok := errors.AsType[net.Error](err); !ok || !e.Temporary() || !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s: %v (%T)", moment, err, err)
		}
	}
	temporary("with no descriptor")
	give(1)
	temporary("with one, where a connection takes two")
	if n, err := turnedAway.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("who was turned away reads %d bytes, %v", n, err)
	}
	give(1)
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "x")
	_ = c.Close()
	if said, err := io.ReadAll(served); string(said) != "x" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
}

// takeDescriptors takes all that this process may have, and returns how some
// are given back: all for a negative number.
func takeDescriptors(t *testing.T) (give func(n int)) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, f)
	}
	return func(n int) {
		for ; n != 0 && len(taken) > 0; n-- {
			_ = taken[0].Close()
			taken = taken[1:]
		}
	}
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

// inherited starts programs while connections are made and accepted, and counts
// those that hold a socket.
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
