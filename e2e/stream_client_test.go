package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// streamEvent is one line of a run's stream, of whatever type.
type streamEvent struct {
	Seq           int64           `json:"seq"`
	At            string          `json:"at"`
	Type          string          `json:"type"`
	RunID         string          `json:"runId"`
	ElapsedMs     float64         `json:"elapsedMs"`
	Position      *int            `json:"position"`
	Stage         string          `json:"stage"`
	Stream        string          `json:"stream"`
	Bytes         octets          `json:"bytes"`
	ContentDigest string          `json:"contentDigest"`
	Result        json.RawMessage `json:"result"`
	Problem       *problem        `json:"problem"`
}

// streaming is a run whose client is told of it as it goes.
type streaming struct {
	t      *testing.T
	d      *daemon
	r      runRequest
	head   *http.Response
	lines  *bufio.Reader
	events []streamEvent
	drop   context.CancelFunc // drops the connection
}

// stream sends r and returns when the daemon has begun to answer.
func (d *daemon) stream(t *testing.T, r runRequest) *streaming {
	t.Helper()
	ctx, drop := context.WithCancel(t.Context())
	request := d.newRun(t, ctx, r)
	request.Header.Set("Accept", "application/x-ndjson")
	response, err := d.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(); response.Body.Close() })
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "application/x-ndjson" {
		body, _ := io.ReadAll(response.Body)
		t.Fatalf("a stream was answered %d %s", response.StatusCode, body)
	}
	return &streaming{t: t, d: d, r: r, head: response, lines: bufio.NewReader(response.Body), drop: drop}
}

// next waits for the next event.
func (s *streaming) next() streamEvent {
	s.t.Helper()
	line, err := s.lines.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("%v after %s", err, s.outline())
	}
	e := strict[streamEvent](s.t, line)
	if n := len(s.events); e.Seq != int64(n) || n > 0 && e.ElapsedMs < s.events[n-1].ElapsedMs || e.RunID != s.head.Header.Get("Confined-Run-Id") {
		s.t.Errorf("event %d is %.300s", n, line)
	}
	s.events = append(s.events, e)
	return e
}

// until reads up to an event of this type, or stage, or output that ends so.
func (s *streaming) until(what string) streamEvent {
	s.t.Helper()
	for {
		e := s.next()
		if e.Type == what || e.Stage == what || e.Type == "output" && strings.HasSuffix(e.Bytes.plain(s.t), what) {
			return e
		}
	}
}

// rest reads what is left, which must end as a stream ends, and returns the
// result.
func (s *streaming) rest() result {
	s.t.Helper()
	last := s.until("result")
	if more, err := io.ReadAll(s.lines); err != nil || len(more) > 0 {
		s.t.Errorf("after the result come %.100q, %v", more, err)
	}
	return strict[result](s.t, last.Result)
}

// outline is the events in short. Output that was told in several events of one
// stream is one word.
func (s *streaming) outline() string {
	var words []string
	for _, e := range s.events {
		word := e.Type
		switch e.Type {
		case "stage":
			word = e.Stage
		case "output":
			word = e.Stream
		}
		if n := len(words); n == 0 || words[n-1] != word {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// printed is all that was told of one stream.
func (s *streaming) printed(stream string) string {
	var out strings.Builder
	for _, e := range s.events {
		if e.Stream == stream {
			out.WriteString(e.Bytes.plain(s.t))
		}
	}
	return out.String()
}
