package prove

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
)

// ends are what connections and signals of a fixture are aimed at.
type ends struct {
	streams map[string]*stream // by the name that the acts use
	packets map[string]*packets
	web     *httptest.Server
	ports   map[string]int    // free, for acts to listen on
	names   map[string]string // Unix sockets to listen on
	victims map[string]*victim

	mu     sync.Mutex
	visits map[string]bool // paths that web was asked for
}

// portNetworks are the ports that acts listen on, each with its network.
var portNetworks = map[string]string{"listen4": "tcp", "listen6": "tcp", "bind": "udp", "inspect": "tcp"}

// makeEnds makes them in dir, which the fixture's user can reach, and private, which only the suite's can.
func (s *fixture) makeEnds(private string) error {
	s.ends = &ends{streams: map[string]*stream{}, packets: map[string]*packets{}, ports: map[string]int{}, victims: map[string]*victim{}, visits: map[string]bool{}}
	s.web = httptest.NewServer(http.HandlerFunc(s.serve))
	s.undo.later(s.web.Close)
	s.names = map[string]string{"path": filepath.Join(s.dir, "theirs")}
	if here("linux") { // elsewhere such a name would be that of a file
		s.names["abstract"] = "\x00cf" + random()
	}
	for _, make := range []func() error{func() error { return s.makeStreams(private) }, s.makePackets, s.makePorts, s.makeVictims} {
		if err := make(); err != nil {
			return err
		}
	}
	return nil
}

func (e *ends) serve(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.visits[r.URL.Path] = true
	_, _ = io.WriteString(w, "web")
}

func (e *ends) asked(path string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.visits[path]
}

func (s *fixture) makeStreams(private string) error {
	places := []struct{ name, network, address string }{
		{"tcp4", "tcp4", "127.0.0.1:0"}, {"tls", "tcp4", "127.0.0.1:0"}, {"http2", "tcp4", "127.0.0.1:0"}, {"tcp6", "tcp6", "[::1]:0"},
		{"unix", "unix", filepath.Join(s.dir, "socket")}, {"daemon", "unix", filepath.Join(private, "s")},
	}
	if here("linux") {
		places = append(places, struct{ name, network, address string }{"abstract", "unix", "@cf" + random()})
	}
	for _, at := range places {
		stream, err := newStream(at.network, at.address)
		if at.network == "tcp6" && err != nil {
			for _, row := range ipv6Rows() {
				s.noControl[row] = "this host has no IPv6"
			}
			continue
		}
		if err != nil {
			return err
		}
		s.undo.later(func() { stream.Close() })
		s.streams[at.name] = stream
	}
	return nil
}

// ipv6Rows are the rows that take place unconfined only on a host with IPv6.
func ipv6Rows() []string {
	return []string{"TCP over IPv6", "listen over IPv6", nativeName("connect over IPv6"), nativeName("listen over IPv6")}
}

func (s *fixture) makePackets() error {
	for _, name := range []string{"udp", "resolver"} {
		p, err := newPackets()
		if err != nil {
			return err
		}
		s.undo.later(func() { p.Close() })
		s.packets[name] = p
	}
	return nil
}

func (s *fixture) makePorts() error {
	for name, network := range portNetworks {
		port, claim, err := freePort(network)
		if err != nil {
			return err
		}
		s.undo.later(func() { claim.Close() })
		s.ports[name] = port
	}
	return nil
}

// makeVictims starts the processes that acts aim at. They belong to the fixture's user, so that ordinary permissions are not what saves them.
func (s *fixture) makeVictims() error {
	for _, name := range append(nativeVictims(), "killed", "grouped", "stopped", "reniced", "read") {
		v, err := newVictim(s.user)
		if err != nil {
			return err
		}
		s.undo.later(v.end)
		s.victims[name] = v
	}
	return s.victims["stopped"].stop()
}

// endsWorld is what acts know of the ends.
func (e *ends) endsWorld() map[string]any {
	victims := map[string]int{}
	for name, v := range e.victims {
		victims[name] = v.pid
	}
	w := map[string]any{
		"unix": e.streams["unix"].Addr().String(), "daemonSocket": e.streams["daemon"].Addr().String(),
		"web": e.web.URL, "udp": port(e.packets["udp"].LocalAddr()), "resolver": e.packets["resolver"].LocalAddr().String(),
		"ports": e.ports, "names": e.names, "victims": victims,
	}
	if abstract, there := e.streams["abstract"]; there {
		w["abstract"] = "\x00" + strings.TrimPrefix(abstract.Addr().String(), "@")
	}
	for _, name := range []string{"tcp4", "tls", "http2", "tcp6"} {
		w[name] = 1 // where there is no IPv6
		if stream, there := e.streams[name]; there {
			w[name] = port(stream.Addr())
		}
	}
	return w
}

// lookAtEnds is what the host sees of what acts may have opened or changed.
func (e *ends) lookAtEnds(seen map[string]string) {
	seen["path socket"] = fingerprint(e.names["path"])
	if here("linux") {
		abstract, _ := readText("/proc/net/unix")
		seen["abstract socket"] = fmt.Sprint(strings.Contains(abstract, "@"+e.names["abstract"][1:]))
	}
	for name, port := range e.ports {
		seen["port "+name] = fmt.Sprint(taken(portNetworks[name], port))
	}
	seen["nice read"] = nice(e.victims["read"].pid)
	seen["nice reniced"] = nice(e.victims["reniced"].pid)
	seen["stopped"] = e.victims["stopped"].state()
}
