package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"confined/client/api"
)

// Client talks to one daemon over its Unix socket. It holds no connection
// between calls, and is safe for concurrent use.
type Client struct {
	socket string
	api    *api.ClientWithResponses
}

// baseURL names the daemon in requests; the socket alone decides who answers.
const baseURL = "http://confined"

// New makes a client of the daemon that listens on socket. It does not connect.
func New(socket string) *Client {
	doer := &http.Client{
		Transport:     transport(socket),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	generated, err := api.NewClientWithResponses(baseURL, api.WithHTTPClient(doer))
	if err != nil {
		panic(fmt.Sprintf("client: bug: %v", err)) // only an option can fail, and ours does not
	}
	return &Client{socket: socket, api: generated}
}

// transport makes one connection for each request. net/http repeats some
// requests when a connection it kept turns out dead; on a new connection it
// repeats nothing, whatever the request.
func transport(socket string) *http.Transport {
	var dialer net.Dialer
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, "unix", socket)
			if err != nil && ctx.Err() == nil {
				err = &NoDaemonError{Socket: socket, Err: err}
			}
			return conn, err
		},
		DisableKeepAlives:  true,
		DisableCompression: true,
	}
}

// DefaultSocket is where the daemon of this user listens unless told otherwise:
// $CONFINED_SOCKET, else ~/.confined/socket.
func DefaultSocket() (string, error) {
	if socket := os.Getenv("CONFINED_SOCKET"); socket != "" {
		return socket, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("the socket of the daemon is unknown: set CONFINED_SOCKET, or HOME")
	}
	return filepath.Join(home, ".confined", "socket"), nil
}

// API is the generated client of every operation, over the same socket. It
// checks nothing: use it for what has no call of its own here.
func (c *Client) API() *api.ClientWithResponses { return c.api }
