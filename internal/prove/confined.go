package prove

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"confined/internal/confine"
	"confined/internal/exec"
	"confined/internal/ns"
)

// bounds are those of every confined run of the suite.
var bounds = exec.Bounds{TimeoutMs: 300_000, MaxOutputBytes: 8 << 20, CPUSeconds: 60, MaxDescriptors: 128}

// confined starts a confined run and observes it. The run ends, at the latest, when undo is called.
func (c *subject) confined(ctx context.Context, id string, program, input files, undo *cleanup, args ...string) (*trial, error) {
	request, err := c.request(id, program, input, args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := newTrial()
	go func() {
		defer close(p.over)
		result, _ := c.executor.Run(ctx, request, p.trace())
		p.settle(result)
	}()
	undo.later(func() {
		cancel()
		<-p.over
	})
	return p, nil
}

func (c *subject) request(id string, program, input files, args []string) (exec.Request, error) {
	spec := exec.Spec{RunID: id, Runtime: c.runtime.Digest, Profile: confine.Here().Profile().Digest, Entry: entry, Args: args, Bounds: bounds}
	var err error
	if spec.Program, err = program.snapshot(); err != nil {
		return exec.Request{}, err
	}
	if spec.Input, err = input.snapshot(); err != nil {
		return exec.Request{}, err
	}
	spec.ProgramDigest, spec.InputDigest = spec.Program.Digest(), spec.Input.Digest()
	request, faults := exec.NewRequest(spec, c.executor.MaxDescriptors())
	if len(faults) > 0 {
		return exec.Request{}, fmt.Errorf("a run of the suite: %s: %s", faults[0].Pointer, faults[0].Detail)
	}
	return request, nil
}

// trace observes the run of p.
func (p *trial) trace() *exec.Trace {
	return &exec.Trace{
		Launched: func(i exec.LaunchedInfo) {
			p.process, _ = os.FindProcess(i.PID) // it is not reaped yet: the handle is on it and nothing else
			close(p.started)
		},
		Output: func(i exec.OutputInfo) {
			if i.Stream == exec.Stdout {
				p.printed(i.Kept.Bytes())
			}
		},
	}
}

// settle takes in what the executor makes of the run, and what of that is not as it must be.
func (p *trial) settle(result exec.Result) {
	switch r := result.(type) {
	case exec.NotStarted:
		p.ending = fmt.Sprintf("it was not started: %s: %s", r.Reason, r.Message)
	case exec.Unresolved:
		p.output, p.ending = r.Process.Stdout.Bytes(), "it is unresolved: "+said(r.Problems, r.Process)
	case exec.Observed:
		p.output = r.Process.Stdout.Bytes()
		p.observed(r)
	}
}

// observed takes in how a run ended that the executor saw end.
func (p *trial) observed(r exec.Observed) {
	exit, sound := r.Process.Exit, r.Attributable && r.Namespace.State == ns.StateRemoved
	if sound && exit.Signal != nil {
		p.signal = *exit.Signal
	}
	switch {
	case sound && exit.Code != nil && *exit.Code == 0:
	case p.signal == "SIGABRT" && bytes.Contains(r.Process.Stderr.Bytes(), []byte(refusedExec)):
		p.output = append(slices.Clip(p.output), fmt.Sprintf("\n{\"name\":%q,\"code\":\"EPERM\",\"text\":\"Node ended itself\"}\n", becoming)...)
	default:
		p.ending = fmt.Sprintf("its end is not as it must be (slot %s): %s", r.Namespace.State, said(r.Problems, r.Process))
	}
}

// refusedExec is what Node 22 and 24 print, and then abort, where Node 26 throws an error that says the same.
const refusedExec = "process.execve failed with error code EPERM"

// said is how a run ended, for people.
func said(problems []exec.Problem, f exec.ProcessFacts) string {
	var words []string
	for _, p := range problems {
		words = append(words, fmt.Sprintf("%s (%s)", p.Code, p.Message))
	}
	switch {
	case f.Exit == nil:
	case f.Exit.Signal != nil:
		words = append(words, "ended by "+*f.Exit.Signal)
	case f.Exit.Code != nil:
		words = append(words, fmt.Sprintf("exit code %d", *f.Exit.Code))
	}
	if f.Stopped != "" {
		words = append(words, "stopped: "+string(f.Stopped))
	}
	return strings.Join(append(words, fmt.Sprintf("stderr %.500q", f.Stderr.Bytes())), "; ")
}
