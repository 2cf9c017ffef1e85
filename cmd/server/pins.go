package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"confined/client"
)

// exitCannotTell ends `confined pins` when there are no pins to print or to
// compare with: 1 means that they differ.
const exitCannotTell = 125

// pinsCommand is `confined pins`: it prints a lock file, or compares one with
// what the daemon says now.
func pinsCommand(args []string, in surroundings) error {
	var c clientFlags
	var with string
	fs := newFlagSet("pins")
	c.flags(fs)
	fs.StringVar(&with, "diff", "", "lock file to compare with what the daemon says now")
	fs.BoolVar(&c.json, "json", false, "with --diff: print JSON")
	err := parse(fs, args, in)
	if err == nil {
		err = c.complete(in)
	}
	if err != nil {
		return err
	}
	if with == "" {
		now, err := currentPins(c.socket)
		if err != nil {
			return exitError{exitCannotTell, err}
		}
		return now.write(in.stdout)
	}
	was, err := readLock(with)
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	now, err := currentPins(c.socket)
	if err != nil {
		return exitError{exitCannotTell, err}
	}
	return tellDiff(in.stdout, was, now, c.json)
}

// currentPins asks the daemon.
func currentPins(socket string) (lock, error) {
	daemon := client.New(socket)
	rt, err := daemon.Runtime(context.Background())
	if err != nil {
		return lock{}, errors.New(refusalText(err))
	}
	profile, err := daemon.Profile(context.Background())
	if err != nil {
		return lock{}, errors.New(refusalText(err))
	}
	return newLock(*rt, *profile), nil
}

// pinsReport is the answer of `pins --diff --json`.
type pinsReport struct {
	Same    bool     `json:"same"` // a request with the pins of the file would not be refused for them
	Changes []change `json:"changes"`
}

// tellDiff prints what has changed, and ends with 1 where a pin has.
func tellDiff(to io.Writer, was, now lock, asJSON bool) error {
	r := pinsReport{Same: was.pins() == now.pins(), Changes: append([]change{}, diffPins(was, now)...)}
	var err error
	if asJSON {
		err = writeIndented(to, r)
	} else {
		_, err = io.WriteString(to, r.text(now))
	}
	switch {
	case err != nil:
		return exitError{exitCannotTell, err}
	case !r.Same:
		return errSaid
	}
	return nil
}

func (r pinsReport) text(now lock) string {
	var text string
	for _, c := range r.Changes {
		text += fmt.Sprintf("%s: %s\n", c.Kind, oneLine(c.Text))
	}
	if r.Same {
		return text + fmt.Sprintf("the pins are the same: Node %s, %s\n", now.Runtime.NodeVersion, now.Profile.Name)
	}
	return text + "runs with the pins of this file are refused; if you expected the change, write it anew: confined pins > FILE\n"
}
