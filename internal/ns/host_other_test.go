//go:build !linux

package ns

import "fmt"

// helpHost is for acts of one system only, of which this one has none.
func helpHost(act string, _ *Pool, _ []string) error { return fmt.Errorf("no act %q here", act) }
