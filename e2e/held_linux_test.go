package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Sixteen results of this much output are held at once.
const (
	heldRuns   = 16
	heldOutput = 16 << 20
)

// streamed is what a client accepts that wants to be told of its run as it goes.
const streamed = "application/x-ndjson"

// idleMost is what a daemon that does nothing has resident at most, in KiB, the
// sealed copy of Node apart.
const idleMost = 25 << 10

// TestMemoryOfResults: results of 16 MiB that are all held at once, because no
// client takes its answer yet, cost the daemon the bytes that were printed and
// 64 MiB. Nothing of that stays when they are answered, and the same again costs
// no more than the first time.
func TestMemoryOfResults(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, withFlags(fmt.Sprintf("--workers=%d", heldRuns), fmt.Sprintf("--max-retained=%d", heldRuns)))
	for form, fill := range map[string]byte{"application/json": 0xff, streamed: 'x'} { // binary, and text
		d.resetPeak(t)
		d.holdResults(t, form, fill)
		peak := d.resident("VmHWM")
		t.Logf("%s of %q: at most %d MiB resident", form, fill, peak>>10)
		if most := (heldRuns*heldOutput + 64<<20) >> 10; peak > most {
			t.Errorf("%s of %q: the daemon had %d KiB resident; at most %d", form, fill, peak, most)
		}
		d.mustBeSmall(t, form)
	}
}

// TestMemoryOfManyRuns: many small runs leave the daemon as small as it was.
func TestMemoryOfManyRuns(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.mustBeSmall(t, "before any run")
	r := d.script(t, "console.log('hello')")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 100 {
				if a, err := d.exchange(d.newRun(t, t.Context(), r)); err != nil || a.status != 200 {
					t.Errorf("%v %d %.300s", err, a.status, a.body)
					return
				}
			}
		})
	}
	all.Wait()
	d.mustBeSmall(t, "after 200 runs")
}

// holdResults has every worker carry out a run that prints heldOutput bytes of
// fill, and takes the answers when all of them are held. It goes past the judge,
// who would look at such answers for minutes.
func (d *daemon) holdResults(t *testing.T, accept string, fill byte) {
	t.Helper()
	r := d.script(t, `import fs from 'node:fs';
		const b = Buffer.alloc(1 << 20, Number(process.argv[2]));
		for (let i = 0; i < 16; i++) fs.writeFileSync(1, b);`, fmt.Sprint(fill))
	r.maxOutputBytes = heldOutput
	heads, errs := make([]*http.Response, heldRuns), make([]error, heldRuns)
	var all sync.WaitGroup
	for i := range heads {
		request := d.newRun(t, t.Context(), r)
		request.Header.Set("Accept", accept)
		all.Go(func() { heads[i], errs[i] = d.transport.Base.RoundTrip(request) })
	}
	all.Wait() // a stream begins at once; the head of a plain answer comes when the run is over
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	poll(t, func() bool { return strings.Contains(string(d.get(t, "/v1/runs").body), `"runs":[]`) }, func() string { return "some run is not over" })
	want := strings.Repeat(string([]byte{fill}), heldOutput)
	for i, head := range heads {
		body, err := io.ReadAll(head.Body)
		head.Body.Close()
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		var last struct {
			ContentDigest string
			Result        json.RawMessage
		}
		if last.ContentDigest, last.Result = head.Header.Get("Content-Digest"), body; accept == streamed {
			line := body[bytes.LastIndexByte(body[:len(body)-1], '\n')+1:]
			if err := json.Unmarshal(line, &last); err != nil {
				t.Fatalf("answer %d: %v in %.300s", i, err, line)
			}
		}
		sum := sha256.Sum256(last.Result)
		if digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"; last.ContentDigest != digest {
			t.Errorf("answer %d: the digest of %.300s is %s, and is said to be %s", i, last.Result, digest, last.ContentDigest)
		}
		if got := decode[result](t, last.Result); got.Process == nil || got.Process.Stdout.plain(t) != want {
			t.Errorf("answer %d: %.1000s", i, last.Result)
		}
	}
}

// mustBeSmall waits until the daemon has no more resident than when idle.
func (d *daemon) mustBeSmall(t *testing.T, when string) {
	t.Helper()
	anon, file := statusNumber("RssAnon"), statusNumber("RssFile")
	pid := d.cmd.Process.Pid
	poll(t, func() bool { return anon(pid)+file(pid) < idleMost }, func() string {
		return fmt.Sprintf("%s: %d KiB and of files %d KiB are resident; together at most %d", when, anon(pid), file(pid), idleMost)
	})
	t.Logf("%s: %d KiB and of files %d KiB are resident", when, anon(pid), file(pid))
}
