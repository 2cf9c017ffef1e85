package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Transport is a client's way to one daemon. It judges every answer once its
// body has ended, whoever asked and however it is used, and hands the body on
// as it arrives. Make it the only Transport of a test's clients, and ask it for
// Complaints at the end.
type Transport struct {
	Contract *Contract
	Base     http.RoundTripper
	Seen     *Ledger // may be nil

	mu         sync.Mutex // guards what follows
	instance   string
	open       map[*judged]bool
	complaints []string
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.Base.RoundTrip(r)
	if err != nil {
		return response, err
	}
	j := &judged{ReadCloser: response.Body, transport: t, answer: AnswerTo(r, response.StatusCode, response.Header, nil)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[*judged]bool{}
	}
	t.open[j] = true
	response.Body = j
	return response, nil
}

// CloseIdleConnections is for http.Client.CloseIdleConnections.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.Base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// Judge is for answers of the same daemon that came by another way.
func (t *Transport) Judge(a Answer) {
	err := t.Contract.Check(a, t.Seen)
	t.mu.Lock()
	defer t.mu.Unlock()
	if instance := a.Header.Get("Confined-Instance"); t.instance == "" {
		t.instance = instance
	} else if instance != t.instance {
		err = errors.Join(err, fmt.Errorf("Confined-Instance is %q, and was %q", instance, t.instance))
	}
	if err != nil {
		t.complaints = append(t.complaints, fmt.Sprintf("%s %s was answered %d, not as in the contract: %v\n%.1000s", a.Method, a.Path, a.Status, err, a.Body))
	}
}

// Complaints are what was wrong since they were last asked for.
func (t *Transport) Complaints() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.complaints
	t.complaints = nil
	return out
}

// Unread are the answers of which nobody has read or closed the body, and which
// are therefore not judged.
func (t *Transport) Unread() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for j := range t.open {
		out = append(out, fmt.Sprintf("%s %s: %d", j.answer.Method, j.answer.Path, j.answer.Status))
	}
	slices.Sort(out)
	return out
}

// judged is the body of an answer on its way to the client.
type judged struct {
	io.ReadCloser
	transport *Transport
	answer    Answer

	mu   sync.Mutex // guards what follows: a client may close while it reads
	read bytes.Buffer
	done bool
}

func (j *judged) Read(p []byte) (int, error) {
	n, err := j.ReadCloser.Read(p)
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.done {
		j.read.Write(p[:n])
	}
	if err != nil {
		j.judge(err == io.EOF)
	}
	return n, err
}

func (j *judged) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.judge(j.answer.Header.Get("Content-Length") == strconv.Itoa(j.read.Len()))
	return j.ReadCloser.Close()
}

// judge is called with mu held, and judges once.
func (j *judged) judge(whole bool) {
	if j.done {
		return
	}
	j.done = true
	j.answer.Body, j.answer.Cut = j.read.Bytes(), !whole
	j.transport.mu.Lock()
	delete(j.transport.open, j)
	j.transport.mu.Unlock()
	j.transport.Judge(j.answer)
}
