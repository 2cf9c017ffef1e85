package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"confined/internal/confine"
	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

// Options say what is proven, and where.
type Options struct {
	Node     string         // absolute path of the Node binary
	State    string         // a private directory on ext4, xfs or btrfs, in which the suite makes its scratch and removes it
	Progress func(Progress) // may be nil; called on the goroutine of Run
}

// Progress is what [Run] tells while it works: a phase begins, or a row is judged.
type Progress struct {
	Phase       string    // what is being done, for people
	Row         *pins.Row // judged just now; nil when the phase begins
	Done, Total int       // rows
}

// Run tries every row of the table on this host with one Node and returns what came of it, whether or not each row is as it must be.
//
// This process plays the daemon: until Run returns it has an environment and an open file that nobody should give a daemon, and counts the
// SIGUSR1 that reach it. Nothing else may start processes meanwhile. Run leaves no file and no process, or says so by a [*LeftError] in its
// error; what a killed process leaves of its Run is said in the package's documentation.
//
// Errors: *exec.HostError when this host cannot have the boundary, *pins.UnavailableError when the Node cannot be identified, ctx's own, or
// something that the suite itself could not do. A row that failed is no error.
func Run(ctx context.Context, o Options) (receipt pins.Receipt, err error) {
	runtime.LockOSThread() // what it starts unconfined ends with this thread
	defer runtime.UnlockOSThread()
	began := time.Now()
	s := &suite{Options: o, total: len(Probes())}
	defer s.undo.now(&err)
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"making room", s.makeRoom},
		{"asking Node for its version, confined", s.meetNode},
		{"compiling what is native", s.compileNative},
		{"becoming a careless daemon", s.becomeDaemon},
		{"starting the run beside", s.startNeighbour},
		{"acting in JavaScript", s.tryJavaScript},
		{"acting natively", s.tryNative},
		{"ending the run beside", s.endNeighbour},
	} {
		s.phase = step.name
		s.tell(nil)
		if err := step.do(ctx); err != nil {
			return pins.Receipt{}, err
		}
	}
	return s.receipt(began), nil
}

// suite is one Run on its way.
type suite struct {
	Options
	undo      cleanup
	scratch   string // private
	pool      *ns.Pool
	node      *subject
	native    *subject // nil when there is no compiler, or nothing native in the table
	compiler  string
	daemon    *daemon
	neighbour *trial
	trouble   string // why nothing can be shown, or empty
	phase     string
	rows      []pins.Row
	total     int
}

// tell tells of a row, or of a phase that begins.
func (s *suite) tell(row *pins.Row) {
	if s.Progress != nil {
		s.Progress(Progress{Phase: s.phase, Row: row, Done: len(s.rows), Total: s.total})
	}
}

// makeRoom makes the scratch directory, and removes what killed suites left.
func (s *suite) makeRoom(context.Context) error {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil {
		return fmt.Errorf("the suite's own limit of open files: %w", err)
	}
	if most.Max < uint64(bounds.MaxDescriptors) {
		return fmt.Errorf("the suite's own hard limit of open files is %d, and its runs need %d; cure: raise it where the suite is started (%s)",
			most.Max, bounds.MaxDescriptors, confine.HardLimitSettings(runtime.GOOS, "n"))
	}
	held, err := exec.MakeHeldDir(s.State, "prove-", clearAbandoned)
	if err != nil {
		return fmt.Errorf("the suite has no place to run in: %w", err)
	}
	s.undo.try(held.Remove)
	s.scratch = held.Path
	if err := os.Mkdir(s.versions(), 0o700); err != nil {
		return fmt.Errorf("the suite has no place to run in: %w", err)
	}
	s.pool, err = ns.NewPool(ns.Config{Root: filepath.Join(s.scratch, "root"), MaxRetained: 4, State: filepath.Join(s.scratch, "state")})
	return err
}

// versions is where executors ask for versions: they lock it, as the scratch itself is locked for as long as the suite lasts.
func (s *suite) versions() string { return filepath.Join(s.scratch, "versions") }

// meetNode identifies the runtime that is to be proven, by a confined `node --version`.
func (s *suite) meetNode(ctx context.Context) (err error) {
	s.node, err = s.newSubject(ctx, JavaScript, s.Node)
	return err
}

