package prove

const familyOthers = "Other processes"

// onOther is a row about a process that the host looks at.
func onOther(name, act, code string, e Evidence) Probe {
	return Probe{Name: name, Act: act, Code: code, Evidence: e}
}

func nativeOthers() []Probe {
	daemon := onOther("whether the daemon may be signalled", "ask_daemon", "EPERM", answer())
	daemon.Owner = true
	return native(familyOthers,
		onOther("kill a process", "kill_process", "EPERM", killed("killed")),
		onMac(ofGroups, onOther("kill a group", "kill_group", "EPERM", killed("grouped"))),
		onMac(ofGroups, Probe{Name: "a signal to everybody", Act: "continue_all", Code: "EPERM", NoControl: aboutAll}),
		onOther("whether a process exists", "ask_process", "EPERM", answer()),
		Probe{Name: "whether process 1 may be signalled", Act: "ask_init", Code: "EPERM", NoControl: notByOrdinary},
		daemon,
		linuxAlone(onOther("whether one's group may be signalled", "ask_group", "EPERM", answer())),
		onOther("whether the parent may be signalled", "ask_parent", "EPERM", answer()),
		Probe{Name: "a question for oneself", Act: "ask_self"},
		Probe{Name: "a signal to oneself", Act: "raise_here"},
	)
}

func linuxOthers() []Probe {
	return native(familyOthers,
		linuxAlone(onOther("another's priority", "nice_other", "EPERM", changed("nice reniced"))),
		linuxAlone(Probe{Name: "the priority of all of a user's", Act: "nice_user", Code: "EPERM", NoControl: aboutAll}),
		linuxAlone(onOther("another's priority, asked", "nice_asked", "EPERM", answer())),
		linuxAlone(onOther("another's group, asked", "group_of", "EPERM", answer())),
		linuxAlone(onOther("another's session, asked", "session_of", "EPERM", answer())),
		linuxAlone(onOther("F_SETOWN", "own_signals", "EPERM", answer())),
		linuxAlone(onOther("F_GETOWN", "own_signals_asked", "EPERM", answer())),
		linuxAlone(Probe{Name: "O_ASYNC", Act: "async_input", Code: "EPERM", Twin: "O_NONBLOCK"}),
		Probe{Name: "O_NONBLOCK", Act: "nonblocking_input"},
		Probe{Name: "one's own priority, asked", Act: "nice_self_asked"},
		Probe{Name: "one's own thread's clock", Act: "thread_clock"},
		onOther("tgkill", "kill_thread", "EPERM", killed("tgkilled")),
		onOther("tkill", "kill_thread_alone", "EPERM", killed("tkilled")),
		onOther("rt_sigqueueinfo", "queue_signal", "EPERM", killed("queued")),
		onOther("rt_tgsigqueueinfo", "queue_thread_signal", "EPERM", killed("threadqueued")),
		onOther("pidfd_send_signal", "signal_by_handle", "EPERM", killed("pidfdkilled")),
		onOther("pidfd_open", "open_process", "EPERM", answer()),
		onOther("pidfd_open of oneself", "open_self", "EPERM", answer()),
		onOther("pidfd_getfd", "take_descriptor", "EPERM", answer()),
		onOther("ptrace, attaching", "attach", "EPERM", answer()),
		onOther("ptrace, seizing", "seize", "EPERM", answer()),
		onOther("process_vm_readv", "peek_other", "EPERM", answer()),
		onOther("process_vm_writev", "poke_other", "EPERM", answer()),
		onOther("process_vm_readv of oneself", "peek_self", "EPERM", answer()),
		onOther("prlimit of another", "limit_other", "EPERM", changed("limits limited")),
		onOther("prlimit of another, asked", "limit_other_asked", "EPERM", answer()),
		onOther("sched_setscheduler of another", "schedule_other", "EPERM", changed("policy scheduled")),
		onOther("sched_setattr of another", "schedule_other_by_attributes", "EPERM", answer()),
		onOther("sched_setaffinity of another", "affinity_of_other", "EPERM", answer()),
		onOther("sched_getaffinity of another", "affinity_of_other_asked", "ENOSYS", answer()),
		onOther("the scheduler of a process that does not exist", "nobody_scheduled", Nothing, answer()),
		onOther("ioprio_set of another", "io_priority_of_other", "EPERM", answer()),
		onOther("kcmp", "compare", "EPERM", answer()),
		onOther("process_madvise", "advise_other", "EPERM", answer()),
		Probe{Name: "process_mrelease", Act: "release_other", Code: "EPERM", NoControl: "it works only on a process that is being killed"},
		onOther("move_pages of another", "move_pages_of_other", "EPERM", answer()),
		linuxAlone(onOther("waitid", "wait_for_other", "EPERM", answer())),
		onOther("another's processor clock", "clock_of_other", "EINVAL", answer()),
		onOther("F_SETOWN_EX", "own_by_thread", "EPERM", answer()),
		onOther("F_SETSIG", "signal_of_input", "EPERM", answer()),
		Probe{Name: "a question for one's own thread", Act: "ask_thread_self"},
	)
}
