package exec

import (
	"fmt"
	"time"

	"confined/internal/ns"
	"confined/internal/pins"
)

// Status tells the three kinds of result apart.
type Status string

const (
	StatusNotStarted Status = "not-started" // no process existed
	StatusObserved   Status = "observed"    // reaped, and its pipes closed
	StatusUnresolved Status = "unresolved"  // unknown: treat its resources as live
)

// Result is what one run came to: a [NotStarted], an [Observed] or an
// [Unresolved]. It is handed out by value once and never revised.
type Result interface {
	Status() Status
	ID() string
	sealed()
}

// NotStarted says that no process existed, and why.
type NotStarted struct {
	RunID     string
	Reason    Reason
	Message   string
	Namespace *ns.Disposition // nil when none was created
}

// Observed says that the process was reaped and its pipes closed.
// Attributable is true exactly when Problems is empty.
type Observed struct {
	RunID        string
	Attributable bool
	Problems     []Problem
	Identities   Identities
	Process      ProcessFacts
	Namespace    ns.Disposition
}

// Unresolved says that the process was not seen gone, or that its pipes stayed
// open. It is unknown, not failed. The namespace is always quarantined.
type Unresolved struct {
	RunID      string
	Problems   []Problem
	Identities Identities
	Process    ProcessFacts
	Namespace  ns.Disposition
}

func (NotStarted) Status() Status { return StatusNotStarted }
func (Observed) Status() Status   { return StatusObserved }
func (Unresolved) Status() Status { return StatusUnresolved }
func (r NotStarted) ID() string   { return r.RunID }
func (r Observed) ID() string     { return r.RunID }
func (r Unresolved) ID() string   { return r.RunID }
func (NotStarted) sealed()        {}
func (Observed) sealed()          {}
func (Unresolved) sealed()        {}

// Reason says why nothing was started. The order is that of the decisions.
type Reason string

const (
	ReasonAborted          Reason = "aborted"
	ReasonUnsupportedHost  Reason = "unsupported-host"
	ReasonProfileMismatch  Reason = "profile-mismatch"
	ReasonRuntimeMismatch  Reason = "runtime-mismatch"
	ReasonSetupFailed      Reason = "setup-failed"
	ReasonRetainedLimit    Reason = "retained-limit"
	ReasonSnapshotMismatch Reason = "snapshot-mismatch"
)

// Reasons are all of them.
func Reasons() []Reason {
	return []Reason{ReasonAborted, ReasonUnsupportedHost, ReasonProfileMismatch, ReasonRuntimeMismatch,
		ReasonSetupFailed, ReasonRetainedLimit, ReasonSnapshotMismatch}
}

// ProblemCode names one thing that keeps a result from being attributable.
type ProblemCode string

const (
	ProblemAdmissionAbsent       ProblemCode = "admission-absent"
	ProblemAdmissionRefused      ProblemCode = "admission-refused"
	ProblemAdmissionMalformed    ProblemCode = "admission-malformed"
	ProblemContactLost           ProblemCode = "contact-lost"
	ProblemLimitsMismatch        ProblemCode = "limits-mismatch"
	ProblemNotReaped             ProblemCode = "not-reaped"
	ProblemPipesOpen             ProblemCode = "pipes-open"
	ProblemRuntimeChanged        ProblemCode = "runtime-changed"
	ProblemRuntimeUnverifiable   ProblemCode = "runtime-unverifiable"
	ProblemNamespaceChanged      ProblemCode = "namespace-changed"
	ProblemNamespaceUnverifiable ProblemCode = "namespace-unverifiable"
)

// ProblemCodes are all of them, in the order in which a result lists them.
func ProblemCodes() []ProblemCode {
	return []ProblemCode{ProblemAdmissionAbsent, ProblemAdmissionRefused, ProblemAdmissionMalformed, ProblemContactLost,
		ProblemLimitsMismatch, ProblemNotReaped, ProblemPipesOpen, ProblemRuntimeChanged, ProblemRuntimeUnverifiable,
		ProblemNamespaceChanged, ProblemNamespaceUnverifiable}
}

