package main

import (
	"context"
	"errors"
	"net"

	"confined/internal/httpapi"
)

// withPeer is for http.Server.ConnContext: it keeps in ctx which process
// connected, as the kernel says it was then. A connection whose peer the kernel
// does not name gets none, and the API refuses it.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	p, err := peerOf(conn)
	if err != nil {
		return ctx
	}
	return httpapi.WithPeer(ctx, p)
}

func peerOf(conn net.Conn) (p httpapi.Peer, err error) {
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return httpapi.Peer{}, errors.New("not a Unix socket")
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return httpapi.Peer{}, err
	}
	if ctlErr := raw.Control(func(fd uintptr) { p, err = peerCredentials(int(fd)) }); ctlErr != nil {
		return httpapi.Peer{}, ctlErr
	}
	return p, err
}
