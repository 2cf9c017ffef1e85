package main

import (
	"errors"
	"flag"
	"fmt"
)

// parse is parseOperands for a command that takes flags only.
func parse(fs *flag.FlagSet, args []string, in surroundings) error {
	operands, rest, err := parseOperands(fs, args, in)
	if operands = append(operands, rest...); err == nil && len(operands) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q; flags look like --root=/path", operands[0])}
	}
	return err
}

// parseOperands reads args over the environment over the defaults, and returns
// what is no flag: before a "--", where flags may stand between them, and after
// it. Every error is a usageError of one line, except a help that was asked for
// and printed.
func parseOperands(fs *flag.FlagSet, args []string, in surroundings) (operands, rest []string, err error) {
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			printHelp(fs, in.stdout)
			return nil, nil, err
		} else if err != nil {
			return nil, nil, usageError{fmt.Errorf("%w; `confined help %s` lists the flags", err, fs.Name())}
		}
		left := fs.Args()
		if n := len(args) - len(left); len(left) == 0 || n > 0 && args[n-1] == "--" {
			return operands, left, overlay(fs, in.lookupEnv)
		}
		operands, args = append(operands, left[0]), left[1:]
	}
}

// hasVariable says that a flag can be set in the environment: all that set up a
// daemon, and of its clients where the daemon is. What belongs to one call, such
// as an id or a yes, is typed.
func hasVariable(command, name string) bool {
	switch command {
	case "run", "digest", "pins", "slots", "slots release":
		return name == "socket"
	case "prove":
		return name != "if-needed" && name != "json"
	}
	return true
}
