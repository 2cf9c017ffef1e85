package prove

// network tries every family of sockets that Node has, both ways.
func network() []Probe {
	const (
		address = "look up an address that is one"
		input   = "fetch before the run, and put what came into its input"

		systemName = "a name, looked up through the system"
	)
	table := family("Connecting", address, input, []Probe{
		{Name: "TCP over IPv4", Act: `return await connect({ host: "127.0.0.1", port: w.tcp4 })`, Code: "EPERM", Evidence: strangers("tcp4")},
		{Name: "TCP over IPv6", Act: `return await connect({ host: "::1", port: w.tcp6 })`, Code: "EPERM", Evidence: strangers("tcp6")},
		{Name: "a Unix socket", Act: `return await connect({ path: w.unix })`, Code: "EPERM", Evidence: strangers("unix")},
		{Name: "an abstract Unix socket", Act: `return await connect({ path: w.abstract })`, Code: "EPERM", Only: "linux", Evidence: strangers("abstract")},
		{Name: "the daemon's own socket", Act: `return await connect({ path: w.daemonSocket })`, Code: "EPERM", Evidence: strangers("daemon"), Owner: true},
		{Name: "TLS", Act: `const socket = require("node:tls").connect({ host: "127.0.0.1", port: w.tls }); await once(socket, "connect"); socket.destroy()`, Code: "EPERM", Evidence: strangers("tls")},
		{Name: "HTTP", Act: `const [answer] = await once(http.get(w.web + "/http"), "response"); return answer.statusCode`, Code: "EPERM", Evidence: visited("/http")},
		{Name: "HTTP/2", Act: "const session = require('node:http2').connect(`http://127.0.0.1:${w.http2}`); await once(session, 'connect'); session.destroy()", Code: "EPERM", Evidence: strangers("http2")},
		{Name: "fetch", Act: `return await (await fetch(w.web + "/fetch")).text()`, Code: "TypeError", Evidence: visited("/fetch")},
		{Name: "a datagram", Act: `
			const socket = dgram.createSocket("udp4");
			const [failed] = await Promise.race([once(socket, "error").then(([e]) => [e]), new Promise((done) => socket.send("x", w.udp, "127.0.0.1", (e) => done([e])))]);
			if (failed) throw failed;`, Code: "EPERM", Evidence: datagrams("udp")},
		{Name: systemName, Act: `return (await dns.promises.lookup("localhost", { family: 4 })).address`, Code: "ENOTFOUND", Only: "linux", Evidence: says("127.0.0.1")},
		{Name: systemName, Act: `return (await dns.promises.lookup("broadcasthost", { family: 4 })).address`, Code: "ENOTFOUND", MacCode: "ENOTFOUND or EAI_AGAIN", Only: "darwin",
			NoControl: "whether the host knows the name is its owner's to say", Evidence: says("255.255.255.255")}, // of Apple's /etc/hosts; localhost may need no file there
		{Name: "a name, asked of a server", Act: `
			const resolver = new dns.promises.Resolver({ timeout: 300, tries: 1 });
			resolver.setServers([w.resolver]);
			await resolver.resolve4("confined.invalid").catch((e) => { if (e.code !== "ETIMEOUT") throw e; });`, Code: "ECONNREFUSED", Evidence: datagrams("resolver")},
	})
	return append(table, family("Listening", address, "pass data in the input, and results on stdout", []Probe{
		{Name: "listen over IPv4", Act: `return await listen(w.ports.listen4, "127.0.0.1")`, Code: "EPERM", Evidence: changed("port listen4")},
		{Name: "listen over IPv6", Act: `return await listen(w.ports.listen6, "::1")`, Code: "EPERM", Evidence: changed("port listen6")},
		{Name: "listen on a Unix socket", Act: `return await listen(w.names.path)`, Code: "EPERM", Evidence: changed("path socket")},
		{Name: "listen on an abstract Unix socket", Act: `return await listen(w.names.abstract)`, Code: "EPERM", Only: "linux", Evidence: changed("abstract socket")},
		{Name: "wait for datagrams", Act: `
			const socket = dgram.createSocket("udp4");
			await Promise.race([once(socket, "listening"), (socket.bind(w.ports.bind, "127.0.0.1"), new Promise(() => {}))]);`, Code: "EPERM", Evidence: changed("port bind")},
		{Name: "the inspector, on a port", Act: `inspector.open(w.ports.inspect, "127.0.0.1"); if (!inspector.url()) throw { code: "NONE" };`, Code: Nothing, Evidence: changed("port inspect"), Twin: "the inspector, within the process"},
	})...)
}
