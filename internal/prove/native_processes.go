package prove

const (
	familyProcesses = "Processes and threads"
	familyExec      = "Becoming another program"
)

// child is a row about a process made.
func child(name, act, code string) Probe {
	return Probe{Name: name, Act: act, Code: code, Instead: "use node:worker_threads"}
}

// nativeProcesses: in XNU one function makes the process of fork and of posix_spawn, and asks the boundary (fork1, by source).
func nativeProcesses() []Probe {
	return native(familyProcesses,
		child("fork", "fork_child", "EPERM"),
		child("posix_spawn", "spawn", "EPERM"),
		Probe{Name: "a thread", Act: "thread"},
	)
}

func nativeExec() []Probe {
	return native(familyExec,
		call("execve of a shell", "by_shell", "EPERM"),
		onMac(eitherOnMac, Probe{Name: "execve of a file of the input", Act: "by_input", Code: "EPERM", NoControl: "a file of the input is no program outside either"}),
	)
}

func linuxProcesses() []Probe {
	setting := func(name, act, code string) Probe {
		return Probe{Name: name, Act: act, Code: code, Twin: "the name of one's thread"}
	}
	return native(familyProcesses,
		linuxAlone(Probe{Name: "a session of one's own", Act: "new_session", Code: "EPERM"}),
		linuxAlone(Probe{Name: "a process group of one's own", Act: "new_group", Code: "EPERM"}),
		linuxAlone(Probe{Name: "wait for children", Act: "wait_for_children", Code: "EPERM"}),
		Probe{Name: "200 threads", Act: "crowd 200", Code: "EAGAIN", Twin: "100 threads"},
		Probe{Name: "100 threads", Act: "crowd 100"},
		child("clone", "clone_child", "EPERM"),
		child("clone without a signal at the end", "clone_silent", "EPERM"),
		child("clone as vfork", "clone_vfork", "EPERM"),
		child("clone that shares memory and files", "clone_memory", "EPERM"),
		child("clone for one's parent", "clone_parent", "EPERM"),
		child("clone of a thread with a table of descriptors of its own", "clone_of_table", "EPERM"),
		child("clone3", "clone_by_3", "ENOSYS"),
		without(mayBeReserved, child("clone3 into another cgroup", "clone_into_group", "ENOSYS")),
		without(mayBeReserved, child("clone into a user namespace", "clone_user", "EPERM")),
		without(mayBeReserved, child("clone into all namespaces", "clone_everything", "EPERM")),
		setting("a table of descriptors of one's own", "own_table", "EPERM"),
		setting("outlive the daemon", "death_signal", "EPERM"),
		setting("PR_SET_DUMPABLE", "dumpable", "EPERM"),
		without(mayBeReserved, setting("PR_SET_PTRACER", "tracer", "EPERM")),
		setting("PR_SET_CHILD_SUBREAPER", "reaper", "EPERM"),
		setting("PR_SET_TIMERSLACK", "timer_slack", "EPERM"),
		without(mayBeReserved, setting("PR_SCHED_CORE", "core_scheduling", "EPERM")),
		linuxAlone(setting("one's own priority", "own_nice", "EPERM")),
		setting("the processors that one runs on", "own_affinity", "EPERM"),
		setting("one's own scheduler", "own_scheduler", "EPERM"),
		setting("get_robust_list", "robust_list", "EPERM"),
		Probe{Name: "timer_create", Act: "alarm_clock", Code: "EPERM", Instead: "use setTimeout"},
		Probe{Name: "signalfd", Act: "signal_descriptor", Code: "EPERM", Instead: "use process.on"},
		Probe{Name: "the name of one's thread", Act: "thread_name"},
		Probe{Name: "the processors that one runs on, asked", Act: "own_affinity_asked"},
	)
}

func linuxExec() []Probe {
	return native(familyExec,
		linuxAlone(call("execve of one's own executable", "by_execve", "EPERM")),
		call("execve of /proc/self/exe", "by_self_link", "EPERM"),
		call("execve of the loader", "by_loader_execve", "EPERM"),
		call("execveat of a descriptor", "by_descriptor", "ENOSYS"),
		call("execveat of a descriptor for the path alone", "by_descriptor_of_path", "ENOSYS"),
		call("execveat of an absolute path", "by_absolute_path", "ENOSYS"),
		call("execveat of an absolute path and AT_EMPTY_PATH", "by_path_and_flag", "ENOSYS"),
		call("execveat of an absolute path by a number that is not open", "by_unused", "ENOSYS"),
		call("execveat of an absolute path by the working directory", "by_working_directory", "ENOSYS"),
		call("execveat of every number up to 23", "by_every_number", "ENOSYS"),
		call("execveat after closing everything", "by_emptied", "ENOSYS"),
		call("execveat of a path at the lowest address", "by_low_address", "ENOSYS"),
		call("execveat from a thread", "from_thread", "ENOSYS"),
		call("execveat of the loader", "by_loader", "ENOSYS"),
		call("execveat of a copy in memory", "by_memory", "EPERM"),
		Probe{Name: "execveat that only asks", Act: "check_only", Code: "ENOSYS", NoControl: mayBeReserved},
	)
}