// Problem is one entry of a result's problems.
type Problem struct {
	Code    ProblemCode
	Message string
}

// Identities are the pins a run was started under, recomputed by the executor.
type Identities struct {
	Program ProgramIdentity
	Input   pins.Digest
	Runtime pins.Digest
	Profile ProfileIdentity
	Bounds  Bounds
}

// ProgramIdentity is the program snapshot and how it was started.
type ProgramIdentity struct {
	Digest pins.Digest
	Entry  string
	Args   []string
}

// ProfileIdentity is the profile, and the digest of the text this run used.
type ProfileIdentity struct {
	Name         string
	Digest       pins.Digest
	Instantiated pins.Digest
}

// Admission is what the control pipe said of the program's start. The program
// has no way to change it.
type Admission string

const (
	AdmissionAdmitted  Admission = "admitted"
	AdmissionRefused   Admission = "refused"
	AdmissionAbsent    Admission = "absent"
	AdmissionMalformed Admission = "malformed"
)

// Admissions are all of them.
func Admissions() []Admission {
	return []Admission{AdmissionAdmitted, AdmissionRefused, AdmissionAbsent, AdmissionMalformed}
}

// StopReason says why the executor asked for the process to end; empty when it
// did not. The first reason wins, and none is recorded after exit.
type StopReason string

const (
	StopTimeout          StopReason = "timeout"
	StopCancelled        StopReason = "cancelled"
	StopOutputLimit      StopReason = "output-limit"
	StopLimitsMismatch   StopReason = "limits-mismatch"
	StopControlMalformed StopReason = "control-malformed"
)

// StopReasons are all of them.
func StopReasons() []StopReason {
	return []StopReason{StopTimeout, StopCancelled, StopOutputLimit, StopLimitsMismatch, StopControlMalformed}
}

// ProcessFacts is what the host saw of the process.
type ProcessFacts struct {
	PID         int // diagnostic only, never a signal target after the run
	Admission   Admission
	Limits      *MeasuredLimits // nil when the eight lines did not arrive
	Exit        *Exit           // nil exactly when the process was not reaped
	PipesClosed bool
	Stopped     StopReason
	KillSent    bool
	Stdout      Output
	Stderr      Output
	OutputBytes int64         // all that arrived; more than asked means it was cut
	Duration    time.Duration // from spawn to settling, monotonic
	Usage       *Usage        // nil when the process was not reaped
}

// Exit is how a reaped process ended: by itself or by a signal. Exactly one is
// not nil.
type Exit struct {
	Code   *int
	Signal *string // SIGKILL and so on; a real-time signal is SIG and its number
}

// Usage is the kernel's account of the reaped process, launch stage included.
//
// MaxRSSBytes is an upper bound of what the program had resident: the process
// begins as a copy of the daemon, and Linux carries the peak across exec. It is
// the program's own peak wherever that is above what the daemon itself had
// resident at the spawn.
type Usage struct {
	User, System time.Duration
	MaxRSSBytes  int64
}

// MeasuredLimits are the limits the launch stage read back from the kernel, in
// seconds, a count, and twice 512-byte blocks.
type MeasuredLimits struct {
	CPUSeconds  LimitPair
	Descriptors LimitPair
	CoreBlocks  LimitPair
	FileBlocks  LimitPair
}

// LimitPair is one resource limit.
type LimitPair struct{ Soft, Hard Limit }

// Limit is a non-negative amount, or Unlimited.
type Limit int64

// Unlimited is the absence of a limit.
const Unlimited Limit = -1

// String is the limits as a message shows them.
func (m MeasuredLimits) String() string {
	return fmt.Sprintf("cpu %s, descriptors %s, core %s, file size %s", m.CPUSeconds, m.Descriptors, m.CoreBlocks, m.FileBlocks)
}

// String is soft/hard.
func (p LimitPair) String() string { return p.Soft.String() + "/" + p.Hard.String() }

// String is the number, or `unlimited`.
func (l Limit) String() string {
	if l == Unlimited {
		return wordUnlimited
	}
	return fmt.Sprint(int64(l))
}
