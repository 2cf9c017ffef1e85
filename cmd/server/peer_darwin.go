package main

import (
	"fmt"

	"golang.org/x/sys/unix"

	"confined/internal/httpapi"
)

// xucredVersion is XUCRED_VERSION of sys/ucred.h: the one layout that x/sys knows.
const xucredVersion = 0

// peerCredentials are the effective user who connected, and the process. SO_PEERCRED does not exist there.
func peerCredentials(fd int) (httpapi.Peer, error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return httpapi.Peer{}, err
	}
	if c.Version != xucredVersion {
		return httpapi.Peer{}, fmt.Errorf("LOCAL_PEERCRED: version %d of struct xucred is unknown", c.Version)
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		return httpapi.Peer{}, err
	}
	return httpapi.Peer{PID: pid, UID: int(c.Uid)}, nil
}
