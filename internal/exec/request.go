package exec

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"confined/internal/pins"
)

// The bounds of a request, as the contract states them.
const (
	MinTimeoutMs, MaxTimeoutMs     = 1, 600_000
	MinOutputBytes, MaxOutputBytes = 0, 16 << 20
	MinCPUSeconds, MaxCPUSeconds   = 1, 600
	MinDescriptors, MaxDescriptors = 32, 4096
	MaxArgs                        = 64
	MaxArgBytes                    = 4096
	entryEndings                   = ".mjs .cjs .js .mts .cts .ts"
	runIDPattern                   = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
)

var runIDForm = regexp.MustCompile(runIDPattern)

// Bounds are the four limits of one run, as asked for.
type Bounds struct {
	TimeoutMs      int64 // wall time from spawn, milliseconds
	MaxOutputBytes int64 // kept of stdout and stderr together
	CPUSeconds     int64 // RLIMIT_CPU, soft and hard
	MaxDescriptors int64 // RLIMIT_NOFILE, soft and hard
}

// Spec is a run as a caller words it; nothing in it has been judged yet.
type Spec struct {
	RunID         string
	Runtime       pins.Digest // the runtime identity the caller pinned
	Profile       pins.Digest // the profile identity the caller pinned
	Program       pins.Snapshot
	ProgramDigest pins.Digest // what the caller says Program's digest is
	Entry         string      // path of a program file
	Args          []string
	Input         pins.Snapshot
	InputDigest   pins.Digest // what the caller says Input's digest is
	Bounds
}

// Request is a Spec in which no fault was found. Only [NewRequest] makes one;
// nothing in it changes afterwards.
type Request struct{ spec Spec }

// RunID is the id that the result will carry.
func (r Request) RunID() string { return r.spec.RunID }

// Bounds are the four limits asked for.
func (r Request) Bounds() Bounds { return r.spec.Bounds }

// Program is the digest of the program snapshot, equal to what its files hash to.
func (r Request) Program() pins.Digest { return r.spec.ProgramDigest }

// Entry is the program file that Node is started with.
func (r Request) Entry() string { return r.spec.Entry }

// Forget lets go of the content of both snapshots, for when it is on disk: the
// rest of a run needs it no more, and [Executor.Run] cannot be called again.
func (r Request) Forget() {
	r.spec.Program.Forget()
	r.spec.Input.Forget()
}

// FaultCode says what kind of mistake a [Fault] is.
type FaultCode string

// The faults that NewRequest finds. Those of the snapshots themselves are
// pins.FaultCode values, those of the wire form are the transport's.
const (
	FaultOutOfRange     FaultCode = "out-of-range"
	FaultDigestForm     FaultCode = "digest-form"
	FaultDigestMismatch FaultCode = "digest-mismatch"
	FaultEntryMissing   FaultCode = "entry-missing"
	FaultEntryType      FaultCode = "entry-type"
	FaultBadArgument    FaultCode = "bad-argument"
)

// Fault is one mistake in a request: where (RFC 6901, into the request
// document) and what to do about it.
type Fault struct {
	Code    FaultCode
	Pointer string
	Detail  string
}

// NewRequest judges every field of s and returns either the request or all
// faults at once, in the order of the fields. It touches nothing outside s.
// The snapshots' digests are those their files hashed to, so a digest that does
// not match its files is found here, before anything exists. The zero snapshot
// stands for one that pins refused, whose faults the caller has: it is not
// judged again, and a Request with one must not be run. mostDescriptors is the
// host's own bound, [Executor.MaxDescriptors].
func NewRequest(s Spec, mostDescriptors int64) (Request, []Fault) {
	var c checker
	if !runIDForm.MatchString(s.RunID) {
		c.fault(FaultOutOfRange, "/id", "an id is 1 to 64 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit")
	}
	c.digestForm("/runtime", s.Runtime)
	c.digestForm("/profile", s.Profile)
	program, input := tree{"program", s.ProgramDigest, s.Program}, tree{"input", s.InputDigest, s.Input}
	c.snapshot(program, input)
	c.entry(s.Entry, s.Program)
	c.args(s.Args)
	c.snapshot(input, program)
	c.between("/timeoutMs", s.TimeoutMs, MinTimeoutMs, MaxTimeoutMs)
	c.between("/maxOutputBytes", s.MaxOutputBytes, MinOutputBytes, MaxOutputBytes)
	c.between("/cpuSeconds", s.CPUSeconds, MinCPUSeconds, MaxCPUSeconds)
	c.descriptors(s.MaxDescriptors, mostDescriptors)
	if len(c.faults) > 0 {
		return Request{}, c.faults
	}
	s.Args = append([]string(nil), s.Args...)
	return Request{spec: s}, nil
}

type checker struct{ faults []Fault }

func (c *checker) fault(code FaultCode, pointer, format string, args ...any) {
	c.faults = append(c.faults, Fault{Code: code, Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) digestForm(pointer string, d pins.Digest) bool {
	if _, err := pins.ParseDigest(string(d)); err != nil {
		c.fault(FaultDigestForm, pointer, "%v", err)
		return false
	}
	return true
}

// snapshot compares the digest the caller gave with the one the files have. The
// other snapshot is for explaining a difference.
func (c *checker) snapshot(t, other tree) {
	pointer := "/" + t.name + "/digest"
	if c.digestForm(pointer, t.said) && t.arrived.Digest() != "" && t.said != t.arrived.Digest() {
		c.fault(FaultDigestMismatch, pointer, "%s", t.mismatch(other))
	}
}

func (c *checker) entry(entry string, program pins.Snapshot) {
	if program.Digest() != "" && !program.Has(entry) {
		c.fault(FaultEntryMissing, "/program/entry", "%s", noEntry(entry, tree{arrived: program}.paths()))
	}
	if !isEntry(entry) {
		c.fault(FaultEntryType, "/program/entry", "entry %q must end in one of %s", entry, entryEndings)
	}
}

func (c *checker) args(args []string) {
	if len(args) > MaxArgs {
		c.fault(FaultOutOfRange, "/program/args", "%d arguments; at most %d", len(args), MaxArgs)
		return
	}
	for i, a := range args {
		pointer := fmt.Sprintf("/program/args/%d", i)
		switch {
		case len(a) > MaxArgBytes:
			c.fault(FaultBadArgument, pointer, "%d bytes of UTF-8; at most %d", len(a), MaxArgBytes)
		case strings.ContainsRune(a, 0):
			c.fault(FaultBadArgument, pointer, "an argument cannot hold a NUL character")
		case !utf8.ValidString(a):
			c.fault(FaultBadArgument, pointer, "an argument must be valid UTF-8")
		}
	}
}

func (c *checker) descriptors(v, most int64) {
	c.between("/maxDescriptors", v, MinDescriptors, MaxDescriptors)
	if v > most && v <= MaxDescriptors {
		c.fault(FaultOutOfRange, "/maxDescriptors",
			"%d is more than %d, the most on this host: all slots together could use up this user's epoll watches; "+
				"ask for less, or have fs.epoll.max_user_watches raised or --max-retained lowered", v, most)
	}
}

func (c *checker) between(pointer string, v, min, max int64) {
	if v < min || v > max {
		c.fault(FaultOutOfRange, pointer, "%d is not within %d to %d", v, min, max)
	}
}
