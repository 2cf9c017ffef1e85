package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"confined/client"
	"confined/client/api"
)

// releaseCommand is `confined slots release`: it shows what is in a slot, and
// has exactly that removed once somebody says yes.
func releaseCommand(args []string, in surroundings) error {
	var c clientFlags
	var yes bool
	fs := newFlagSet("slots release")
	c.flags(fs)
	fs.BoolVar(&yes, "yes", false, "do not ask")
	operands, rest, err := parseOperands(fs, args, in)
	if operands = append(operands, rest...); err == nil && len(operands) != 1 {
		err = usageError{errors.New("name one slot, as in slot-0; `confined slots` lists them")}
	}
	if err == nil {
		err = c.complete(in)
	}
	if err != nil {
		return err
	}
	return releaseSlot(client.New(c.socket), operands[0], yes, in)
}

func releaseSlot(daemon *client.Client, name string, yes bool, in surroundings) error {
	ctx := context.Background()
	detail, etag, err := daemon.Slot(ctx, name)
	if err != nil {
		return errors.New(refusalText(err))
	}
	fmt.Fprint(in.stdout, contents(detail))
	if !yes {
		if !isTerminal(in.stdin) {
			return usageError{errors.New("nothing was removed: say --yes, or let yourself be asked on a terminal")}
		}
		if !confirmed(in, name) {
			fmt.Fprintln(in.stdout, "nothing was removed")
			return errSaid
		}
	}
	became, err := daemon.ReleaseSlot(ctx, name, etag)
	if err != nil {
		return errors.New(releaseRefusal(name, err))
	}
	text, removed := releaseText(name, *became)
	fmt.Fprintln(in.stdout, text)
	if !removed {
		return errSaid
	}
	return nil
}

// contents says what a release would remove, and who uses it.
func contents(d *api.SlotDetail) string {
	var files, directories, others int
	var bytes int64
	for _, e := range d.Entries {
		bytes += e.Size
		switch e.Kind {
		case api.SlotEntryKindFile:
			files++
		case api.SlotEntryKindDirectory:
			directories++
		default:
			others++
		}
	}
	text := oneLine(d.Slot.Name) + ": " + string(d.Slot.State)
	for _, said := range []struct{ name, value string }{
		{"since ", since(d.Slot.SinceAt)}, {"run ", orDash(d.Slot.RunID)}, {"", why(d.Slot)},
	} {
		if said.value != "-" {
			text += ", " + said.name + said.value
		}
	}
	text += fmt.Sprintf("\nfiles %d, directories %d, bytes %d", files, directories, bytes)
	if others > 0 {
		text += fmt.Sprintf(", entries that no run makes %d", others)
	}
	if len(d.Users) > 0 {
		text += fmt.Sprintf("; in use by the processes %s", strings.Trim(fmt.Sprint(d.Users), "[]"))
	}
	return text + "\n"
}

func confirmed(in surroundings, name string) bool {
	fmt.Fprintf(in.stdout, "Remove %s? [y/N] ", name)
	said, _ := bufio.NewReader(in.stdin).ReadString('\n')
	said = strings.ToLower(strings.TrimSpace(said))
	return said == "y" || said == "yes"
}

// releaseText is what became of a slot, and whether it is free now.
func releaseText(name string, n api.Namespace) (string, bool) {
	if r, err := n.AsRemoved(); err == nil && r.State == api.RemovedStateRemoved {
		text := name + " is removed"
		if !r.Durable {
			text += ", though a crash of this machine could bring it back: the root could not be synced"
		}
		return text, true
	}
	q, err := n.AsQuarantined()
	if err != nil {
		return "the daemon's answer is not understood; `confined slots` says what is there", false
	}
	return oneLine(fmt.Sprintf("%s is kept, what is left of it: %s (%s: %s)", name, q.Path, q.Reason, q.Message)), false
}

// releaseRefusal adds to a refusal what can be done.
func releaseRefusal(name string, err error) string {
	text := refusalText(err)
	var problem *client.ProblemError
	if !errors.As(err, &problem) {
		return text + "; `confined slots` says what became of " + name
	}
	switch problem.Problem.Code {
	case api.ProblemCodeSlotChanged:
		return text + "; nothing was removed: look at it again"
	case api.ProblemCodeSlotBusy:
		return text + "; nothing was removed"
	}
	return text
}
