package main

import (
	"math"
	"runtime/debug"
)

// baseMemory is what the daemon needs beside the bodies it holds: some 8 MiB of
// its own, the buffers of its connections, and garbage between collections.
const baseMemory = 32 << 20

// limitMemory makes the memory the daemon really takes follow the bound on what
// it holds. By its own rule the garbage collector lets the heap grow to twice
// what was in use, which would make --upload-memory half of the truth. The limit
// is a goal and no bound: nothing fails beyond it, collections only become
// frequent, as when large outputs are held on top of full upload memory.
// GOMEMLIMIT, where an operator has set it, stays.
func limitMemory(uploads int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(min(uploads, math.MaxInt64-baseMemory) + baseMemory)
	}
}
