package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lapKey is the key of a context under which a request has its stopwatch.
type lapKey struct{}

// lap is from the moment before a request is sent to the last byte of its
// answer.
type lap struct {
	began time.Time
	took  time.Duration
}

// stopped ends laps. It lies below the contract's transport, so that the time it
// takes to judge an answer is nobody's.
type stopped struct{ http.RoundTripper }

func (s stopped) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if l, ok := r.Context().Value(lapKey{}).(*lap); ok && err == nil {
		response.Body = &lastByte{response.Body, l}
	}
	return response, err
}

func (s stopped) CloseIdleConnections() {
	s.RoundTripper.(interface{ CloseIdleConnections() }).CloseIdleConnections()
}

type lastByte struct {
	io.ReadCloser
	lap *lap
}

func (l *lastByte) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if err == io.EOF {
		l.lap.took = time.Since(l.lap.began)
	}
	return n, err
}

// benchDaemon is a daemon whose runs can be timed.
func benchDaemon(b *testing.B, options ...option) *daemon {
	b.Helper()
	d := startDaemon(b, options...)
	d.transport.Base = stopped{d.transport.Base}
	return d
}

// outside is what the stages leave of the whole: the socket, the body, the
// encoding.
const outside = "outside"

// overSocket is j by d over its socket. The request is ready before the clock
// starts.
func overSocket(b *testing.B, d *daemon, j job) runner {
	b.Helper()
	contentType, body := form(b, j.parts(b))
	return func() ([]part, error) {
		l := &lap{}
		r := d.newRequestIn(b, context.WithValue(b.Context(), lapKey{}, l), http.MethodPost, "/v1/runs", bytes.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		l.began = time.Now()
		a, err := d.exchange(r)
		if err != nil {
			return nil, err
		}
		if err := j.judgeAnswer(a); err != nil {
			return nil, err
		}
		return stages(a.header, l.took)
	}
}

// judgeAnswer fails unless the program ran as it should and its output can be
// credited to the pins.
func (j job) judgeAnswer(a answer) error {
	var got struct {
		Attributable bool
		Process      struct{ Stdout octets }
	}
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK || !got.Attributable {
		return fmt.Errorf("answer %d: %.500s", a.status, a.body)
	}
	return j.judge(got.Process.Stdout.Data)
}

// stages reads what the daemon measured.
func stages(h http.Header, took time.Duration) ([]part, error) {
	parts, rest := []part{{whole, millis(took)}}, millis(took)
	for entry := range strings.SplitSeq(h.Get("Server-Timing"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(entry), ";dur=")
		ms, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("Server-Timing holds %q", entry)
		}
		parts, rest = append(parts, part{name, ms}), rest-ms
	}
	return append(parts, part{outside, rest}), nil
}

// nodes are the stages in which Node.js, and then the program, have the
// processor: from the report of the limits, which is the last thing before the
// exec, to the exit.
var nodes = []string{"admit", "program"}

// notNode is what a run took beside Node.js: from the request to the exec, and
// from the exit to the answer.
func (c *contestant) notNode() series { return c.whole().minus(c.sum(nodes...)) }

// keeping are the stages in which the files of a run are written, read back,
// read back again and removed.
var keeping = []string{"materialise", "verify", "recheck", "settle"}
