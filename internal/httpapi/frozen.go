package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"time"

	"confined/internal/exec"
)

// frozen is the answer of a run. The result is encoded twice, once to measure
// and digest it and once to send it, so that its encoding is never held.
type frozen struct {
	result exec.Result
	queued time.Duration
	stages []exec.StageTime
}

// VisitCreateRunResponse implements CreateRunResponseObject.
func (f frozen) VisitCreateRunResponse(w http.ResponseWriter) error {
	m := measure{hash: sha256.New()}
	if err := encodeResult(&m, f.result); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", mediaResult)
	h.Set("Content-Length", strconv.FormatInt(m.size, 10))
	h.Set("Content-Digest", m.contentDigest())
	h.Set("Confined-Run-Id", f.result.ID())
	h.Set("Confined-Status", string(f.result.Status()))
	h.Set("Server-Timing", f.timing())
	w.WriteHeader(http.StatusOK)
	return encodeResult(w, f.result)
}

// timing is the value of Server-Timing: the time in the queue, then each stage
// that was reached.
func (f frozen) timing() string {
	entries := []string{timingEntry("queue", f.queued)}
	for _, s := range f.stages {
		entries = append(entries, timingEntry(string(s.Stage), s.Duration))
	}
	return strings.Join(entries, ", ")
}

func timingEntry(name string, d time.Duration) string {
	return fmt.Sprintf("%s;dur=%s", name, strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64))
}

// outputBytes is how much of the program's output the answer keeps in memory.
func (f frozen) outputBytes() int64 {
	switch r := f.result.(type) {
	case exec.Observed:
		return int64(r.Process.Stdout.Len() + r.Process.Stderr.Len())
	case exec.Unresolved:
		return int64(r.Process.Stdout.Len() + r.Process.Stderr.Len())
	}
	return 0
}

// measure digests and counts what is written to it.
type measure struct {
	hash hash.Hash
	size int64
}

func (m *measure) Write(p []byte) (int, error) {
	m.size += int64(len(p))
	return m.hash.Write(p)
}

// contentDigest is RFC 9530's word for what was written.
func (m *measure) contentDigest() string {
	return "sha-256=:" + base64.StdEncoding.EncodeToString(m.hash.Sum(nil)) + ":"
}
