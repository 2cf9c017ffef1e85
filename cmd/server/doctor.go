package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

// doctorTime bounds the confined run that doctor does as evidence.
const doctorTime = 2 * time.Minute

// verdict is what doctor thinks of one thing it looked at.
type verdict string

const (
	verdictOK   verdict = "ok"
	verdictNo   verdict = "missing" // without it no run can start
	verdictNote verdict = "note"    // worth knowing, in the way of nothing
)

// finding is one thing doctor looked at. Cure is there when something is to be done.
type finding struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"verdict"`
	Detail  string  `json:"detail"`
	Cure    string  `json:"cure,omitempty"`
}

// report is all that doctor found. Able is true when nothing is missing.
type report struct {
	Able     bool      `json:"able"`
	Findings []finding `json:"findings"`
}

func (r *report) add(f ...finding) { r.Findings = append(r.Findings, f...) }

// doctor looks at everything a run needs and runs Node's version confined, as
// serve would. It changes nothing that is there.
func doctor(args []string, in surroundings) error {
	var c config
	fs := newFlagSet("doctor")
	c.placeFlags(fs)
	fs.BoolVar(&c.json, "json", false, "print JSON")
	if err := parse(fs, args, in); err != nil {
		return err
	}
	if err := c.completePlaces(in); err != nil {
		return err
	}
	r, err := examine(c)
	if err != nil {
		return err
	}
	if c.json {
		err = writeIndented(in.stdout, r)
	} else {
		err = r.print(in.stdout)
	}
	if err == nil && !r.Able {
		err = errSaid
	}
	return err
}

// examine looks at the host, at Node inside the boundary, and at the places.
func examine(c config) (report, error) {
	var r report
	r.add(lookAtHost(c.maxRetained)...)
	found, err := lookAtNode(&c)
	if err != nil {
		return report{}, err
	}
	r.add(found...)
	r.add(lookAtRoot(c), lookAtState(c), lookAtSocket(c))
	r.Able = true
	for _, f := range r.Findings {
		r.Able = r.Able && f.Verdict != verdictNo
	}
	return r, nil
}

// lookAtNode identifies the runtime as a run would: the version comes from Node
// itself, run inside the whole boundary.
func lookAtNode(c *config) ([]finding, error) {
	if err := c.findNode(); err != nil {
		return []finding{unfit("node", err)}, nil
	}
	scratch, err := os.MkdirTemp("", "confined-doctor-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	ctx, cancel := context.WithTimeout(context.Background(), doctorTime)
	defer cancel()
	proofs := newProofs(*c)
	description, err := describeNode(ctx, *c, scratch, proofs)
	rt := description.Runtime
	if unproven, ok := errors.AsType[*exec.UnprovenError](err); ok {
		rt = unproven.Runtime
	}
	return append(judgeNode(*c, description, err), lookAtReceipts(*c, proofs, rt)...), nil
}

// describeNode identifies the runtime, with scratch as the private directory of
// the version run, and says what proves it. Its errors are those of
// exec.Executor.DescribeRuntime.
func describeNode(ctx context.Context, c config, scratch string, proofs *pins.Proofs) (exec.Description, error) {
	// The version run needs no root: its pool is never opened.
	pool, err := ns.NewPool(ns.Config{Root: "/never-opened", MaxRetained: 1, State: scratch})
	if err != nil {
		return exec.Description{}, err
	}
	executor, err := exec.New(exec.Options{Pool: pool, Node: c.node, State: scratch, Proven: proofs.Of})
	if err != nil {
		return exec.Description{}, err
	}
	defer executor.Close()
	return executor.DescribeRuntime(ctx)
}

// judgeNode words what came of the confined version run.
func judgeNode(c config, d exec.Description, err error) []finding {
	const evidence = "confined run"
	var host *exec.HostError
	var unproven *exec.UnprovenError
	var unavailable *pins.UnavailableError
	switch {
	case errors.As(err, &host):
		return []finding{
			{"node", verdictNote, c.node + ", not looked at: the boundary comes first", ""},
			{evidence, verdictNo, host.Problem, host.Cure}}
	case errors.As(err, &unproven):
		return []finding{
			{"node", verdictNo, nodeText(unproven.Runtime) + "; the boundary is not proven with it: " + unproven.Why, pins.CureUnproven(c.node, c.state, unproven.ReceiptsOnly)},
			{evidence, verdictOK, "node --version ran inside the whole boundary", ""}}
	case errors.As(err, &unavailable):
		return []finding{{"node", verdictNo, unavailable.Path + " " + unavailable.Problem, unavailable.Cure}}
	case err != nil:
		return []finding{{"node", verdictNo, err.Error(), "see the message; run doctor again"}}
	}
	return []finding{
		{"node", verdictOK, nodeText(d.Runtime) + "; proven (" + provenBy(d.Proof) + ")", ""},
		{evidence, verdictOK, "node --version ran inside the whole boundary", ""},
		judgeIntegrity(d, wordsOf(runtime.GOOS))}
}

// judgeIntegrity says whether runs execute a sealed copy of Node, and what that
// takes.
func judgeIntegrity(d exec.Description, words hostWords) finding {
	if why := d.Unsealable; why != nil && !words.seals {
		return finding{"integrity", verdictNote, string(d.Integrity) + ": Node is hashed before and after each run, since no copy of it can be kept from change on this system", ""}
	}
	if why := d.Unsealable; why != nil {
		return finding{"integrity", verdictNote,
			string(d.Integrity) + ": Node is hashed before and after each run, which costs more than most runs, because no sealed copy of it can be had: " + why.Problem, why.Cure}
	}
	return finding{"integrity", verdictOK, fmt.Sprintf(
		"%s: runs execute a copy of Node that nobody can change, which takes %d MiB of memory while the daemon lives: shared memory of the host and of the daemon's cgroup, no part of its resident set", d.Integrity, (d.Runtime.NodeSize()+1<<20-1)>>20), ""}
}
