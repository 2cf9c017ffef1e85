package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"confined/internal/confine"
	"confined/internal/httpapi"
	"confined/internal/ns"
	"confined/metrics"
)

// readinessTime bounds how long one scrape waits for the runtime to be looked at.
const readinessTime = 10 * time.Second

// wireAPI puts the HTTP side in front of the executor, and gives the metrics
// what they read at each scrape.
func (d *daemon) wireAPI() (err error) {
	owner := os.Geteuid()
	d.api, err = httpapi.New(httpapi.Options{
		Version:      thisBuild().String(),
		Executor:     heralded{d.executor, d.herald},
		Pool:         d.pool,
		Profile:      confine.Here().Profile(),
		HostProblem:  confine.Here().HostProblem,
		Workers:      d.config.workers,
		Queue:        d.config.queue,
		UploadMemory: d.config.uploadMemory,
		Owner:        &owner,
		Metrics:      d.metrics.Handler(d.log),
		Trace: &httpapi.Trace{
			Refused:     d.metrics.Refused,
			QueueWait:   d.metrics.Waited,
			Abandoned:   d.metrics.Abandoned,
			UploadBytes: d.metrics.Uploaded,
		},
		Log: d.log,
	})
	if err != nil {
		return err
	}
	d.metrics.Watch(metrics.Sources{Slots: d.pool.List, Queue: d.waiting, NotReady: d.notReady})
	d.server = newServer(d.api, d.log)
	return nil
}

// newServer has no bound on the time of a whole answer: a run may take minutes.
// What it would answer by itself, OPTIONS *, goes to the handler too.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		DisableGeneralOptionsHandler: true,

		Handler:           handler,
		ConnContext:       withPeer,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

func (d *daemon) waiting() int {
	_, waiting := d.api.Load()
	return waiting
}

func (d *daemon) notReady() []string {
	ctx, cancel := context.WithTimeout(context.Background(), readinessTime)
	defer cancel()
	var codes []string
	for _, reason := range d.api.NotReady(ctx) {
		codes = append(codes, string(reason.Code))
	}
	return codes
}

func newMetrics() *metrics.Set {
	b := thisBuild()
	return metrics.New(metrics.Options{
		Build:    metrics.Build{Version: b.Version, Revision: b.Revision, GoVersion: b.GoVersion},
		Boundary: metrics.Boundary{OS: b.OS, Arch: b.Arch, Profile: b.Profile},
		Refusals: httpapi.ProblemCodes(),
		NotReady: httpapi.NotReadyCodes(),
	})
}

// logFound says what the root and the records held when the daemon started.
// Nothing of it is touched.
func (d *daemon) logFound() {
	listing, err := d.pool.List()
	if err != nil {
		d.log.Error("the root cannot be listed", "error", err)
		return
	}
	for _, slot := range listing.Slots {
		if slot.State == ns.Free {
			continue
		}
		attrs := []any{"entry", slot.Name, "state", string(slot.State)}
		if slot.RunID != "" {
			attrs = append(attrs, "runId", slot.RunID)
		}
		if slot.Reason != "" {
			attrs = append(attrs, "reason", string(slot.Reason))
		}
		d.log.Warn("found in the root: counted, not touched", attrs...)
	}
	for _, line := range d.pool.LedgerDamage() {
		d.log.Warn("a damaged line in the quarantine records", "line", line.Line, "problem", line.Problem)
	}
	d.herald.logUnfit()
}

// logReadiness looks at host and runtime once, ahead of the first run.
func (d *daemon) logReadiness(ctx context.Context) {
	reasons := d.api.NotReady(ctx)
	for _, reason := range reasons {
		d.log.Warn("no run can start", "reason", string(reason.Code), "detail", reason.Detail)
	}
	if len(reasons) == 0 && ctx.Err() == nil {
		d.log.Info("ready")
	}
}
