package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
)

// Exit codes. A daemon that drained and a host that is able are both success.
// The codes of `confined run` are in run_exit.go.
const (
	exitOK    = 0
	exitNo    = 1 // it could not be done, or the host is not able
	exitUsage = 2 // the command line or the environment is wrong
)

// surroundings are what a command may use of the process it runs in.
type surroundings struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookupEnv      func(string) (string, bool)
}

const usage = `confined runs one bounded Node.js program against read-only snapshots, behind a kernel boundary.

  confined serve     run the daemon on its Unix socket
  confined run       run a program on it, once, and exit as the program did
  confined digest    the digest of a directory, which a request pins
  confined pins      the identities of runtime and profile, for a lock file; what has changed since
  confined slots     where runs live and what was kept; release what is kept
  confined prove     try the whole boundary with this Node on this host; write a receipt
  confined doctor    is this host able, what is missing, and the cure
  confined version   which build this is

"confined help <command>" lists its flags. Those of serve, doctor and prove are variables too, --max-retained
as CONFINED_MAX_RETAINED; everywhere CONFINED_SOCKET says which daemon is meant.
`

// usageError is a mistake in the command line or the environment.
type usageError struct{ error }

// exitError ends a command with a code of its own. Without an error in it
// everything has been said.
type exitError struct {
	code int
	error
}

func (e exitError) Unwrap() error { return e.error }

// errSaid ends a command that did not do what it is for, and has said why.
var errSaid = exitError{code: exitNo}

// run carries out one command line and returns the exit code.
func run(args []string, in surroundings) int {
	commands := map[string]func([]string, surroundings) error{
		"serve": serve, "run": runProgram, "digest": digest, "pins": pinsCommand, "slots": slotsCommand,
		"prove": proveCommand, "doctor": doctor, "version": version,
	}
	if len(args) == 0 {
		fmt.Fprint(in.stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) == 1 {
			fmt.Fprint(in.stdout, usage)
			return exitOK
		}
		args = append(slices.Clone(args[1:]), "--help")
	case "--version", "-version":
		args = []string{"version"}
	}
	command, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(in.stderr, "confined: there is no command %q; `confined help` lists them\n", args[0])
		return exitUsage
	}
	return exitCode(args[0], command(args[1:], in), in.stderr)
}

// exitCode says on stderr, in one line, what went wrong.
func exitCode(command string, err error, stderr io.Writer) int {
	code := exitNo
	var mistake usageError
	var coded exitError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &coded):
		if coded.error == nil {
			return coded.code
		}
		code, err = coded.code, coded.error
	case errors.As(err, &mistake):
		code = exitUsage
	}
	fmt.Fprintf(stderr, "confined %s: %s\n", command, spell([]byte(err.Error()))) // it may name a path of a stranger's making
	return code
}

// writeIndented writes v as JSON for people and programs alike.
func writeIndented(to io.Writer, v any) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
