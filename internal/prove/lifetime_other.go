//go:build !linux

package prove

import "syscall"

// dieWithUs does nothing: macOS has no word for it. If the suite is killed, Node and the native probe, confined or not, end within seconds, since they
// look whether their parent is still the same; unless an act holds them up, which none is known to. The processes to act on end by themselves within
// five minutes. The one that is stopped is woken and ended by POSIX's rule: a stopped process in a group that its parent's end orphans gets SIGHUP
// and SIGCONT.
func dieWithUs(*syscall.SysProcAttr) {}
