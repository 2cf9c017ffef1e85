package metrics

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"confined/internal/exec"
	"confined/internal/ns"
)

// Options are what a Set cannot find out by watching.
type Options struct {
	Build    Build
	Boundary Boundary
	Refusals []string // every problem code an HTTP answer can carry
	NotReady []string // every reason for not being ready
}

// Build says which binary this is.
type Build struct{ Version, Revision, GoVersion string }

// Boundary says which kernel boundary this binary was built for.
type Boundary struct{ OS, Arch, Profile string }

// Sources are read once at each scrape.
type Sources struct {
	Slots    func() (ns.Listing, error)
	Queue    func() int      // runs that wait for a worker now
	NotReady func() []string // the reasons that hold now; empty when ready
}

// Set is one daemon's metrics, in a registry of their own.
type Set struct {
	registry *prometheus.Registry
	options  Options

	runs, stops, admissions, problems, quarantines, refusals *prometheus.CounterVec
	stages                                                   *prometheus.HistogramVec
	wait, uploads, outputs                                   prometheus.Histogram
}

// New registers every metric and sets each series that counts to 0, so that a
// first failure is a rise and not a new series.
func New(o Options) *Set { return newSet(o, prometheus.NewRegistry()) }

// newSet is New with the registry given: tests give a pedantic one.
func newSet(o Options, registry *prometheus.Registry) *Set {
	s := &Set{
		registry:    registry,
		options:     o,
		runs:        counter("runs_total", "Runs that came to a result. The reason is there only for not-started.", "status", "reason"),
		stops:       counter("stops_total", "Processes that confined asked to end, by the first reason.", "reason"),
		admissions:  counter("admissions_total", "Processes by what the control pipe said of the program's start.", "value"),
		problems:    counter("run_problems_total", "What kept results from being attributable.", "code"),
		quarantines: counter("quarantines_total", "Namespaces that were kept for an operator instead of removed.", "reason"),
		refusals:    counter("refusals_total", "Requests answered with a problem.", "code"),
		stages:      prometheus.NewHistogramVec(seconds("stage_seconds", "Where the time of runs goes."), []string{"stage"}),
		wait:        prometheus.NewHistogram(seconds("queue_wait_seconds", "From a valid request until a worker took it up.")),
		uploads:     prometheus.NewHistogram(sizes("upload_bytes", "Request bodies that were read whole.", 64<<10, 12)),
		outputs:     prometheus.NewHistogram(sizes("output_bytes", "What processes wrote to stdout and stderr together, kept or not.", 64, 12)),
	}
	registry.MustRegister(s.runs, s.stops, s.admissions, s.problems, s.quarantines, s.refusals,
		s.stages, s.wait, s.uploads, s.outputs,
		info("build_info", "The binary that is running.", prometheus.Labels{
			"version": o.Build.Version, "revision": o.Build.Revision, "goversion": o.Build.GoVersion}),
		info("boundary_info", "The kernel boundary of this binary.", prometheus.Labels{
			"os": o.Boundary.OS, "arch": o.Boundary.Arch, "profile": o.Boundary.Profile}),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.zero()
	return s
}

// Watch adds the gauges that are read at each scrape. It is called once, when
// what they are read from exists.
func (s *Set) Watch(from Sources) {
	s.registry.MustRegister(newGauges(from, s.options.NotReady))
}

// Handler serves the set as text or OpenMetrics. A gauge that cannot be read is
// logged and left out; the others are still served.
func (s *Set) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		Registry:          s.registry,
		EnableOpenMetrics: true,
		ErrorHandling:     promhttp.ContinueOnError,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	})
}

// zero makes every series of the counters and of the stages exist.
func (s *Set) zero() {
	for _, reason := range exec.Reasons() {
		s.runs.WithLabelValues(string(exec.StatusNotStarted), string(reason))
	}
	s.runs.WithLabelValues(string(exec.StatusObserved), "")
	s.runs.WithLabelValues(string(exec.StatusUnresolved), "")
	zero(s.stops, exec.StopReasons())
	zero(s.admissions, exec.Admissions())
	zero(s.problems, exec.ProblemCodes())
	zero(s.quarantines, ns.QuarantineReasons())
	zero(s.refusals, s.options.Refusals)
	for _, stage := range exec.Stages() {
		s.stages.WithLabelValues(string(stage))
	}
}

func zero[T ~string](counters *prometheus.CounterVec, values []T) {
	for _, v := range values {
		counters.WithLabelValues(string(v))
	}
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "confined", Name: name, Help: help}, labels)
}

func info(name, help string, labels prometheus.Labels) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "confined", Name: name, Help: help, ConstLabels: labels})
	g.Set(1)
	return g
}

// seconds spans a stage of half a millisecond to the longest run.
func seconds(name, help string) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Namespace: "confined", Name: name, Help: help,
		Buckets:                        []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 600},
		NativeHistogramBucketFactor:    1.1,
		NativeHistogramMaxBucketNumber: 100,
	}
}

// sizes has count buckets from start on, each four times the one before.
func sizes(name, help string, start float64, count int) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Namespace: "confined", Name: name, Help: help,
		Buckets:                        prometheus.ExponentialBuckets(start, 4, count),
		NativeHistogramBucketFactor:    1.1,
		NativeHistogramMaxBucketNumber: 100,
	}
}

// Refused counts a request that was answered with a problem.
func (s *Set) Refused(code string) { s.refusals.WithLabelValues(code).Inc() }

// Uploaded counts the bytes of a request body that was read whole.
func (s *Set) Uploaded(bodyBytes int64) { s.uploads.Observe(float64(bodyBytes)) }

// Abandoned counts a run that was cancelled while it waited: the executor never
// heard of it.
func (s *Set) Abandoned() {
	s.runs.WithLabelValues(string(exec.StatusNotStarted), string(exec.ReasonAborted)).Inc()
}

// Waited counts how long a run was queued before a worker took it up.
func (s *Set) Waited(d time.Duration) { s.wait.Observe(d.Seconds()) }
