package metrics

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"confined/internal/exec"
	"confined/internal/ns"
)

func pedantic(t *testing.T) *Set {
	t.Helper()
	return newSet(Options{
		Build:    Build{Version: "1.2.3", Revision: "abc", GoVersion: "go1.26"},
		Boundary: Boundary{OS: "linux", Arch: "amd64", Profile: "confined-linux/1"},
		Refusals: []string{"queue-full", "draining"},
		NotReady: []string{"draining", "no-free-slot"},
	}, prometheus.NewPedanticRegistry())
}

func listing() (ns.Listing, error) {
	return ns.Listing{MaxRetained: 4, Slots: []ns.SlotInfo{
		{Name: "slot-0", State: ns.Running}, {Name: "slot-1", State: ns.Leftover},
		{Name: "slot-2", State: ns.Free}, {Name: "slot-3", State: ns.Free}, {Name: "notes", State: ns.Foreign},
	}}, nil
}

func watched(t *testing.T) *Set {
	s := pedantic(t)
	s.Watch(Sources{
		Slots:    listing,
		Queue:    func() int { return 3 },
		NotReady: func() []string { return []string{"draining"} },
	})
	return s
}

func exit(code int) *exec.Exit { return &exec.Exit{Code: &code} }

// TestNamesAndLabels states every series: the contract with dashboards and alerts.
func TestNamesAndLabels(t *testing.T) {
	s := watched(t)
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "confined_") {
			continue
		}
		got[f.GetName()] = nil
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			if len(labels) > 0 {
				got[f.GetName()] = append(got[f.GetName()], strings.Join(labels, " "))
			}
		}
	}
	want := map[string][]string{
		"confined_slots":              each("state", "elsewhere", "foreign", "free", "leftover", "quarantined", "running"),
		"confined_slots_limit":        nil,
		"confined_queue":              nil,
		"confined_queue_wait_seconds": nil,
		"confined_upload_bytes":       nil,
		"confined_output_bytes":       nil,
		"confined_ready":              each("reason", "draining", "no-free-slot"),
		"confined_refusals_total":     each("code", "draining", "queue-full"),
		"confined_runs_total": {
			"reason= status=observed", "reason= status=unresolved",
			"reason=aborted status=not-started", "reason=profile-mismatch status=not-started", "reason=retained-limit status=not-started",
			"reason=runtime-mismatch status=not-started", "reason=setup-failed status=not-started", "reason=snapshot-mismatch status=not-started",
			"reason=unsupported-host status=not-started"},
		"confined_stops_total":      each("reason", "cancelled", "control-malformed", "limits-mismatch", "output-limit", "timeout"),
		"confined_admissions_total": each("value", "absent", "admitted", "malformed", "refused"),
		"confined_run_problems_total": each("code", "admission-absent", "admission-malformed", "admission-refused", "contact-lost",
			"limits-mismatch", "namespace-changed", "namespace-unverifiable", "not-reaped", "pipes-open", "runtime-changed", "runtime-unverifiable"),
		"confined_quarantines_total": each("reason", "namespace-changed", "removal-failed", "setup-incomplete", "snapshot-mismatch", "unresolved"),
		"confined_stage_seconds":     each("stage", "admit", "collect", "launch", "materialise", "pins", "program", "recheck", "settle", "verify"),
		"confined_build_info":        {"goversion=go1.26 revision=abc version=1.2.3"},
		"confined_boundary_info":     {"arch=amd64 os=linux profile=confined-linux/1"},
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		slices.Sort(got[name])
		if !slices.Equal(got[name], want[name]) {
			t.Errorf("%s\n got %q\nwant %q", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("names: got %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func each(label string, values ...string) []string {
	var out []string
	for _, v := range values {
		out = append(out, label+"="+v)
	}
	return out
}

func TestLint(t *testing.T) {
	problems, err := testutil.GatherAndLint(watched(t).registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestGatherIsConsistent lets the pedantic registry compare every metric with its description.
func TestGatherIsConsistent(t *testing.T) {
	s := watched(t)
	settleAll(s)
	if n, err := testutil.GatherAndCount(s.registry); err != nil || n == 0 {
		t.Fatalf("%d series, %v", n, err)
	}
}

func settleAll(s *Set) {
	settled := s.Trace().Settled
	settled(exec.SettledInfo{Result: exec.NotStarted{Reason: exec.ReasonRetainedLimit}, Stages: []exec.StageTime{{Stage: exec.StagePins, Duration: time.Second}}})
	settled(exec.SettledInfo{Result: exec.NotStarted{Reason: exec.ReasonSnapshotMismatch,
		Namespace: &ns.Disposition{State: ns.StateQuarantined, Reason: ns.SnapshotMismatch}}})
	settled(exec.SettledInfo{Result: exec.Observed{Attributable: true,
		Process:   exec.ProcessFacts{Admission: exec.AdmissionAdmitted, Exit: exit(0), OutputBytes: 100},
		Namespace: ns.Disposition{State: ns.StateRemoved, Durable: true}}})
	settled(exec.SettledInfo{Result: exec.Unresolved{
		Problems:  []exec.Problem{{Code: exec.ProblemAdmissionAbsent}, {Code: exec.ProblemPipesOpen}},
		Process:   exec.ProcessFacts{Admission: exec.AdmissionAbsent, Stopped: exec.StopTimeout, KillSent: true},
		Namespace: ns.Disposition{State: ns.StateQuarantined, Reason: ns.Unresolved}}})
	s.Abandoned()
	s.Refused("queue-full")
	s.Uploaded(70_000)
	s.Waited(20 * time.Millisecond)
}

func TestCountsWhatSettles(t *testing.T) {
	s := watched(t)
	settleAll(s)
	for series, c := range map[string]prometheus.Collector{
		"not-started": s.runs.WithLabelValues("not-started", "retained-limit"),
		"abandoned":   s.runs.WithLabelValues("not-started", "aborted"),
		"observed":    s.runs.WithLabelValues("observed", ""),
		"unresolved":  s.runs.WithLabelValues("unresolved", ""),
		"stop":        s.stops.WithLabelValues("timeout"),
		"admitted":    s.admissions.WithLabelValues("admitted"),
		"absent":      s.admissions.WithLabelValues("absent"),
		"problem":     s.problems.WithLabelValues("pipes-open"),
		"quarantine":  s.quarantines.WithLabelValues("unresolved"),
		"mismatch":    s.quarantines.WithLabelValues("snapshot-mismatch"),
		"refusal":     s.refusals.WithLabelValues("queue-full"),
	} {
		if got := testutil.ToFloat64(c); got != 1 {
			t.Errorf("%s: counted %v times, want 1", series, got)
		}
	}
	if got := testutil.ToFloat64(s.quarantines.WithLabelValues("removal-failed")); got != 0 {
		t.Errorf("removal-failed counted %v times, want 0", got)
	}
}

const gaugesText = `
# HELP confined_queue Runs that wait for a worker.
# TYPE confined_queue gauge
confined_queue 3
# HELP confined_ready 0 while this reason keeps runs from starting, else 1: min(confined_ready) is 1 when ready.
# TYPE confined_ready gauge
confined_ready{reason="draining"} 0
confined_ready{reason="no-free-slot"} 1
# HELP confined_slots Slots, and other entries of the root, by what they are now.
# TYPE confined_slots gauge
confined_slots{state="elsewhere"} 0
confined_slots{state="foreign"} 1
confined_slots{state="free"} 2
confined_slots{state="leftover"} 1
confined_slots{state="quarantined"} 0
confined_slots{state="running"} 1
# HELP confined_slots_limit Entries of the root at which no run starts any more.
# TYPE confined_slots_limit gauge
confined_slots_limit 4
`

func TestGaugesReadTheirSources(t *testing.T) {
	s := watched(t)
	if err := testutil.GatherAndCompare(s.registry, strings.NewReader(gaugesText),
		"confined_queue", "confined_ready", "confined_slots", "confined_slots_limit"); err != nil {
		t.Error(err)
	}
}

func scrape(s *Set, log *slog.Logger, accept string) (code int, kind, body string) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", accept)
	s.Handler(log).ServeHTTP(w, r)
	b, _ := io.ReadAll(w.Body)
	return w.Code, w.Header().Get("Content-Type"), string(b)
}

func TestHandlerSpeaksOpenMetrics(t *testing.T) {
	code, kind, body := scrape(watched(t), slog.New(slog.DiscardHandler), "application/openmetrics-text; version=1.0.0")
	if code != 200 || !strings.HasPrefix(kind, "application/openmetrics-text") {
		t.Fatalf("%d %s", code, kind)
	}
	for _, want := range []string{`confined_runs_total{reason="aborted",status="not-started"} 0`, "# TYPE confined_runs counter", "go_goroutines", "process_open_fds", "# EOF"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in the scrape", want)
		}
	}
}

func TestAnUnreadableRootIsLoggedAndLeftOut(t *testing.T) {
	s := pedantic(t)
	s.Watch(Sources{
		Slots:    func() (ns.Listing, error) { return ns.Listing{}, errors.New("the root is gone") },
		Queue:    func() int { return 0 },
		NotReady: func() []string { return nil },
	})
	var log bytes.Buffer
	code, _, body := scrape(s, slog.New(slog.NewTextHandler(&log, nil)), "text/plain")
	if code != 200 || !strings.Contains(body, "confined_queue 0") || strings.Contains(body, "confined_slots{") {
		t.Errorf("%d, with slots: %v", code, strings.Contains(body, "confined_slots{"))
	}
	if !strings.Contains(log.String(), "the root is gone") {
		t.Errorf("log: %s", log.String())
	}
}
