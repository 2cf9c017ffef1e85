package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"confined/client"
	"confined/client/api"
)

// slotsCommand is `confined slots`: what is in the root, or with `release` the
// removal of one slot.
func slotsCommand(args []string, in surroundings) error {
	if len(args) > 0 && args[0] == "release" {
		return releaseCommand(args[1:], in)
	}
	var c clientFlags
	fs := newFlagSet("slots")
	c.flags(fs)
	fs.BoolVar(&c.json, "json", false, "print the answer of GET /v1/slots")
	err := parse(fs, args, in)
	if err == nil {
		err = c.complete(in)
	}
	if err != nil {
		return err
	}
	slots, err := client.New(c.socket).Slots(context.Background())
	if err != nil {
		return errors.New(refusalText(err))
	}
	if c.json {
		return printAnswer(in.stdout, slots.Raw)
	}
	return tabulate(in.stdout, &slots.Slots)
}

// printAnswer writes an answer as it came, but indented.
func printAnswer(to io.Writer, text []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "%s\n", &out)
	return err
}

// tabulate writes one line for each entry of the root. What does not apply is -.
func tabulate(to io.Writer, s *api.Slots) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATE\tRUN\tSINCE\tREASON")
	for _, one := range s.Slots {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", oneLine(one.Name), one.State, orDash(one.RunID), since(one.SinceAt), why(one))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "%d of %d free in %s\n", s.Free, s.MaxRetained, s.Root)
	return err
}

func orDash(text *string) string {
	if text == nil || *text == "" {
		return "-"
	}
	return oneLine(*text)
}

func since(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.Local().Format(time.DateTime)
}

// why is the reason and the message of a slot, as far as it has them.
func why(s api.Slot) string {
	switch {
	case s.Reason == nil:
		return orDash(s.Message)
	case s.Message == nil:
		return string(*s.Reason)
	}
	return string(*s.Reason) + ": " + oneLine(*s.Message)
}
