package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

const (
	answerLimit  = 2 * time.Minute       // a run of the mixture waits and runs for less
	refusalLimit = 50 * time.Millisecond // at p99
)

// record is what the generator saw.
type record struct {
	codes    map[string]int // by request and status
	refusals []time.Duration
	answers  map[string]bool // run ids of results
	wrong    []string
	lost     int // requests without an answer
	refused  int // connections that nobody took
}

// capacity is how many runs of the mixture the daemon answers each second while
// as many clients as it has workers send one after the other.
func (d *daemon) capacity(k kit, length time.Duration) (*record, float64, error) {
	body, err := d.get("/v1/status")
	if err != nil {
		return nil, 0, err
	}
	var status struct{ Workers struct{ Limit uint64 } }
	if err := json.Unmarshal(body, &status); err != nil {
		return nil, 0, err
	}
	attacker := vegeta.NewAttacker(vegeta.UnixSocket(d.socket), vegeta.Workers(status.Workers.Limit), vegeta.MaxWorkers(status.Workers.Limit), vegeta.Timeout(answerLimit))
	began, out := time.Now(), newRecord()
	for r := range attacker.Attack(vegeta.NewStaticTargeter(k.runs...), vegeta.ConstantPacer{}, length, "") {
		out.add(r)
	}
	return out, float64(len(out.answers)) / time.Since(began).Seconds(), out.judge()
}

// attack sends the mixture at a rate of runs, whatever the answers are.
func (d *daemon) attack(k kit, runs float64, length time.Duration, meanwhile func()) *record {
	attacker := vegeta.NewAttacker(vegeta.UnixSocket(d.socket), vegeta.Timeout(answerLimit))
	rate := vegeta.Rate{Freq: int(k.requests(runs) * 1000), Per: 1000 * time.Second}
	if meanwhile != nil {
		meanwhile()
	}
	out := newRecord()
	for r := range attacker.Attack(vegeta.NewStaticTargeter(k.targets...), rate, length, "") {
		out.add(r)
	}
	return out
}

func newRecord() *record { return &record{codes: map[string]int{}, answers: map[string]bool{}} }

func (r *record) add(x *vegeta.Result) {
	what := x.Method + " " + strings.TrimPrefix(x.URL, "http://confined")
	switch {
	case x.Code == 0 && strings.Contains(x.Error, "connect:"):
		r.refused++
		return
	case x.Code == 0:
		r.lost++
		r.wrong = append(r.wrong, what+": "+x.Error)
		return
	}
	r.codes[fmt.Sprintf("%s %d", what, x.Code)]++
	if !expected(x) {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: %d %.300s", what, x.Code, x.Body))
	}
	if x.Code == http.StatusTooManyRequests || x.Code == http.StatusServiceUnavailable {
		r.refusals = append(r.refusals, x.Latency)
	}
	if x.Method == http.MethodPost && x.URL == runsURL && x.Code == http.StatusOK {
		r.answer(x)
	}
}

// expected says whether a request may be answered so: as it is meant, or by a
// refusal that starts nothing. Only a run is refused for a full queue, and its
// head is enough for that.
func expected(x *vegeta.Result) bool {
	busy := x.Code == http.StatusTooManyRequests || x.Code == http.StatusServiceUnavailable
	switch {
	case x.URL == malformedURL:
		return x.Code == http.StatusBadRequest || busy
	case x.URL == invalidURL:
		return x.Code == http.StatusUnprocessableEntity || busy
	case x.Method == http.MethodPost:
		return x.Code == http.StatusOK || busy
	}
	return x.Code == http.StatusOK
}

// answer notes the result of one run, which is the last line of a stream.
func (r *record) answer(x *vegeta.Result) {
	text := x.Body
	streamed := x.Headers.Get("Content-Type") == "application/x-ndjson"
	if streamed {
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		text = lines[len(lines)-1]
	}
	var last struct {
		RunID, Type, Status string
		Result              struct{ Status string }
		Problem             struct{ Code string }
	}
	if err := json.Unmarshal(text, &last); err != nil {
		r.wrong = append(r.wrong, fmt.Sprintf("a result is cut short: %v", err))
		return
	}
	if streamed {
		last.Status = last.Result.Status
	}
	if streamed && last.Type == "problem" {
		return // refused while it waited: nothing was started
	}
	if last.Status != "observed" {
		r.wrong = append(r.wrong, fmt.Sprintf("a run is %.500s", text))
	}
	r.answers[last.RunID] = true
}

// judge is what is wrong with a record of a daemon that stayed.
func (r *record) judge() error {
	var errs []error
	if r.refused > 0 {
		errs = append(errs, fmt.Errorf("%d connections were refused", r.refused))
	}
	if p := percentile(r.refusals, 99); p > refusalLimit {
		errs = append(errs, fmt.Errorf("refusals take %s at p99, more than %s", p, refusalLimit))
	}
	return errors.Join(append(errs, r.judgeCut())...)
}

// judgeCut is what is wrong with one of a daemon that was told to end: whoever
// came later found nobody, a run that waited was refused after its wait, and
// everybody else was answered.
func (r *record) judgeCut() error {
	if len(r.wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%d answers are wrong, as in:\n  %s", len(r.wrong), strings.Join(r.wrong[:min(3, len(r.wrong))], "\n  "))
}

// answered compares the runs that the daemon settled with the results that
// arrived, those of an earlier record included: each must be in both.
func (r *record) answered(d *daemon, earlier *record) error {
	settled, err := d.settled()
	if err != nil {
		return err
	}
	got := maps.Clone(r.answers)
	if earlier != nil {
		maps.Copy(got, earlier.answers)
	}
	if !maps.Equal(settled, got) {
		return fmt.Errorf("the daemon settled %d runs and %d results arrived", len(settled), len(got))
	}
	return nil
}

func percentile(of []time.Duration, p int) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[min(len(of)-1, len(of)*p/100)]
}

// String is the record as a table.
func (r *record) String() string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(r.codes)) {
		fmt.Fprintf(&out, "  %6d  %s\n", r.codes[key], key)
	}
	fmt.Fprintf(&out, "  results %d, refusals %d (p50 %s, p99 %s, max %s), unanswered %d, not connected %d\n", len(r.answers), len(r.refusals),
		percentile(r.refusals, 50), percentile(r.refusals, 99), percentile(r.refusals, 100), r.lost, r.refused)
	return out.String()
}
