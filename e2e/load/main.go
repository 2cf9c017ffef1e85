// Command load puts a daemon under mixed load at several times its capacity,
// through vegeta, and judges from outside what came of it: every status, every
// accepted run answered, refusals quick, memory flat, and a SIGTERM in the
// middle of the load that leaves nobody without an answer. It is a module of
// its own, so that the generator is no dependency of confined.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "the confined binary")
	flag.StringVar(&o.node, "node", "", "the Node.js binary")
	flag.StringVar(&o.place, "place", "", "an empty private directory on ext4, xfs or btrfs")
	flag.DurationVar(&o.length, "for", 10*time.Minute, "how long the load lasts")
	flag.Float64Var(&o.times, "times", 4, "how many times its capacity for runs the daemon is offered")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, node, place string
	length              time.Duration
	times               float64
}

// run is one line: measure what the daemon can do, offer it several times that
// while watching its memory, then again with a SIGTERM in the middle.
func run(o options) error {
	d, err := start(o, "first")
	if err != nil {
		return err
	}
	defer d.kill()
	kit, err := d.kit()
	if err != nil {
		return err
	}
	offered, capacity, err := d.capacity(kit, min(o.length/10, 20*time.Second))
	if err != nil {
		return err
	}
	rate := o.times * capacity
	fmt.Printf("capacity %.1f runs/s; offering %.1f runs/s in %.1f requests/s for %s\n", capacity, rate, kit.requests(rate), o.length)

	memory := d.watchMemory()
	record := d.attack(kit, rate, o.length, nil)
	flat := memory.stop()
	fmt.Print(record, flat)
	steady := errors.Join(record.judge(), record.answered(d, offered), flat.judge())
	if err := d.terminate(); err != nil {
		return errors.Join(steady, err)
	}

	e, err := start(o, "second")
	if err != nil {
		return errors.Join(steady, err)
	}
	defer e.kill()
	cut := min(o.length/4, 30*time.Second)
	fmt.Printf("the same, with SIGTERM after %s of %s\n", cut/2, cut)
	after := e.attack(kit, rate, cut, e.terminateAfter(cut/2))
	fmt.Print(after)
	return errors.Join(steady, e.ended(), after.judgeCut(), after.answered(e, nil))
}
