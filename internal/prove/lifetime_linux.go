package prove

import "syscall"

// dieWithUs lets the kernel kill the process that is started with attr once the thread that starts it has ended, as all end with this process,
// however that comes. [Run] starts them all from a thread that it keeps.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
