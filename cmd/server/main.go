// Command confined runs bounded Node.js programs behind a kernel boundary.
//
// `confined serve` is the daemon; run, digest, pins and slots are its clients,
// by way of package client; `confined doctor` says whether this host can have
// the boundary and what is missing, `confined version` which build this is. The
// package holds wiring and the words on the terminal; ARCHITECTURE.md names the
// parts.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], surroundings{
		stdin:     os.Stdin,
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		lookupEnv: os.LookupEnv,
	}))
}
