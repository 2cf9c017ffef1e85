package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"confined/internal/confine"
	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
	"confined/internal/prove"
)

// proveFlags are those of `confined prove`; its config is what serve is given
// too.
type proveFlags struct {
	config
	ifNeeded bool
}

// proveCommand is `confined prove`: the whole boundary suite, once, and a
// receipt where it passed.
func proveCommand(args []string, in surroundings) error {
	p, err := parseProve(args, in)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away must not end the suite in the middle
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := p.prepare(); err != nil {
		return err
	}
	if p.ifNeeded {
		proof, err := p.needless(ctx, in)
		if err != nil {
			return unproven(ctx, err)
		}
		if proof.Kind != "" {
			return p.tellNeedless(in, proof)
		}
	}
	if err := mayKeepReceipts(p.config); err != nil {
		return err
	}
	show := newProgress(in.stderr)
	receipt, err := prove.Run(ctx, prove.Options{Node: p.node, State: p.state, Progress: show.tell})
	show.end()
	if err != nil {
		return unproven(ctx, err)
	}
	return p.conclude(in, receipt)
}

func parseProve(args []string, in surroundings) (p proveFlags, err error) {
	fs := newFlagSet("prove")
	p.proofFlags(fs)
	fs.BoolVar(&p.ifNeeded, "if-needed", false, "do nothing where serve with the same --node, --state and --require-receipt would admit this Node")
	fs.BoolVar(&p.json, "json", false, "print JSON")
	if err := parse(fs, args, in); err != nil {
		return p, err
	}
	if err := wholePlace(in, "state", &p.state, "--state"); err != nil {
		return p, err
	}
	return p, p.findNode()
}

// prepare establishes that this host may have the boundary and that the suite
// can make its roots in the state directory, which it makes as serve does, and
// takes away again where it is not fit.
func (p proveFlags) prepare() (err error) {
	if problem := confine.Here().HostProblem(); problem != nil {
		return problem
	}
	made := missingDirs(p.state)
	defer func() {
		for _, dir := range made {
			if err != nil {
				_ = os.Remove(dir) // one that is not empty is in use by now
			}
		}
	}()
	if err := makePlace(p.state); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	trial := config{root: filepath.Join(p.state, "roots", "root"), state: p.state, maxRetained: 1}
	err = judgePlaceOfRoot(trial)
	var misplaced *ns.MisplacedError
	if !errors.As(err, &misplaced) {
		return err
	}
	cure := "give --state a directory of its own that can hold roots, here and to serve"
	if root, found := fitRoot(trial); found {
		cure += ", as in --state " + filepath.Join(filepath.Dir(root), ours("confined-state"))
	}
	return &unfitError{"--state: the suite makes its roots in it, and none is fit there: " + misplaced.Problem, cure}
}

// missingDirs are dir and those above it that do not exist, the deepest first.
func missingDirs(dir string) []string {
	var all []string
	for ; missing(dir); dir = filepath.Dir(dir) {
		all = append(all, dir)
	}
	return all
}

// mayKeepReceipts establishes, before the suite takes its time, that a receipt
// would be looked at where it is to be written.
func mayKeepReceipts(c config) error {
	if _, err := newProofs(c).Survey(pins.Runtime{}); err != nil {
		return &unfitError{err.Error(), cureReceipts(c)}
	}
	return nil
}

// needless is the proof by which serve, told the same, would admit this Node
// now. Where it would refuse it for want of one, the proof is zero, and why is
// said on stderr.
func (p proveFlags) needless(ctx context.Context, in surroundings) (pins.Proof, error) {
	description, err := describeNode(ctx, p.config, p.state, newProofs(p.config))
	var missing *exec.UnprovenError
	if errors.As(err, &missing) {
		fmt.Fprintf(in.stderr, "confined prove: needed: %s\n", oneLine(missing.Why))
		return pins.Proof{}, nil
	}
	return description.Proof, err
}

// conclude keeps the receipt of a suite that passed, prints what came of it, and
// is success only for one that passed and is kept.
func (p proveFlags) conclude(in surroundings, r pins.Receipt) error {
	done, err := newProved(r)
	if err != nil {
		return err
	}
	var failed error
	if done.Verdict == provePassed {
		done.File, done.Digest, failed = pins.WriteReceipt(receiptsDir(p.config), r)
	}
	if p.json {
		err = writeIndented(in.stdout, done)
	} else {
		err = done.print(in.stdout, p.node)
	}
	switch {
	case failed != nil:
		return failed
	case err != nil && done.File != "":
		return fmt.Errorf("the suite passed and %s is written, but it could not be told on stdout: %w", done.File, err)
	case err != nil:
		return err
	case done.Verdict != provePassed:
		return errSaid
	}
	return nil
}

// tellNeedless ends a command that had nothing to do.
func (p proveFlags) tellNeedless(in surroundings, proof pins.Proof) error {
	if p.json {
		return writeIndented(in.stdout, proved{Verdict: proveNotNeeded, File: proof.File, Digest: proof.Receipt})
	}
	_, err := fmt.Fprintf(in.stdout, "not needed: the boundary is proven with %s (%s)\n", oneLine(p.node), oneLine(provenBy(proof)))
	return err
}

// unproven words why there was no verdict.
func unproven(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	var left *prove.LeftError
	if errors.As(err, &left) {
		return fmt.Errorf("interrupted: nothing was proven and no receipt was written, but %w", left)
	}
	return errors.New("interrupted: nothing was proven, no receipt was written, and nothing is left")
}
