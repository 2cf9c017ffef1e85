package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Exit codes. A daemon that drained and a host that is able are both success.
const (
	exitOK    = 0
	exitNo    = 1 // it could not be done, or the host is not able
	exitUsage = 2 // the command line or the environment is wrong
)

// surroundings are what a command may use of the process it runs in.
type surroundings struct {
	stdout, stderr io.Writer
	lookupEnv      func(string) (string, bool)
}

const usage = `confined runs one bounded Node.js program against read-only snapshots, behind a kernel boundary.

  confined serve     run the daemon on its Unix socket
  confined doctor    is this host able, what is missing, and the cure
  confined version   which build this is

"confined <command> -help" lists its flags; each is also a variable, --max-retained as CONFINED_MAX_RETAINED.
`

// usageError is a mistake in the command line or the environment.
type usageError struct{ error }

// run carries out one command line and returns the exit code.
func run(args []string, in surroundings) int {
	commands := map[string]func([]string, surroundings) error{
		"serve": serve, "doctor": doctor, "version": version,
	}
	if len(args) == 0 {
		fmt.Fprint(in.stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(in.stdout, usage)
		return exitOK
	case "--version", "-version":
		args = []string{"version"}
	}
	command, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(in.stderr, "confined: there is no command %q; the commands are serve, doctor and version\n", args[0])
		return exitUsage
	}
	return exitCode(args[0], command(args[1:], in), in.stderr)
}

// exitCode says on stderr, in one line, what went wrong.
func exitCode(command string, err error, stderr io.Writer) int {
	var mistake usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errNotAble): // doctor has said it all
		return exitNo
	case errors.As(err, &mistake):
		fmt.Fprintf(stderr, "confined %s: %v\n", command, err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "confined %s: %v\n", command, err)
	return exitNo
}
