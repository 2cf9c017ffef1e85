package prove

const familyNetwork = "Sockets"

func socketRow(name, act string, e Evidence) Probe {
	return Probe{Name: name, Act: act, Code: "EPERM", Instead: "fetch before the run and send the answer as input", Evidence: e}
}

func nativeNetwork() []Probe {
	daemon := socketRow("connect to the daemon's socket", "connect_daemon", strangers("daemon"))
	daemon.Owner = true
	return native(familyNetwork,
		socketRow("connect over IPv4", "connect_ipv4", strangers("tcp4")),
		socketRow("connect over IPv6", "connect_ipv6", strangers("tcp6")),
		socketRow("connect to a Unix socket", "connect_unix", strangers("unix")),
		daemon,
		socketRow("listen over IPv4", "listen_ipv4", changed("port listen4")),
		socketRow("listen over IPv6", "listen_ipv6", changed("port listen6")),
		socketRow("listen on a Unix socket", "listen_unix", changed("path socket")),
		socketRow("bind for datagrams", "bind_datagrams", changed("port bind")),
		socketRow("send a datagram", "send_datagram", answer()),
		linuxAlone(socketRow("a pair of sockets", "pair", answer())),
		linuxAlone(without(mayBeReserved, socketRow("a socket for ping", "ping", answer()))),
		without(needsRights, socketRow("a raw socket over IPv4", "raw_ipv4", answer())),
		without(needsRights, socketRow("a raw socket over IPv6", "raw_ipv6", answer())),
		linuxAlone(without("the kernel would load modules of the host for them", socketRow("a socket of every family and type", "every_family", answer()))),
		Probe{Name: "a pipe", Act: "plain_pipe"},
	)
}

func linuxNetwork() []Probe {
	return native(familyNetwork,
		socketRow("connect to an abstract Unix socket", "connect_abstract", strangers("abstract")),
		socketRow("listen on an abstract Unix socket", "listen_abstract", changed("abstract socket")),
		socketRow("a pair of datagram sockets", "pairs_of_datagrams", answer()),
		socketRow("netlink", "netlink", answer()),
		without(needsRights, socketRow("a socket for packets", "packets", answer())),
		without(mayBeReserved, socketRow("vsock", "vsock", answer())),
		without(mayBeReserved, socketRow("a socket for the kernel's ciphers", "kernel_crypto", answer())),
	)
}
