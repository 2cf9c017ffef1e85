package prove

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// ownWord is what the suite itself says to its listeners.
const ownWord = "the suite itself"

// patience bounds the waits for what the kernel delivers at once.
const patience = 10 * time.Second

// stream is a listener at which the suite waits for strangers.
type stream struct {
	net.Listener
	visited *bool
}

func newStream(network, address string) (*stream, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if address[0] == '/' {
		if err := os.Chmod(address, 0o666); err != nil {
			l.Close()
			return nil, err
		}
	}
	return &stream{Listener: l}, nil
}

// met says whether anybody came before the suite, which comes now: those who wait at a listener stand in a line.
func (l *stream) met(s *fixture) bool {
	if l == nil { // without IPv6
		return false
	}
	if l.visited == nil {
		first, err := l.first()
		if err != nil {
			s.broken(err)
		}
		came := first != ownWord
		l.visited = &came
	}
	return *l.visited
}

// first is what the first in the line said.
func (l *stream) first() (string, error) {
	own, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		return ownWord, err
	}
	_, _ = io.WriteString(own, ownWord)
	own.Close()
	first, err := l.Accept()
	if err != nil {
		return ownWord, err
	}
	defer first.Close()
	_ = first.SetReadDeadline(time.Now().Add(patience))
	said, _ := io.ReadAll(first)
	return string(said), nil
}

// packets is a socket that waits for datagrams of strangers.
type packets struct {
	net.PacketConn
	visited *bool
}

func newPackets() (*packets, error) {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &packets{PacketConn: c}, nil
}

// arrived says whether a datagram of anybody else lies before the suite's own.
func (p *packets) arrived(s *fixture) bool {
	if p.visited == nil {
		first, err := p.first()
		if err != nil {
			s.broken(err)
		}
		came := first != ownWord
		p.visited = &came
	}
	return *p.visited
}

func (p *packets) first() (string, error) {
	own, err := net.Dial("udp4", p.LocalAddr().String())
	if err != nil {
		return ownWord, err
	}
	defer own.Close()
	if _, err := io.WriteString(own, ownWord); err != nil {
		return ownWord, err
	}
	buf := make([]byte, 4096)
	_ = p.SetReadDeadline(time.Now().Add(patience))
	n, _, err := p.ReadFrom(buf)
	if err != nil {
		return ownWord, err
	}
	return string(buf[:n]), nil
}

// taken says whether somebody has a port of a network, "tcp" or "udp", at any address or at the loopback one: on macOS the port of one can be had
// beside that of the other.
func taken(network string, port int) bool {
	for _, at := range [][2]string{{"4", ""}, {"6", ""}, {"4", "127.0.0.1"}, {"6", "[::1]"}} {
		end, err := occupy(network+at[0], at[1]+":"+strconv.Itoa(port))
		if errors.Is(err, syscall.EADDRINUSE) {
			return true
		}
		if err == nil { // there may be no IPv6
			end.Close()
		}
	}
	return false
}

// occupy takes an address of a network.
func occupy(network, address string) (io.Closer, error) {
	if network[:3] == "udp" {
		return net.ListenPacket(network, address)
	}
	return net.Listen(network, address)
}

func port(a net.Addr) int {
	_, p, _ := net.SplitHostPort(a.String())
	n, _ := strconv.Atoi(p)
	return n
}

// freePort finds a port of a network that nobody has, below those that kernels give to whoever asks for any. It holds the same port of the other
// network until claim is closed, and has a range of ports for each: so two suites never find, nor even try, the same.
func freePort(network string) (port int, claim io.Closer, err error) {
	first, other := 10_000, "udp4"
	if network == "udp" {
		first, other = 20_000, "tcp4"
	}
	for range 100 {
		port := first + rand.IntN(10_000)
		claim, err := occupy(other, "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		if !taken(network, port) {
			return port, claim, nil
		}
		claim.Close()
	}
	return 0, nil, errors.New("of 100 ports none is free")
}
