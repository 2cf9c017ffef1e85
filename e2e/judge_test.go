package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	"confined/e2e/contract"
)

// judgedSocket is HTTP over one Unix socket, each answer held against
// openapi.yaml. Nothing else in these tests makes a client: see
// TestNobodyBypassesTheContract.
func judgedSocket(socket string) *contract.Transport {
	var dialer net.Dialer
	return &contract.Transport{Contract: shared.contract, Seen: shared.seen, Base: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost: 4, DisableCompression: true,
	}}
}

// mustFitContract fails the test for every answer of this daemon that came by
// now and was not what openapi.yaml says.
func (d *daemon) mustFitContract(t testing.TB) {
	t.Helper()
	for _, complaint := range d.transport.Complaints() {
		t.Error(complaint)
	}
}

// mustBeBody fails unless body, of an answer whose head nobody has, is of a shape
// that the contract knows.
func mustBeBody(t testing.TB, body []byte) {
	t.Helper()
	var wrong []error
	for _, shape := range []string{"RunResult", "Problem", "Snapshot", "Slots", "SlotDetail", "Runtime", "Profile", "Status", "LiveRuns", "Namespace"} {
		err := shared.contract.Valid("/components/schemas/"+shape, body)
		if err == nil {
			return
		}
		wrong = append(wrong, err)
	}
	t.Errorf("no body of the contract: %.1000s\n%v", body, errors.Join(wrong...))
}

// rawConn is a connection of a test that writes HTTP itself. The daemon's
// answers on it are judged when the test is over.
type rawConn struct {
	*net.UnixConn
	mu         sync.Mutex // guards what follows
	sent, read bytes.Buffer
}

// dial opens a connection to the daemon.
func (d *daemon) dial(t testing.TB) *rawConn {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: d.socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	c := &rawConn{UnixConn: conn}
	t.Cleanup(func() {
		conn.Close()
		c.judge(d)
		d.mustFitContract(t)
	})
	return c
}

func (c *rawConn) Write(p []byte) (int, error) {
	n, err := c.UnixConn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent.Write(p[:n])
	return n, err
}

func (c *rawConn) Read(p []byte) (int, error) {
	n, err := c.UnixConn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Write(p[:n])
	return n, err
}

// judge pairs what was sent with what came back, and judges it.
func (c *rawConn) judge(d *daemon) {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests, answers := bufio.NewReader(&c.sent), bufio.NewReader(&c.read)
	for {
		request, badRequest := http.ReadRequest(requests)
		response, err := http.ReadResponse(answers, request)
		for err == nil && response.StatusCode == http.StatusContinue {
			response, err = http.ReadResponse(answers, request)
		}
		if err != nil {
			return // not answered, or not read to the end of the head
		}
		body, err := io.ReadAll(response.Body)
		if bare := []int{400, 417, 431, 505}; badRequest != nil || response.Header.Get("X-Request-Id") == "" && slices.Contains(bare, response.StatusCode) {
			return // the parser's own answer to what is no request
		}
		a := contract.AnswerTo(request, response.StatusCode, response.Header, body)
		a.Cut = err != nil
		d.transport.Judge(a)
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return // the request was not sent whole
		}
	}
}
