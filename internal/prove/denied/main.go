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

// thePage is the page of this table, the same wherever it is made.
func thePage() string {
	return page(head, prove.ProbesOn("linux", "amd64"), prove.ProbesOn("darwin", "arm64"))
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: denied FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(thePage()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "denied:", err)
		os.Exit(1)
	}
}
