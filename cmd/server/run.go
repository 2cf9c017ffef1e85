package main

import (
	"context"
	"errors"
	"flag"
	"os/signal"
	"syscall"

	"confined/client"
)

// runProgram is `confined run`: one request, one run, one result.
func runProgram(args []string, in surroundings) error {
	o, err := parseRun(args, in)
	if err != nil {
		return noRun(err)
	}
	job, err := o.job(in)
	if err != nil {
		return noRun(err)
	}
	daemon := client.New(o.socket)
	if job.Pins == (client.Pins{}) {
		if job.Pins, err = daemon.Pins(context.Background()); err != nil {
			return noRun(errors.New(refusalText(err)))
		}
	}
	if o.printRequest {
		return noRun(printRequest(o, job, in))
	}
	if job.ID == "" {
		job.ID = client.NewID()
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away ends no run: see sink
	out := newOutput(in, o.raw)
	ask := func(ctx context.Context) (*client.Result, error) { return daemon.Stream(ctx, job, out.event) }
	if o.json {
		ask = func(ctx context.Context) (*client.Result, error) { return daemon.Run(ctx, job) }
	}
	a := attend(stopSignals(), job.ID, ask, func(ctx context.Context) error { return daemon.Cancel(ctx, job.ID) })
	switch {
	case a.left:
		return exitError{exitUnknown, errors.New(a.facts())}
	case o.json:
		a.printJSON(out)
	default:
		out.conclude(a.facts())
	}
	return exitError{code: a.exit(out)}
}

// noRun is the end of a command line that sent nothing. A help that was asked
// for is no failure.
func noRun(err error) error {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return exitError{exitNoRun, err}
}
