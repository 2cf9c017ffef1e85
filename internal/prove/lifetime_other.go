//go:build !linux

package prove

import "syscall"

// dieWithUs has nothing to see to: without a boundary [Run] ends before it starts anything.
func dieWithUs(*syscall.SysProcAttr) {}
