package e2e

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What answers hold, as these tests know it. Decoding is strict: a field that
// these types lack is a failure here, though clients are to ignore it.

type result struct {
	Status       string        `json:"status"`
	RunID        string        `json:"runId"`
	Reason       string        `json:"reason"`  // not-started
	Message      string        `json:"message"` // not-started
	Attributable bool          `json:"attributable"`
	Problems     []runProblem  `json:"problems"`
	Identities   identities    `json:"identities"`
	Process      *processFacts `json:"process"`
	Namespace    *namespace    `json:"namespace"`
}

type runProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type bounds struct {
	TimeoutMs      int64 `json:"timeoutMs"`
	MaxOutputBytes int64 `json:"maxOutputBytes"`
	CPUSeconds     int64 `json:"cpuSeconds"`
	MaxDescriptors int64 `json:"maxDescriptors"`
}

type identities struct {
	Program struct {
		Digest string   `json:"digest"`
		Entry  string   `json:"entry"`
		Args   []string `json:"args"`
	} `json:"program"`
	Input   string `json:"input"`
	Runtime string `json:"runtime"`
	Profile struct {
		Name         string `json:"name"`
		Digest       string `json:"digest"`
		Instantiated string `json:"instantiated"`
	} `json:"profile"`
	Bounds bounds `json:"bounds"`
}

type limitPair struct {
	Soft json.RawMessage `json:"soft"` // a number, or "unlimited"
	Hard json.RawMessage `json:"hard"`
}

type limits struct {
	CPUSeconds  limitPair `json:"cpuSeconds"`
	Descriptors limitPair `json:"descriptors"`
	CoreBlocks  limitPair `json:"coreBlocks"`
	FileBlocks  limitPair `json:"fileBlocks"`
}

type exitFacts struct {
	Code   *int    `json:"code"`
	Signal *string `json:"signal"`
}

type usage struct {
	UserMs      float64 `json:"userMs"`
	SystemMs    float64 `json:"systemMs"`
	MaxRSSBytes int64   `json:"maxRssBytes"`
}

type processFacts struct {
	PID         int        `json:"pid"`
	Admission   string     `json:"admission"`
	Limits      *limits    `json:"limits"`
	Exit        *exitFacts `json:"exit"`
	PipesClosed bool       `json:"pipesClosed"`
	Stopped     *string    `json:"stopped"`
	KillSent    bool       `json:"killSent"`
	Stdout      octets     `json:"stdout"`
	Stderr      octets     `json:"stderr"`
	OutputBytes int64      `json:"outputBytes"`
	DurationMs  float64    `json:"durationMs"`
	Usage       *usage     `json:"usage"`
}

type namespace struct {
	State   string `json:"state"`
	Durable bool   `json:"durable"` // removed
	Path    string `json:"path"`    // quarantined, as the rest
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type problem struct {
	Type         string  `json:"type"`
	Title        string  `json:"title"`
	Status       int     `json:"status"`
	Detail       string  `json:"detail"`
	Instance     string  `json:"instance"`
	Code         string  `json:"code"`
	RunID        string  `json:"runId"`
	RetryAfterMs int     `json:"retryAfterMs"`
	Errors       []fault `json:"errors"`
}

type fault struct {
	Code    string `json:"code"`
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

type gauge struct {
	Limit int `json:"limit"`
	Now   int `json:"now"`
}

type status struct {
	Version   string `json:"version"`
	Instance  string `json:"instance"`
	StartedAt string `json:"startedAt"`
	Ready     bool   `json:"ready"`
	NotReady  []struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"notReady"`
	Workers gauge  `json:"workers"`
	Queue   gauge  `json:"queue"`
	Slots   gauge  `json:"slots"`
	Profile string `json:"profile"`
}

type slots struct {
	Root        string `json:"root"`
	MaxRetained int    `json:"maxRetained"`
	Counted     int    `json:"counted"`
	Free        int    `json:"free"`
	Slots       []slot `json:"slots"`
}

type slot struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	RunID   string `json:"runId"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	SinceAt string `json:"sinceAt"`
}

// strict reads JSON into a T that must have every field of it.
func strict[T any](t testing.TB, body []byte) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %.500s", err, body)
	}
	return v
}

// result is the result of a run; any other answer fails the test.
func (a answer) result(t testing.TB) result {
	t.Helper()
	if a.status != 200 {
		t.Fatalf("%s %s answered %d and no result: %.2000s", a.method, a.path, a.status, a.body)
	}
	return strict[result](t, a.body)
}

// problem is the problem of a refusal; any other answer fails the test.
func (a answer) problem(t testing.TB) problem {
	t.Helper()
	if a.status < 400 {
		t.Fatalf("%s %s answered %d and no problem: %.2000s", a.method, a.path, a.status, a.body)
	}
	return strict[problem](t, a.body)
}

// status is what the daemon says of itself now.
func (d *daemon) status(t testing.TB) status {
	t.Helper()
	return strict[status](t, d.get(t, "/v1/status").body)
}

// slots is what the daemon says of its root now.
func (d *daemon) slots(t testing.TB) slots {
	t.Helper()
	return strict[slots](t, d.get(t, "/v1/slots").body)
}
