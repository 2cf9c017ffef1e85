package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Malformed requests made from the contract. A base is a good request in one of
// its forms; a defect spoils it in one way and says which problem that must be;
// makers make defects out of the schemas and of what the contract says in
// words. Everything random comes from one seed, which failures name.

// defect is one way to spoil a base.
type defect struct {
	name   string
	change func(*draft)
	code   string   // of the problem
	faults []string // exactly these, as "code pointer"
	among  bool     // faults may be more: one mistake that other checks see too
	schema bool     // it is against the document's schema, which a validator can see
}

// maker makes defects of a base, each time with other values.
type maker func(*rand.Rand, *base) []defect

// makers are all there are.
func makers() []maker {
	return []maker{schemaDefects, valueDefects, textDefects, fileDefects, formDefects, tarDefects, headDefects, targetDefects}
}

// seedOf is what all randomness of these tests comes from.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("CONFINED_TEST_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatalf("CONFINED_TEST_SEED: %v", err)
	}
	t.Logf("CONFINED_TEST_SEED=%d", seed)
	return seed
}

// trial is one request to send.
type trial struct {
	defect
	base *base
	seed uint64 // of how it is written down
}

func (c trial) String() string { return c.base.name + ", " + c.name }

// trials are every defect that the makers make of every base.
func trials(seed uint64, bases []*base) []trial {
	r := rand.New(rand.NewPCG(seed, 0))
	var out []trial
	for _, b := range bases {
		for _, of := range makers() {
			for _, one := range of(r, b) {
				out = append(out, trial{one, b, r.Uint64()})
			}
		}
	}
	return out
}

// TestMalformedRequests: a thousand of them and more. Each gets the problem that
// it is, and nothing is left behind of any.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	const memory = 64 << 20
	d := startDaemon(t, withFlags("--upload-memory="+strconv.Itoa(memory)))
	seed, bases := seedOf(t), basesOf(t, d)
	for i, b := range bases {
		if err := b.passes(t, d, uint64(i)); err != nil {
			t.Fatalf("%s, with nothing wrong in it: %v", b.name, err)
		}
	}
	d.mustTake(t, memory-512<<10)
	observed := d.metric(t, `confined_runs_total{reason="",status="observed"}`)
	before := d.traces(t)

	all := trials(seed, bases)
	if len(all) < 1000 {
		t.Errorf("only %d malformed requests", len(all))
	}
	work := make(chan trial)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for c := range work {
				if err := c.judge(t, d); err != nil {
					t.Errorf("seed %d: %s: %v", seed, c, err)
				}
			}
		})
	}
	for _, c := range all {
		work <- c
	}
	close(work)
	workers.Wait()
	t.Logf("%d malformed requests of %d bases", len(all), len(bases))

	d.mustFitContract(t)
	d.mustLeaveNothing(t, before)
	s := d.status(t)
	if !s.Ready || s.Workers.Now != 0 || s.Queue.Now != 0 || s.Slots.Now != 0 || len(d.rootEntries(t)) > 0 {
		t.Errorf("not as before: %+v, root %v", s, d.rootEntries(t))
	}
	if now := d.metric(t, `confined_runs_total{reason="",status="observed"}`); now != observed {
		t.Errorf("%v runs were observed, %v before", now, observed)
	}
	d.mustTake(t, memory-512<<10)
	for i, b := range bases {
		if err := b.passes(t, d, uint64(1000+i)); err != nil {
			t.Errorf("afterwards %s: %v", b.name, err)
		}
	}
}

// mustTake fails unless a snapshot of n bytes finds room in the upload memory.
func (d *daemon) mustTake(t *testing.T, n int) {
	t.Helper()
	d.describe(t, []file{{"big", strings.Repeat("x", n)}})
}

// judge sends the request and says what is wrong with it or with its answer.
func (c trial) judge(t *testing.T, d *daemon) error {
	spoilt, good := c.base.draft(), c.base.draft()
	c.change(spoilt)
	r, text := spoilt.request(t, d, c.seed)
	same, goodText := good.request(t, d, c.seed)
	if bytes.Equal(text, goodText) && r.Method == same.Method && r.URL.String() == same.URL.String() && maps.EqualFunc(r.Header, same.Header, slices.Equal) {
		return fmt.Errorf("the defect changes nothing")
	}
	if c.schema && shared.contract.Valid(c.base.schema, []byte(spoilt.written(c.seed))) == nil {
		return fmt.Errorf("the defect leaves the document valid: %.500s", spoilt.written(c.seed))
	}
	a, err := d.exchange(r)
	if err == nil {
		err = c.judgeAnswer(a)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s %s %v\n%.1500q", err, r.Method, r.URL, r.Header, text)
	}
	return nil
}

// judgeAnswer compares an answer with the problem that it must be.
func (c trial) judgeAnswer(a answer) error {
	if want := shared.contract.Codes()[c.code]; a.status != want {
		return fmt.Errorf("answered %d, want %d %s: %.500s", a.status, want, c.code, a.body)
	}
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		return err
	}
	var got []string
	for _, f := range p.Errors {
		got = append(got, f.Code+" "+f.Pointer)
	}
	missing := func(in []string) func(string) bool { return func(s string) bool { return !slices.Contains(in, s) } }
	more := c.faults != nil && !c.among && slices.ContainsFunc(got, missing(c.faults))
	if p.Code != c.code || more || slices.ContainsFunc(c.faults, missing(got)) {
		return fmt.Errorf("answered %s with %q, want %s with %q: %s", p.Code, got, c.code, c.faults, p.Detail)
	}
	return nil
}

// TestMalformedControls: what the test above would say of a defect that
// changes nothing, of one that leaves a good request, and of one that expects
// another problem than it makes.
func TestMalformedControls(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	for _, b := range basesOf(t, d) {
		if b.media == "" {
			continue
		}
		extra := func(d *draft) { d.header.Set("X-Nobody-Asked", "1") }
		wrongType := func(d *draft) { d.header.Set("Content-Type", "text/plain") }
		for name, row := range map[string]struct {
			defect
			says string // empty: nothing
		}{
			"right":             {defect{change: wrongType, code: "unsupported-media-type"}, ""},
			"changes nothing":   {defect{change: func(*draft) {}, code: "malformed-request"}, "changes nothing"},
			"still good":        {defect{change: extra, code: "malformed-request"}, "want 400 malformed-request"},
			"another problem":   {defect{change: wrongType, code: "malformed-request"}, "answered 415"},
			"another code":      {defect{change: func(d *draft) { d.path = "/nowhere" }, code: "run-unknown"}, "answered not-found"},
			"a fault less":      {defect{change: wrongType, code: "unsupported-media-type", faults: []string{"unknown-field /x"}}, "want unsupported-media-type with"},
			"not in the schema": {defect{change: wrongType, code: "unsupported-media-type", schema: true}, "leaves the document valid"},
		} {
			if name == "not in the schema" && b.schema == "" {
				continue
			}
			err := trial{row.defect, b, 7}.judge(t, d)
			if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("%s, %s: %v", b.name, name, err)
			}
		}
	}
	d.mustFitContract(t)
}
