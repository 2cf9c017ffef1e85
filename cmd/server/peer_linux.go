package main

import (
	"golang.org/x/sys/unix"

	"confined/internal/httpapi"
)

func peerCredentials(fd int) (httpapi.Peer, error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return httpapi.Peer{}, err
	}
	return httpapi.Peer{PID: int(c.Pid), UID: int(c.Uid)}, nil
}
