package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"confined/client"
)

// runOptions are the command line of `confined run`.
type runOptions struct {
	clientFlags
	program      string // a directory, or - for stdin
	input, entry string
	args         []string
	exclude      globs
	id, pins     string
	bounds       client.Bounds
	printRequest bool
	raw          bool
}

// fromStdin is the program that is read from stdin.
const fromStdin = "-"

func (o *runOptions) flags(fs *flag.FlagSet) {
	o.clientFlags.flags(fs)
	fs.StringVar(&o.input, "input", "", "directory that the program finds as its working directory, read-only (default empty)")
	fs.StringVar(&o.entry, "entry", "", "the program's file that Node is to run (default the only main.*, else index.*, of mjs cjs js mts cts ts)")
	fs.Var(&o.exclude, "exclude", "leave out of program and input what this glob matches, as in *.log or docs/draft.md; may be repeated")
	fs.StringVar(&o.id, "id", "", "id of the run, which this daemon takes once (default a new one)")
	fs.StringVar(&o.pins, "pins", "", "lock file of `confined pins` that says which runtime and profile to run with (default what the daemon has now)")
	o.bounds = client.DefaultBounds()
	fs.Func("timeout", fmt.Sprintf("wall time, as in 30s or 500ms (default %s)", time.Duration(o.bounds.TimeoutMs)*time.Millisecond), o.setTimeout)
	fs.Int64Var(&o.bounds.CPUSeconds, "cpu-seconds", o.bounds.CPUSeconds, "CPU time, in seconds")
	output := byteSize(o.bounds.MaxOutputBytes)
	fs.Func("max-output", fmt.Sprintf("how much of stdout and stderr together is kept, as in 64KiB (default %s)", &output), o.setMaxOutput)
	fs.Int64Var(&o.bounds.MaxDescriptors, "max-descriptors", o.bounds.MaxDescriptors, "open descriptors")
	fs.BoolVar(&o.json, "json", false, "print the result itself, as the daemon froze it, in place of the program's output")
	fs.BoolVar(&o.raw, "raw", false, "let control characters through to a terminal")
	fs.BoolVar(&o.printRequest, "print-request", false, "run nothing: print the request, and the curl line that sends it")
}

// setTimeout takes what the contract can say; whether it is too long is for the
// daemon to judge.
func (o *runOptions) setTimeout(value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d%time.Millisecond != 0 {
		return errors.New("want whole milliseconds with a unit, as in 30s or 500ms")
	}
	o.bounds.TimeoutMs = d.Milliseconds()
	return nil
}

func (o *runOptions) setMaxOutput(value string) (err error) {
	o.bounds.MaxOutputBytes, err = parseSize(value)
	return err
}

// parseRun reads the command line. Nothing is looked at yet.
func parseRun(args []string, in surroundings) (runOptions, error) {
	var o runOptions
	fs := newFlagSet("run")
	o.flags(fs)
	operands, rest, err := parseOperands(fs, args, in)
	switch {
	case err != nil:
		return o, err
	case len(operands) == 0:
		return o, usageError{errors.New("name the program's directory, or - to read one file from stdin, before any `--`")}
	case len(operands) > 1:
		return o, usageError{fmt.Errorf("unexpected argument %q: arguments of the program follow a `--`", operands[1])}
	}
	o.program, o.args = operands[0], rest
	if i := slices.IndexFunc(rest, func(arg string) bool { return !utf8.ValidString(arg) }); i >= 0 {
		return o, usageError{fmt.Errorf("argument %d of the program is not UTF-8, and a request can hold no other", i+1)}
	}
	return o, o.complete(in)
}
