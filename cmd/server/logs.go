package main

import (
	"context"
	"io"
	"log/slog"

	"confined/internal/exec"
	"confined/internal/ns"
)

// newLogger writes to out in the format asked for; auto is text on a terminal
// and JSON elsewhere.
func newLogger(out io.Writer, format string) *slog.Logger {
	if format == "auto" {
		format = "json"
		if isTerminal(out) {
			format = "text"
		}
	}
	if format == "text" {
		return slog.New(slog.NewTextHandler(out, nil))
	}
	return slog.New(slog.NewJSONHandler(out, nil))
}

// logTrace writes one line for each run that settled: what it came to, by the
// words of the contract. Nothing a program wrote or was given is in it.
func logTrace(log *slog.Logger) *exec.Trace {
	return &exec.Trace{Settled: func(info exec.SettledInfo) { logResult(log, info) }}
}

func logResult(log *slog.Logger, info exec.SettledInfo) {
	level := slog.LevelInfo
	said := []slog.Attr{slog.String("runId", info.RunID), slog.String("status", string(info.Result.Status()))}
	switch r := info.Result.(type) {
	case exec.NotStarted:
		said = append(said, slog.String("reason", string(r.Reason)), slog.String("message", r.Message))
		if r.Namespace != nil {
			said = append(said, disposition(*r.Namespace)...)
		}
	case exec.Observed:
		said = append(said, slog.Bool("attributable", r.Attributable))
		said = append(said, processFacts(r.Process, r.Problems)...)
		said = append(said, disposition(r.Namespace)...)
	case exec.Unresolved:
		level = slog.LevelError
		said = append(said, processFacts(r.Process, r.Problems)...)
		said = append(said, disposition(r.Namespace)...)
	}
	log.LogAttrs(context.Background(), level, "run settled", said...)
}

func processFacts(p exec.ProcessFacts, problems []exec.Problem) []slog.Attr {
	said := []slog.Attr{
		slog.Int("pid", p.PID), slog.String("admission", string(p.Admission)),
		slog.Float64("durationMs", float64(p.Duration.Microseconds())/1000), slog.Int64("outputBytes", p.OutputBytes),
	}
	if p.Exit != nil && p.Exit.Code != nil {
		said = append(said, slog.Int("exitCode", *p.Exit.Code))
	}
	if p.Exit != nil && p.Exit.Signal != nil {
		said = append(said, slog.String("signal", *p.Exit.Signal))
	}
	if p.Stopped != "" {
		said = append(said, slog.String("stopped", string(p.Stopped)))
	}
	for _, problem := range problems {
		said = append(said, slog.String("problem", string(problem.Code)+": "+problem.Message))
	}
	return said
}

func disposition(d ns.Disposition) []slog.Attr {
	said := []slog.Attr{slog.String("namespace", d.State)}
	if d.State == ns.StateQuarantined {
		said = append(said, slog.String("quarantine", string(d.Reason)), slog.String("path", d.Path), slog.String("why", d.Message))
	}
	return said
}
