// Command denied writes docs/denied.md from the table of the boundary suite: what was tried, what a program is told, what to do instead.
package main

import (
	_ "embed"
	"fmt"
	"os"

	"confined/internal/prove"
)

//go:generate go run . ../../../docs/denied.md

//go:embed head.md
var head string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: denied FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(page(head, prove.Probes())), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "denied:", err)
		os.Exit(1)
	}
}
