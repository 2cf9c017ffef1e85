package prove

const (
	familyNamespaces = "Namespaces and mounts"
	familyKernel     = "The kernel"
	familyHost       = "The host"
)

func linuxNamespaces() []Probe {
	return native(familyNamespaces,
		Probe{Name: "unshare of a user namespace", Act: "unshare_flag 10000000", Code: "EPERM", NoControl: mayBeReserved},
		Probe{Name: "unshare of user and mount namespaces", Act: "unshare_flag 10020000", Code: "EPERM", NoControl: mayBeReserved},
		rights("unshare of mounts", "unshare_flag 20000", "EPERM"),
		rights("unshare of the network", "unshare_flag 40000000", "EPERM"),
		rights("unshare of processes", "unshare_flag 20000000", "EPERM"),
		rights("unshare of System V IPC", "unshare_flag 8000000", "EPERM"),
		rights("unshare of the host's name", "unshare_flag 4000000", "EPERM"),
		rights("unshare of cgroups", "unshare_flag 2000000", "EPERM"),
		rights("unshare of time", "unshare_flag 80", "EPERM"),
		Probe{Name: "unshare of the working directory", Act: "unshare_flag 200", Code: "EPERM"},
		rights("setns by /proc/self/ns", "enter_namespace", "ENOENT"),
		rights("setns by a descriptor", "enter_descriptor", "EPERM"),
		rights("mount", "mount_tree", "EPERM"),
		rights("remount of the input to write", "remount", "EPERM"),
		rights("umount2", "unmount", "EPERM"),
		Probe{Name: "open_tree", Act: "open_tree_here", Code: "EPERM"},
		rights("open_tree of a copy", "clone_tree", "EPERM"),
		rights("move_mount", "move_tree", "EPERM"),
		rights("fsopen", "open_file_system", "EPERM"),
		rights("fsconfig", "configure_file_system", "EPERM"),
		rights("fsmount", "mount_file_system", "EPERM"),
		rights("fspick", "pick_file_system", "EPERM"),
		rights("mount_setattr", "set_mount", "EPERM"),
		Probe{Name: "listmount", Act: "list_mounts", Code: "EPERM"},
		rights("chroot", "change_root", "EPERM"),
		rights("pivot_root", "pivot", "EPERM"),
	)
}

func linuxKernel() []Probe {
	return native(familyKernel,
		call("another filter by seccomp", "filter_more", "EPERM"),
		reserved("a filter with a listener", "filter_listening", "EPERM"),
		call("another filter by prctl", "filter_by_prctl", "EPERM"),
		call("Landlock's version", "landlock", "EPERM"),
		call("Landlock for oneself", "landlock_self", "EPERM"),
		call("the list of security modules", "security_modules", "EPERM"),
		call("add_key", "add_key", "EPERM"),
		call("keyctl", "session_keys", "EPERM"),
		call("request_key", "request_key", "EPERM"),
		reserved("bpf", "load_program", "EPERM"),
		reserved("perf_event_open", "measure", "EPERM"),
		call("personality with fixed addresses", "fixed_addresses", "EPERM"),
		call("personality with READ_IMPLIES_EXEC", "code_by_reading", "EPERM"),
		call("cachestat", "cached_pages", "EPERM"),
		call("mseal", "seal", "EPERM"),
		Probe{Name: "a call that no kernel has", Act: "unheard_of", Code: "EPERM", NoControl: "there is none outside either"},
		Probe{Name: "type into a terminal", Act: "type_into_terminal", Code: "ENOTTY", Twin: "how many bytes wait in a pipe", NoControl: "there is no terminal"},
		Probe{Name: "FIOASYNC", Act: "async_by_ioctl", Code: "ENOTTY", Twin: "how many bytes wait in a pipe"},
		Probe{Name: "how many bytes wait in a pipe", Act: "bytes_waiting"},
		Probe{Name: "uname", Act: "name_of_system"},
	)
}

// linuxAMD64 are rows that only this architecture has.
func linuxAMD64() []Probe {
	creat := native(familyFiles, change("creat", "create_by_creat", "EPERM"))
	children := native(familyProcesses, child("fork by its old call", "fork_call", "EPERM"), child("vfork", "vfork_call", "EPERM"))
	return append(append(creat, children...), native(familyKernel,
		Probe{Name: "a call by an x32 number", Act: "by_x32", Code: "EPERM", NoControl: mayBeReserved},
		Probe{Name: "modify_ldt", Act: "segments", Code: "EPERM", NoControl: mayBeReserved},
		Probe{Name: "iopl", Act: "port_level", Code: "EPERM", NoControl: mayBeReserved},
		Probe{Name: "ioperm", Act: "port_permission", Code: "EPERM", NoControl: mayBeReserved},
		Probe{Name: "arch_prctl of GS", Act: "base_of_gs", Code: "EINVAL"},
	)...)
}

func linuxHost() []Probe {
	harm := func(name, act string) Probe { return without(harmsHost, call(name, act, "EPERM")) }
	return native(familyHost,
		linuxAlone(call("setuid to oneself", "become_self", "EPERM")),
		linuxAlone(call("setgid to oneself", "become_own_group", "EPERM")),
		call("setresuid to oneself", "become_self_thrice", "EPERM"),
		call("setfsuid to oneself", "file_user", "EPERM"),
		rights("setresuid to root", "become_root", "EPERM"),
		rights("setgroups", "drop_groups", "EPERM"),
		call("capset", "set_capabilities", "EPERM"),
		call("adjtimex, asked", "adjust_clock", "EPERM"),
		call("clock_adjtime, asked", "adjust_this_clock", "EPERM"),
		call("syncfs", "flush_all", "EPERM"),
		harm("sethostname", "name_host"),
		harm("setdomainname", "name_domain"),
		harm("settimeofday", "set_time"),
		harm("clock_settime", "set_clock"),
		harm("reboot", "restart"),
		harm("kexec_load", "load_kernel"),
		harm("kexec_file_load", "load_kernel_file"),
		harm("init_module", "load_module"),
		harm("finit_module", "load_module_file"),
		harm("delete_module", "unload_module"),
		harm("swapon", "swap_on"),
		harm("swapoff", "swap_off"),
		harm("acct", "account"),
		harm("vhangup", "hang_up"),
		rights("the kernel's log", "kernel_log", "EPERM"),
		rights("quotactl", "quota", "EPERM"),
	)
}
