package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"confined/internal/confine"
	"confined/internal/pins"
)

// versionRun are the bounds under which Node is asked for its version.
var versionRun = Bounds{TimeoutMs: 30_000, MaxOutputBytes: 4096, CPUSeconds: 10, MaxDescriptors: 64}

// versions learns what version a Node binary says it is, by running
// `node --version` inside the boundary, once for each digest of the binary.
// That run is also what shows that this host can have the boundary at all.
type versions struct {
	boundary confine.Boundary
	state    string // directory for the scratch namespace

	turn  chan struct{} // holds one while somebody looks at what follows, or asks Node
	known map[string]string
	last  explanation
}

// explanation is what the boundary said of one ending of one Node.
type explanation struct {
	node    string // its digest
	ending  confine.Ending
	problem *HostError
	at      time.Time
}

// explainAgain is how long an explanation holds for the same ending of the same
// Node. On macOS it can take a search of many processes; that Node ends so is
// seen anew each time.
const explainAgain = time.Minute

func newVersions(boundary confine.Boundary, state string) versions {
	return versions{boundary: boundary, state: state, turn: make(chan struct{}, 1), known: map[string]string{}}
}

func (v *versions) of(ctx context.Context, taken takenRuntime) (string, error) {
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	digest := taken.NodeSHA256()
	if version, ok := v.known[digest]; ok {
		return version, nil
	}
	version, err := v.ask(ctx, taken)
	if err != nil {
		return "", err
	}
	v.known[digest] = version
	return version, nil
}

