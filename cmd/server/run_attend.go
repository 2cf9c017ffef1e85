package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"confined/client"
)

const (
	// stopPatience is how long the result of a run that was asked to stop is
	// waited for: the daemon confirms a kill within 5 s, and then settles.
	stopPatience = 10 * time.Second
	// stopAgain is when an unknown run is asked to stop again: its request may
	// not have been read yet.
	stopAgain = 50 * time.Millisecond
	// cutPatience is how long a closed connection may take to be noticed.
	cutPatience = time.Second
)

// outcome is what came of a job.
type outcome struct {
	result *client.Result
	err    error
	left   bool // it was not waited for: its output may still be on the way
}

// stopSignals are those that ask `confined run` to end.
func stopSignals() chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup means it
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// attend asks, and waits for the answer. At a first signal the run is asked to
// stop and its result waited for; when none comes the connection is closed,
// which stops it too. A second signal ends the waiting at once.
func attend(signals <-chan os.Signal, id string, ask func(context.Context) (*client.Result, error), stop func(context.Context) error) outcome {
	ctx, cut := context.WithCancel(context.Background())
	defer cut()
	answered := make(chan outcome, 1)
	go func() {
		result, err := ask(ctx)
		answered <- outcome{result: result, err: err}
	}()
	var stopping, leaving <-chan time.Time
	for {
		select {
		case a := <-answered:
			return a
		case s := <-signals:
			if stopping != nil || leaving != nil {
				return leave(id, "left at a second signal (%v); the run was asked to stop", s)
			}
			stopping = time.After(stopPatience)
			go stopUntil(ctx, stop)
		case <-stopping:
			cut()
			stopping, leaving = nil, time.After(cutPatience)
		case <-leaving:
			return leave(id, "it was asked to stop, and had no result within %s", stopPatience)
		}
	}
}

func leave(id, format string, args ...any) outcome {
	return outcome{err: &client.UnknownError{RunID: id, Err: fmt.Errorf(format, args...)}, left: true}
}

// stopUntil asks until the daemon took note. Where it never does, the run's own
// answer says why.
func stopUntil(ctx context.Context, stop func(context.Context) error) {
	again := time.NewTicker(stopAgain)
	defer again.Stop()
	for stop(ctx) != nil {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// exit is the exit code. What could not be written, otherwise than because its
// reader had enough, makes the output that was written no output of the program.
func (a outcome) exit(out *output) int {
	if a.err == nil && a.result.Attributable() && out.lost() {
		return exitNotCredited
	}
	return runExit(a.result, a.err)
}

// facts is the last line that `confined run` says.
func (a outcome) facts() string {
	if a.err != nil {
		return errorFacts(a.err)
	}
	return resultFacts(a.result)
}

// printJSON writes the result as the daemon froze it, byte for byte; a terminal
// gets a newline behind it. A problem is JSON too: its status is a number.
func (a outcome) printJSON(out *output) {
	var problem *client.ProblemError
	switch {
	case a.err == nil:
		out.stdout.write(a.result.Raw)
		if out.stdout.terminal {
			out.stdout.write([]byte("\n"))
		}
		out.conclude("")
		return
	case errors.As(a.err, &problem):
		text, err := json.Marshal(problem.Problem)
		if err == nil {
			out.stdout.write(append(text, '\n'))
		}
	}
	out.conclude(a.facts())
}
