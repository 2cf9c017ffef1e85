package prove

// network tries every family of sockets that Node has, both ways.
func network() []Probe {
	const (
		address = "look up an address that is one"
		input   = "fetch before the run, and put what came into its input"
	)
	table := family("Connecting", address, input, []Probe{
		{Name: "TCP over IPv4", Act: `return await connect({ host: "127.0.0.1", port: w.tcp4 })`, Code: "EPERM", Evidence: meets("tcp4")},
		{Name: "TCP over IPv6", Act: `return await connect({ host: "::1", port: w.tcp6 })`, Code: "EPERM", Evidence: meets("tcp6")},
		{Name: "a Unix socket", Act: `return await connect({ path: w.unix })`, Code: "EPERM", Evidence: meets("unix")},
		{Name: "an abstract Unix socket", Act: `return await connect({ path: w.abstract })`, Code: "EPERM", Only: "linux", Evidence: meets("abstract")},
		{Name: "the daemon's own socket", Act: `return await connect({ path: w.daemonSocket })`, Code: "EPERM", Evidence: meets("daemon"), Owner: true},
		{Name: "TLS", Act: `const socket = require("node:tls").connect({ host: "127.0.0.1", port: w.tls }); await once(socket, "connect"); socket.destroy()`, Code: "EPERM", Evidence: meets("tls")},
		{Name: "HTTP", Act: `const [answer] = await once(http.get(w.web + "/http"), "response"); return answer.statusCode`, Code: "EPERM", Evidence: visits("/http")},
		{Name: "HTTP/2", Act: "const session = require('node:http2').connect(`http://127.0.0.1:${w.http2}`); await once(session, 'connect'); session.destroy()", Code: "EPERM", Evidence: meets("http2")},
		{Name: "fetch", Act: `return await (await fetch(w.web + "/fetch")).text()`, Code: "TypeError", Evidence: visits("/fetch")},
		{Name: "a datagram", Act: `
			const socket = dgram.createSocket("udp4");
			const [failed] = await Promise.race([once(socket, "error").then(([e]) => [e]), new Promise((done) => socket.send("x", w.udp, "127.0.0.1", (e) => done([e])))]);
			if (failed) throw failed;`, Code: "EPERM", Evidence: arrives("udp")},
		{Name: "a name, looked up through the system", Act: `return (await dns.promises.lookup("localhost", { family: 4 })).address`, Code: "ENOTFOUND", Evidence: says("127.0.0.1")},
		{Name: "a name, asked of a server", Act: `
			const resolver = new dns.promises.Resolver({ timeout: 300, tries: 1 });
			resolver.setServers([w.resolver]);
			await resolver.resolve4("confined.invalid").catch((e) => { if (e.code !== "ETIMEOUT") throw e; });`, Code: "ECONNREFUSED", Evidence: arrives("resolver")},
	})
	return append(table, family("Listening", address, "pass data in the input, and results on stdout", []Probe{
		{Name: "listen over IPv4", Act: `return await listen(w.ports.listen4, "127.0.0.1")`, Code: "EPERM", Evidence: takes("listen4")},
		{Name: "listen over IPv6", Act: `return await listen(w.ports.listen6, "::1")`, Code: "EPERM", Evidence: takes("listen6")},
		{Name: "listen on a Unix socket", Act: `return await listen(w.names.path)`, Code: "EPERM", Evidence: changes("path socket", "the socket's file")},
		{Name: "listen on an abstract Unix socket", Act: `return await listen(w.names.abstract)`, Code: "EPERM", Only: "linux", Evidence: changes("abstract socket", "the kernel's list of sockets")},
		{Name: "wait for datagrams", Act: `
			const socket = dgram.createSocket("udp4");
			await Promise.race([once(socket, "listening"), (socket.bind(w.ports.bind, "127.0.0.1"), new Promise(() => {}))]);`, Code: "EPERM", Evidence: takes("bind")},
		{Name: "the inspector, on a port", Act: `inspector.open(w.ports.inspect, "127.0.0.1"); if (!inspector.url()) throw { code: "NONE" };`, Code: none, Evidence: takes("inspect"), Twin: "the inspector, within the process"},
	})...)
}

// takes is for acts that take one of the ports that were free.
func takes(port string) Evidence {
	return changes("port "+port, "whether the suite itself can still listen on this port")
}

// visits is for acts that ask the suite's web server for a path.
func visits(path string) Evidence {
	return Evidence{Text: "whether the suite's web server is asked", took: func(s *scene, _ string) bool { return s.visited(path) }}
}
