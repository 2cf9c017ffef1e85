// Command confined runs bounded Node.js programs behind a kernel boundary.
//
// `confined serve` is the daemon, `confined doctor` says whether this host can
// have the boundary and what is missing, `confined version` says which build
// this is. The package holds wiring only; ARCHITECTURE.md names the parts.
package main

import (
	"os"

	"confined/internal/confine"
)

func main() {
	if confine.Stage(os.Args) {
		return // started as the launch stage of a run; it does not come back
	}
	os.Exit(run(os.Args[1:], surroundings{
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		lookupEnv: os.LookupEnv,
	}))
}
