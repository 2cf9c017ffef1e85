package main

import (
	"flag"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// clientFlags are those that the clients of the daemon share.
type clientFlags struct {
	socket string
	json   bool
}

func (c *clientFlags) flags(fs *flag.FlagSet) {
	fs.StringVar(&c.socket, "socket", "", "Unix socket of the daemon (default ~/.confined/socket)")
}

// complete makes the socket's path whole, as serve does, and refuses one that
// no daemon can listen on.
func (c *clientFlags) complete(in surroundings) error {
	if c.socket == "" {
		home, _ := in.lookupEnv("HOME")
		if !filepath.IsAbs(home) {
			return usageError{fmt.Errorf("HOME is not an absolute path, and without it there is no default for --socket: give --socket")}
		}
		c.socket = filepath.Join(home, ".confined", "socket")
	}
	absolute, err := filepath.Abs(c.socket)
	if err != nil {
		return fmt.Errorf("--socket %s: %w", c.socket, err)
	}
	c.socket = absolute
	return fitsSocket(c.socket)
}

// globs is a flag that may be given more than once.
type globs []string

func (g *globs) String() string { return strings.Join(*g, " ") }

func (g *globs) Set(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("this is no glob: %w", err)
	}
	*g = append(*g, pattern)
	return nil
}
