package client

import "confined/client/api"

// Job is one run to ask for.
type Job struct {
	ID      string // of the run, `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`; empty: a new UUIDv7
	Pins    Pins   // what is empty is read from the daemon before the run: trust on first use
	Program Tree
	Entry   string // the path in Program of the file that Node is to run
	Args    []string
	Input   Tree   // the working directory of the program; the zero Tree is empty
	Bounds  Bounds // the zero Bounds are DefaultBounds
}

// Pins are the digests of everything about a run other than its job.
type Pins struct{ Runtime, Profile string }

// Bounds of one run.
type Bounds = api.Bounds

// DefaultBounds are 30 s of wall time, 30 s of CPU time, 1 MiB of output and 256 descriptors.
func DefaultBounds() Bounds {
	return Bounds{TimeoutMs: 30_000, CPUSeconds: 30, MaxOutputBytes: 1 << 20, MaxDescriptors: 256}
}
