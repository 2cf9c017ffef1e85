package prove

import "golang.org/x/sys/unix"

func processOf(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	return process{parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid), uid: int(k.Eproc.Ucred.Uid), realUID: int(k.Eproc.Pcred.P_ruid),
		state: stateName(k.Proc.P_stat), terminal: k.Eproc.Tdev != -1}, nil
}

func childrenOf(pid int) ([]int, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	children := []int{}
	for _, k := range all {
		if int(k.Eproc.Ppid) == pid {
			children = append(children, int(k.Proc.P_pid))
		}
	}
	return children, err
}

func startOf(pid int) ([]byte, error) { return unix.SysctlRaw("kern.procargs2", pid) }
