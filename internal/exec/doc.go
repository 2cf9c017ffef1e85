// Package exec carries one confined run from a valid request to a frozen result.
//
// [Executor.Run] is the line: it recomputes every pin, claims a slot, writes
// and re-verifies a namespace, starts the pinned Node behind the kernel
// boundary, opens the gate only when the limits it measured are the limits that
// were asked for, collects what comes out, checks runtime and namespace once
// more, and removes or quarantines what is left. It observes. It never retries,
// never interprets output and never falls back to something weaker.
//
// What it returns is one of three facts: [NotStarted] (no process existed),
// [Observed] (the process is gone and its pipes are closed) or [Unresolved]
// (unknown: treat its resources as live).
//
// The package name shadows the standard library's os/exec, which is imported
// as osexec wherever both are needed.
package exec
