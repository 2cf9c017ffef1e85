package main

import (
	"golang.org/x/sys/unix"

	"confined/internal/httpapi"
)

func peerCredentials(fd int) (httpapi.Peer, error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return httpapi.Peer{}, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		return httpapi.Peer{}, err
	}
	return httpapi.Peer{PID: pid, UID: int(c.Uid)}, nil
}
