//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// ends are what connections and signals of a scene are aimed at.
type ends struct {
	streams map[string]*stream // listeners, by the name that the acts use
	udp     net.PacketConn
	resolve net.PacketConn // spoken to as a name server
	web     *httptest.Server
	visits  atomic.Int64      // requests to web
	ports   map[string]int    // free, for acts to listen on
	names   map[string]string // Unix sockets to listen on
	victims map[string]*victim
}

func newEnds(t *testing.T, dir string, u user) *ends {
	t.Helper()
	e := &ends{streams: map[string]*stream{}, ports: map[string]int{}, victims: map[string]*victim{}}
	e.streams["tcp4"] = newStream(t, "tcp4", "127.0.0.1:0")
	e.streams["tcp6"] = newStream(t, "tcp6", "[::1]:0")
	e.streams["unix"] = newStream(t, "unix", filepath.Join(dir, "socket"))
	e.streams["abstract"] = newStream(t, "unix", "@cf"+random())
	e.udp, e.resolve = newPackets(t), newPackets(t)
	e.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.visits.Add(1)
		_, _ = io.WriteString(w, "web")
	}))
	t.Cleanup(e.web.Close)
	for _, name := range []string{"listen4", "listen6", "bind", "inspect"} {
		e.ports[name] = freePort(t)
	}
	e.names = map[string]string{"path": filepath.Join(dir, "theirs"), "abstract": "\x00cf" + random()}
	for _, name := range []string{"killed", "grouped", "stopped", "reniced", "read", "daemon", "init"} {
		e.victims[name] = newVictim(t, u)
	}
	e.victims["stopped"].stop(t)
	return e
}

// world is what acts know of the ends.
func (e *ends) world() map[string]any {
	w := map[string]any{
		"unix": e.streams["unix"].Addr().String(), "abstract": "\x00" + strings.TrimPrefix(e.streams["abstract"].Addr().String(), "@"),
		"web": e.web.URL, "udp": port(e.udp.LocalAddr()), "resolver": e.resolve.LocalAddr().String(),
		"tcp4": port(e.streams["tcp4"].Addr()), "tcp6": port(e.streams["tcp6"].Addr()),
		"ports": e.ports, "names": e.names, "victims": map[string]int{},
	}
	for name, v := range e.victims {
		w["victims"].(map[string]int)[name] = v.pid
	}
	return w
}

// look is what the host sees of what acts may have opened or signalled.
func (e *ends) look() map[string]string {
	seen := map[string]string{"path socket": fingerprint(e.names["path"])}
	abstract, _ := readText("/proc/net/unix")
	seen["abstract socket"] = fmt.Sprint(strings.Contains(abstract, "@"+e.names["abstract"][1:]))
	for name, port := range e.ports {
		seen["port "+name] = fmt.Sprint(taken(port))
	}
	for name, v := range e.victims {
		seen["nice "+name] = v.stat(16)
	}
	return seen
}

func taken(port int) bool {
	for _, network := range []string{"tcp4", "tcp6"} {
		l, err := net.Listen(network, ":"+strconv.Itoa(port))
		if err != nil {
			return true
		}
		l.Close()
	}
	p, err := net.ListenPacket("udp4", ":"+strconv.Itoa(port))
	if err != nil {
		return true
	}
	p.Close()
	return false
}

func port(a net.Addr) int {
	_, p, _ := net.SplitHostPort(a.String())
	n, _ := strconv.Atoi(p)
	return n
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return port(l.Addr())
}

// stream is a listener on which the test waits for strangers.
type stream struct {
	net.Listener
	visited *bool
}

func newStream(t *testing.T, network, address string) *stream {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatalf("%s cannot be listened on: %v (IPv6 on the loopback: sysctl net.ipv6.conf.lo.disable_ipv6=0)", address, err)
	}
	if l, ok := l.(*net.UnixListener); ok && address[0] == '/' {
		if err := os.Chmod(address, 0o666); err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(true)
	}
	t.Cleanup(func() { l.Close() })
	return &stream{Listener: l}
}

const ownWord = "the test itself"

// strangers says whether anybody came before the test, which comes now: those
// who wait at a listener stand in a line.
func (s *stream) strangers(t *testing.T) bool {
	t.Helper()
	if s.visited != nil {
		return *s.visited
	}
	own, err := net.Dial(s.Addr().Network(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(own, ownWord)
	own.Close()
	first, err := s.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_ = first.SetReadDeadline(time.Now().Add(patience))
	said, _ := io.ReadAll(first)
	came := string(said) != ownWord
	s.visited = &came
	return came
}

func newPackets(t *testing.T) net.PacketConn {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// packets says whether a datagram of anybody else lies before the test's own.
func packets(t *testing.T, c net.PacketConn) bool {
	t.Helper()
	own, err := net.Dial("udp4", c.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	_, _ = io.WriteString(own, ownWord)
	buf := make([]byte, 4096)
	n, _, err := c.ReadFrom(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n]) != ownWord
}

// victim is a process for others to act on.
type victim struct {
	pid  int
	cmd  *osexec.Cmd
	word string // in its environment
}

// newVictim starts one that belongs to u.
func newVictim(t *testing.T, u user) *victim {
	t.Helper()
	v := &victim{word: random()}
	v.cmd = as(u, osexec.Command("sleep", "3600"))
	v.cmd.Env = []string{"WORD=" + v.word}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v.pid = v.cmd.Process.Pid
	t.Cleanup(func() {
		_ = v.cmd.Process.Kill()
		_ = v.cmd.Wait()
	})
	return v
}

func (v *victim) stop(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(v.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	poll(t, func() bool { return v.stat(0) == "T" }, func() string { return "SIGSTOP does not stop a process" })
}

// stat is a field of /proc/PID/stat, counted from the state.
func (v *victim) stat(field int) string {
	text, _ := readText(fmt.Sprintf("/proc/%d/stat", v.pid))
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if field >= len(fields) {
		return "gone"
	}
	return fields[field]
}

// dead says whether a signal ended it; it is a zombie until the test is over.
func (v *victim) dead() bool { state := v.stat(0); return state == "Z" || state == "gone" }