func (v *versions) ask(ctx context.Context, taken takenRuntime) (string, error) {
	scratch, err := makeScratch(v.state, v.boundary)
	if err != nil {
		return "", &HostError{
			Problem: fmt.Sprintf("the confined `node --version` has no place to run in: %v", err),
			Cure:    "make " + v.state + " a directory with room that this user can write to"}
	}
	defer scratch.Remove()
	instance, err := v.boundary.Instantiate(scratch.job(taken))
	if err != nil {
		return "", notInstantiated(taken.Node, err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := startStopwatch()
	process, err := confine.Launch(instance)
	var refused *HostError
	switch {
	case errors.As(err, &refused):
		return "", refused
	case err != nil:
		return "", &HostError{Problem: fmt.Sprintf("the launch stage cannot be started: %v", err), Cure: v.cureStart(err)}
	}
	clock.spawned()
	got := collect(ctx, process, versionRun, clock, collectHooks{admitted: func() {}, printed: func(Stream, Output, int) {}})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	version, err := readVersion(taken.Node, got, func(e confine.Ending) *HostError {
		return v.explain(ctx, taken.NodeSHA256(), instance, e)
	})
	if err != nil && ctx.Err() != nil {
		return "", ctx.Err()
	}
	return version, err
}

// cureStart is for a launch that could not be started.
func (v *versions) cureStart(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return confine.CureDescriptors()
	}
	return v.boundary.RefusalCure()
}

// explain asks the boundary, unless it has just said: on macOS it may take long,
// and elsewhere its cure may be as old as explainAgain. What it says when ctx
// ended is not all it would.
func (v *versions) explain(ctx context.Context, node string, instance confine.Instance, e confine.Ending) *HostError {
	if v.last.node == node && v.last.ending == e && time.Since(v.last.at) < explainAgain {
		return v.last.problem
	}
	problem := v.boundary.Explain(ctx, instance, e)
	if ctx.Err() == nil {
		v.last = explanation{node, e, problem, time.Now()}
	}
	return problem
}

// notInstantiated passes on the boundary's own cure, where it knows one.
func notInstantiated(node string, err error) error {
	var unfit *confine.UnfitError
	if errors.As(err, &unfit) {
		return &pins.UnavailableError{Path: node, Problem: "can have no profile: " + unfit.Problem, Cure: unfit.Cure}
	}
	return &pins.UnavailableError{Path: node, Problem: fmt.Sprintf("can have no profile (%v)", err),
		Cure: "report this; meanwhile another Node by --node, or another --state, may do"}
}

// forBoundary is how the process ended, as a boundary explains it.
func (f ProcessFacts) forBoundary() confine.Ending {
	e := confine.Ending{Code: -1, Stderr: string(f.Stderr.Bytes())}
	if f.Stopped != "" || f.Exit == nil {
		e.TimedOutSilent = f.Stopped == StopTimeout && f.Limits != nil && f.OutputBytes == 0
		return e
	}
	if f.Exit.Code != nil {
		e.Code = *f.Exit.Code
	}
	if f.Exit.Signal != nil {
		e.Signal = *f.Exit.Signal
	}
	return e
}

// readVersion tells a host that cannot have the boundary, as far as explain
// knows, from a file that is not Node.
func readVersion(node string, got collected, explain func(confine.Ending) *HostError) (string, error) {
	f := got.facts
	said := fmt.Sprintf("the confined `node --version` %s and printed %.300q, %.300q", f.ending(), f.Stdout.Bytes(), f.Stderr.Bytes())
	switch {
	case f.Limits != nil && *f.Limits != versionRun.asked(): // also when it ended before it could be stopped for that
		return "", &HostError{
			Problem: fmt.Sprintf("the daemon's own hard limits leave a run %s, and the confined `node --version` needs %s", f.Limits, versionRun.asked()),
			Cure:    "raise them where the daemon is started (" + confine.HardLimitSettings(runtime.GOOS, "tn") + ")"}
	case got.lost != nil: // the exit may be that of a process that was killed for it
		return "", &HostError{Problem: fmt.Sprintf("%s, and could not be read or watched: %v", said, got.lost), Cure: "try again when the host is less busy"}
	case f.Stopped == StopTimeout || f.Exit == nil:
		if problem := explain(f.forBoundary()); problem != nil {
			return "", problem
		}
		if f.Limits == nil {
			said += ", before its launch had reported its limits"
		}
		return "", &HostError{Problem: said, Cure: "try again when the host is less busy"}
	}
	version, ok := strings.CutPrefix(strings.TrimSuffix(string(f.Stdout.Bytes()), "\n"), "v")
	if f.Stopped != "" || f.Exit.Code == nil || *f.Exit.Code != 0 || !ok || !pins.IsVersion(version) {
		if problem := explain(f.forBoundary()); problem != nil {
			return "", problem
		}
		return "", &pins.UnavailableError{Path: node, Problem: "is no Node that runs here: " + said, Cure: "point --node at the official node binary itself"}
	}
	return version, nil
}

// ending says for people how a process ended.
func (f ProcessFacts) ending() string {
	switch {
	case f.Stopped != "":
		return "was stopped (" + string(f.Stopped) + ")"
	case f.Exit == nil:
		return "was not seen to end"
	case f.Exit.Signal != nil:
		return "was ended by " + *f.Exit.Signal
	}
	return fmt.Sprintf("ended with exit code %d", *f.Exit.Code)
}

// scratch is a namespace of nothing, for the version run: it lives outside the
// root, holds no snapshot, and nothing confined can write to it.
type scratch struct {
	*HeldDir
	program, input, canary pins.Source
}

const scratchPrefix = "version-run-"

// makeScratch also removes what killed daemons left in state.
func makeScratch(state string, boundary confine.Boundary) (*scratch, error) {
	held, err := MakeHeldDir(state, scratchPrefix, nil)
	if err != nil {
		return nil, err
	}
	s := &scratch{HeldDir: held}
	if err := s.fill(boundary.Owner(scratchSlot)); err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// scratchSlot is the slot number whose uid the version run gets, one above
// those of the largest root.
const scratchSlot = 64

func (s *scratch) fill(uid, gid int) error {
	for _, d := range []string{"program", "input", "home"} {
		if err := os.Mkdir(s.path(d), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(s.path("canary"), []byte("canary\n"), 0o400); err != nil {
		return err
	}
	for _, name := range []string{"program", "input", "home", "canary", ""} {
		if err := os.Lchown(s.path(name), uid, gid); err != nil {
			return err
		}
	}
	return s.take()
}

// take notes which inodes the stage is to find.
func (s *scratch) take() (err error) {
	for name, to := range map[string]*pins.Source{"program": &s.program, "input": &s.input, "canary": &s.canary} {
		if *to, err = pins.TakeSource(s.path(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scratch) path(name string) string { return filepath.Join(s.Path, name) }

func (s *scratch) job(taken takenRuntime) confine.Job {
	return confine.Job{
		Runtime: taken.Closure, Image: taken.image(), Version: true, Slot: scratchSlot,
		Program: s.program, Input: s.input, Canary: s.canary, Home: s.path("home"),
		Limits: confine.Limits{CPUSeconds: int(versionRun.CPUSeconds), Descriptors: int(versionRun.MaxDescriptors)},
	}
}
