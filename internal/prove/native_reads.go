package prove

const familyReads = "Reading files"

// secretBy is a row about the secret that only one file of the host holds.
func secretBy(name, act, code string) Probe {
	return Probe{Name: "a file of the host " + name, Act: act, Code: code, Instead: "send it as input", Evidence: knows("file")}
}

func nativeReads() []Probe {
	return native(familyReads,
		secretBy("by its path", "by_path", "ENOENT"),
		secretBy("by way of ..", "by_dots", "ENOENT"),
		secretBy("by way of .. from a directory's descriptor", "by_directory", "ENOENT"),
		secretBy("from its own directory", "by_chdir", "ENOENT"),
		secretBy("by fchdir", "by_fchdir", "EPERM"),
		secretBy("by a symbolic link made to it", "by_symlink", "EPERM"),
		secretBy("by a hard link made to it", "by_hard_link", "EPERM"),
		linuxAlone(Probe{Name: "whether a file of the host exists", Act: "there", Code: "ENOENT", Twin: "one's input, asked for its size"}),
		linuxAlone(Probe{Name: "a list of the root directory", Act: "list_root", Code: "EACCES", Twin: "a list of one's input"}),
		Probe{Name: "a list of one's slot", Act: "list_slot", Code: "EACCES", Twin: "a list of one's input", Evidence: knows("slot")},
		Probe{Name: "a list of a directory of the host", Act: "list_outside", Code: "ENOENT", Twin: "a list of one's input"},
		Probe{Name: "a list of the slots", Act: "list_slots", Code: "EACCES", Twin: "a list of one's input", Owner: true},
		Probe{Name: "another run's input", Act: "read_held", Code: "ENOENT", Owner: true, Evidence: knows("held")},
		Probe{Name: "the daemon's ledger", Act: "read_ledger", Code: "ENOENT", Owner: true, Evidence: knows("ledger")},
		Probe{Name: "the canary", Act: "read_canary", Code: "EACCES", Evidence: knows("canary")},
		Probe{Name: "the list of users", Act: "read_users", Code: "ENOENT"},
		Probe{Name: "the null device, to write", Act: "write_null", Code: "EACCES", Twin: "the null device, to read"},
		Probe{Name: "the zero device", Act: "zero_device", Code: "ENOENT", Twin: "the null device, to read"},
		linuxAlone(Probe{Name: "the random device", Act: "random_device", Code: "ENOENT", Twin: "random bytes by the call", Instead: "use node:crypto"}),
		Probe{Name: "a new terminal", Act: "terminal_device", Code: "ENOENT", NoControl: mayBeReserved},
		Probe{Name: "a list of one's input", Act: "list_input"},
		Probe{Name: "a list of one's home", Act: "list_home"},
		Probe{Name: "the null device, to read", Act: "null_device"},
		Probe{Name: "random bytes by the call", Act: "random_bytes"},
	)
}

func linuxReads() []Probe {
	proc := func(name, act, code string) Probe {
		return Probe{Name: name, Act: act, Code: code, Twin: "one's own status"}
	}
	environ := proc("the environment of another process", "proc_other environ", "ENOENT")
	environ.Evidence = knows("victim")
	return native(familyReads,
		secretBy("by /proc/self/root", "by_root_link", "ENOENT"),
		secretBy("by /proc/thread-self/root", "by_thread_root", "ENOENT"),
		secretBy("by /proc/self/cwd", "by_cwd_link", "ENOENT"),
		secretBy("by /proc/self/fd", "by_fd_link", "ENOENT"),
		without(needsRights, secretBy("by another process's root", "by_other_root", "ENOENT")),
		secretBy("by openat2", "by_how", "ENOSYS"),
		secretBy("by O_PATH, then opened again", "by_handle_path", "ENOENT"),
		without(needsRights, secretBy("by a file handle", "by_handle", "EPERM")),
		Probe{Name: "the file handle of one's input", Act: "name_handle", Code: "EPERM", Twin: "one's input, asked for its size"},
		Probe{Name: "the size of a file of the host", Act: "size_of", Code: "ENOENT", Twin: "one's input, asked for its size"},
		Probe{Name: "where /proc/self/cwd leads", Act: "cwd_link", Code: "ENOENT"},
		Probe{Name: "where /proc/self/fd/1 leads", Act: "descriptor_link", Code: "ENOENT"},
		linuxAlone(Probe{Name: "statfs", Act: "file_system", Code: "EPERM", Twin: "one's input, asked for its size"}),
		linuxAlone(Probe{Name: "fstatfs", Act: "file_system_of_descriptor", Code: "EPERM", Twin: "one's input, asked for its size"}),
		linuxAlone(Probe{Name: "which pages of a file are cached", Act: "cached", Code: "EPERM", Twin: "one's input, mapped shared to read"}),
		proc("one's own environment by /proc", "proc self/environ", "ENOENT"),
		proc("one's own mounts", "proc self/mountinfo", "ENOENT"),
		proc("one's own descriptors", "proc_list self/fd", "ENOENT"),
		proc("one's own threads", "proc_list self/task", "ENOENT"),
		proc("one's own namespaces", "proc_list self/ns", "ENOENT"),
		proc("a list of the processes", "proc_list .", "EACCES"),
		proc("the connections of the host", "proc net/tcp", "ENOENT"),
		proc("the kernel's command line", "proc cmdline", "ENOENT"),
		proc("the kernel's version by /proc", "proc version", "ENOENT"),
		proc("the kernel's symbols", "proc kallsyms", "ENOENT"),
		proc("the kernel's settings", "proc sys/kernel/hostname", "ENOENT"),
		proc("the host's mounts", "proc_list fs", "ENOENT"),
		without(needsRights, proc("the kernel's memory", "proc_open kcore", "ENOENT")),
		without(needsRights, proc("the pages of the host", "proc_open kpageflags", "ENOENT")),
		without(needsRights, Probe{Name: "the memory device", Act: "path /dev/mem", Code: "ENOENT", Twin: "the null device, to read"}),
		without(needsRights, Probe{Name: "the kernel's log device", Act: "path /dev/kmsg", Code: "ENOENT", Twin: "the null device, to read"}),
		without(needsRights, Probe{Name: "a file of another user", Act: "path /etc/shadow", Code: "ENOENT"}),
		Probe{Name: "the devices of the host", Act: "path /sys/devices", Code: "ENOENT"},
		Probe{Name: "the shared memory of the host", Act: "path /dev/shm", Code: "ENOENT"},
		environ,
		proc("the command line of another process", "proc_other cmdline", "ENOENT"),
		proc("the status of another process", "proc_other status", "ENOENT"),
		without(needsRights, proc("the namespaces of another process", "proc_other_ns", "ENOENT")),
		Probe{Name: "one's own status", Act: "proc self/status"},
		Probe{Name: "one's own maps", Act: "proc self/maps"},
		Probe{Name: "one's own executable's path", Act: "executable_link"},
	)
}
