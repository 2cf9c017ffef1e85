package main

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"confined/client"
)

// Exit codes of `confined run` beside the program's own. A program may exit
// with them too: --json tells them apart.
const (
	exitNoRun       = 125 // no process existed: the daemon refused, or could not be reached; also a wrong command line
	exitNotCredited = 126 // there was a run, and its output must not be credited to the pins
	exitUnknown     = 127 // whether there was, or still is, a process is unknown
)

// runExit is the exit code of what came of a job: the program's own, or 128 and
// the number of the signal that ended it, only where its output may be credited.
func runExit(result *client.Result, err error) int {
	switch {
	case err != nil && client.StartedNothing(err):
		return exitNoRun
	case err != nil:
		return exitUnknown
	case result.NotStarted != nil:
		return exitNoRun
	case result.Observed == nil || result.Observed.Process.Exit == nil:
		return exitUnknown
	case !result.Attributable():
		return exitNotCredited
	}
	exit := result.Observed.Process.Exit
	if exit.Code != nil {
		return *exit.Code
	}
	if exit.Signal == nil {
		return exitUnknown
	}
	return signalExit(*exit.Signal)
}

// signalExit is what a shell makes of a signal. A real-time signal has no name
// of its own in results: it is SIG and its number.
func signalExit(name string) int {
	if number := unix.SignalNum(name); number != 0 {
		return 128 + int(number)
	}
	if number, err := strconv.Atoi(strings.TrimPrefix(name, "SIG")); err == nil && number > 0 && number < 128 {
		return 128 + number
	}
	return exitUnknown
}