// newSubject makes an executor for one binary that plays Node's part, and admits that very runtime.
func (s *suite) newSubject(ctx context.Context, kind Kind, binary string) (*subject, error) {
	executor, err := exec.New(exec.Options{Pool: s.pool, Node: binary, State: s.versions(), Proven: onlyTheFirst()})
	if err != nil {
		return nil, err
	}
	s.undo.later(func() { executor.Close() })
	d, err := executor.DescribeRuntime(ctx)
	if err != nil {
		return nil, err
	}
	return &subject{kind: kind, executor: executor, runtime: d.Runtime, sealed: d.Integrity == exec.IntegritySealed}, nil
}

// onlyTheFirst takes the runtime that it is asked for first for the one under test, and admits no other.
func onlyTheFirst() func(pins.Runtime) (pins.Proof, error) {
	var mu sync.Mutex
	var first pins.Digest
	return func(rt pins.Runtime) (pins.Proof, error) {
		mu.Lock()
		defer mu.Unlock()
		if first == "" {
			first = rt.Digest
		}
		if rt.Digest != first {
			return pins.Proof{}, errors.New("the runtime changed while the suite ran")
		}
		return pins.Proof{}, nil
	}
}

// compileNative builds the native module and the native probe. Without a compiler neither is there, and what needs them stays untried.
func (s *suite) compileNative(ctx context.Context) error {
	addon, probe := filepath.Join(s.scratch, "addon.node"), filepath.Join(s.scratch, "node") // the name that a runtime must have
	_, err := compile(ctx, addon, true, "addon.c")
	if err == nil {
		s.compiler, err = compileProbe(ctx, probe)
	}
	if errors.Is(err, errNoCompiler) {
		return nil
	}
	if err == nil {
		err = os.Chmod(probe, 0o755) // a root daemon's runs have users of their own
	}
	if err != nil {
		return err
	}
	if s.node.addon, err = readText(addon); err != nil {
		return err
	}
	s.native, err = s.newSubject(ctx, Native, probe)
	return err
}

func (s *suite) becomeDaemon(context.Context) (err error) {
	beOrdinary(&s.undo)
	s.daemon, err = newDaemon(s.scratch, &s.undo)
	return err
}

// startNeighbour starts the run beside, in slot-0.
func (s *suite) startNeighbour(ctx context.Context) (err error) {
	program := files{"runner.mjs": source(javaScript, "js/neighbour.mjs"), "cue.mjs": source(javaScript, "js/cue.mjs")}
	s.neighbour, err = s.node.confined(ctx, "held", program, files{"held.txt": s.daemon.secrets["held"]}, &s.undo)
	if err != nil {
		return err
	}
	err = s.neighbour.await(ctx, s.neighbour.ready)
	if errors.Is(err, errOver) {
		s.trouble = "the run beside: " + cmp.Or(s.neighbour.ending, errOver.Error())
		return nil
	}
	return err
}

// endNeighbour lets the run beside end. It must have been well all the time.
func (s *suite) endNeighbour(ctx context.Context) error {
	if s.trouble != "" {
		return nil
	}
	s.neighbour.goOn()
	if err := s.neighbour.await(ctx, s.neighbour.over); err != nil {
		return err
	}
	if s.neighbour.ending != "" {
		return errors.New("the run beside: " + s.neighbour.ending)
	}
	return nil
}

func (s *suite) tryJavaScript(ctx context.Context) error { return s.try(ctx, JavaScript, s.node) }
func (s *suite) tryNative(ctx context.Context) error     { return s.try(ctx, Native, s.native) }

// receipt is what the suite found.
func (s *suite) receipt(began time.Time) pins.Receipt {
	rt := s.node.runtime
	return pins.Receipt{
		Format: pins.ReceiptFormat, StartedAt: began.UTC(), DurationMs: time.Since(began).Milliseconds(),
		Host: pins.HostID(), UID: os.Geteuid(), OS: runtime.GOOS, Arch: runtime.GOARCH, OSBuild: rt.OSBuild(),
		Node: rt.Node, NodeVersion: rt.NodeVersion, NodeSHA256: rt.NodeSHA256(), Runtime: rt.Digest, Closure: rt.ClosureDigest,
		Profile: confine.Here().Profile().Digest, Suite: Suite(), Compiler: s.compiler, Counts: pins.Count(s.rows), Rows: s.rows,
	}
}
