package prove

const (
	familyStart  = "inheritance"
	familyLocks  = "locks and watches"
	familyIPC    = "meeting places"
	familyLimits = "limits"
)

// nativeStart looks at what the probe was started with. An act succeeds if it finds more than was promised.
func nativeStart() []Probe {
	careless := func(name, act, code string) Probe {
		return Probe{Name: name, Act: act, Code: code, NoControl: onlyCareless}
	}
	return native(familyStart,
		Probe{Name: "a descriptor besides the four pipes", Act: "descriptors_inherited", Code: "NONE"},
		Probe{Name: "a variable besides the five", Act: "environment_inherited", Code: "NONE"},
		Probe{Name: "a umask that lets others in", Act: "open_umask", Code: "NONE"},
		Probe{Name: "a start anywhere but in the root directory", Act: "directory_inherited", Code: "ROOT"},
		careless("a signal that is blocked or ignored", "signals_inherited", "NONE"),
		careless("a controlling terminal", "terminal", "ENOENT"),
		careless("a terminal as a descriptor", "terminal_of_descriptors", "NONE"),
		Probe{Name: "another user than nobody", Act: "identity", Code: "NOBODY", NoControl: noneElsewhere},
		Probe{Name: "one's own capabilities, asked", Act: "own_capabilities", Code: "EPERM"},
		Probe{Name: "the capabilities of process 1, asked", Act: "init_capabilities", Code: "EPERM"},
		Probe{Name: "a capability in any set", Act: "capabilities_left", Code: "NONE"},
		Probe{Name: "a process that an exec can give rights", Act: "promised NoNewPrivs 1", Code: "SET", NoControl: noneElsewhere},
		Probe{Name: "a process without a filter", Act: "promised Seccomp 2", Code: "SET", NoControl: noneElsewhere},
		Probe{Name: "PR_GET_NO_NEW_PRIVS", Act: "new_privileges", Code: "EPERM"},
		Probe{Name: "PR_GET_SECUREBITS", Act: "secure_bits", Code: "EPERM"},
		Probe{Name: "PR_CAPBSET_READ", Act: "drop_bounding", Code: "EPERM"},
		Probe{Name: "personality, asked", Act: "old_layout", Code: "EPERM"},
		Probe{Name: "getresuid", Act: "ids_of_sets", Code: "EPERM"},
	)
}

func nativeLocks() []Probe {
	return native(familyLocks,
		Probe{Name: "flock", Act: "lock_whole", Code: "EPERM"},
		Probe{Name: "a lock, waited for", Act: "lock_waiting", Code: "EPERM"},
		Probe{Name: "a lock to write", Act: "lock_to_write", Code: "EBADF"},
		Probe{Name: "a lock, asked", Act: "lock_asked", Code: "EPERM"},
		Probe{Name: "a lock to read", Act: "lock_to_read"},
	)
}

func linuxLocks() []Probe {
	return native(familyLocks,
		Probe{Name: "a lock of an open file", Act: "lock_of_description", Code: "EPERM"},
		Probe{Name: "a lease", Act: "lease", Code: "EPERM"},
		Probe{Name: "F_NOTIFY", Act: "notice", Code: "EPERM"},
		Probe{Name: "inotify", Act: "watch", Code: "EPERM"},
		Probe{Name: "fanotify", Act: "watch_all", Code: "EPERM", NoControl: mayBeReserved},
	)
}

func linuxIPC() []Probe {
	meeting := func(name, act, code string) Probe {
		return Probe{Name: name, Act: act, Code: code, Instead: "use a MessageChannel between workers"}
	}
	return native(familyIPC,
		meeting("shmget", "shared_memory", "EPERM"),
		meeting("shmat", "attach_memory", "EPERM"),
		meeting("shmctl, asked", "list_memory", "EPERM"),
		meeting("semget", "semaphores", "EPERM"),
		meeting("msgget", "messages", "EPERM"),
		meeting("mq_open", "message_queue", "EPERM"),
		meeting("shm_open", "named_memory", "ENOENT"),
		meeting("sem_open", "named_semaphore", "ENOENT"),
		Probe{Name: "a futex with an owner", Act: "owned_futex", Code: "ENOSYS", Twin: "a futex"},
		meeting("a pipe of packets", "packet_pipe", "EINVAL"),
		Probe{Name: "a pipe of notifications", Act: "notification_pipe", Code: "EINVAL", NoControl: mayBeReserved},
		meeting("F_SETPIPE_SZ", "pipe_size", "EPERM"),
		Probe{Name: "timerfd", Act: "timer_descriptor", Code: "EPERM", Instead: "use setTimeout"},
		Probe{Name: "a futex", Act: "wake_futex"},
		Probe{Name: "F_GETPIPE_SZ", Act: "pipe_size_asked"},
		Probe{Name: "eventfd", Act: "event_counter"},
		Probe{Name: "epoll", Act: "epoll"},
	)
}

// bound is a row about a limit in force: the act succeeds if it is any other than promised.
func bound(name, promise string) Probe {
	return Probe{Name: name, Act: "above " + promise, Code: "BOUND"}
}

func nativeLimits() []Probe {
	core := bound("a core file", "core 0")
	core.NoControl = noneElsewhere
	return native(familyLimits,
		bound("other processor time than asked for", "cpu limits.cpu"),
		bound("other descriptors than asked for", "descriptors limits.descriptors"),
		core,
		bound("a file of any size", "file 0"),
		bound("other than 128 threads", "threads 128"),
		bound("other than 4 GiB of data", "data 4294967296"),
		bound("other than 8 MiB of stack", "stack 8388608"),
		bound("locked memory", "memlock 0"),
		Probe{Name: "a higher hard limit of any kind", Act: "raise_hard", Code: "EPERM", NoControl: needsRights},
		Probe{Name: "a limit, set to what it is", Act: "set_again", Code: "EPERM"},
		Probe{Name: "700 descriptors", Act: "open_many 700", Code: "EMFILE", Twin: "30 descriptors"},
		Probe{Name: "30 descriptors", Act: "open_many 30"},
		Probe{Name: "a limit, asked", Act: "ask"},
	)
}

func linuxLimits() []Probe {
	return native(familyLimits,
		bound("message queues", "msgqueue 0"),
		bound("other than 128 waiting signals", "sigpending 128"),
		Probe{Name: "300 waiting signals", Act: "queue_signals 300", Code: "BOUND", Twin: "100 waiting signals"},
		Probe{Name: "100 waiting signals", Act: "queue_signals 100"},
		Probe{Name: "oom_score_adj", Act: "out_of_memory_score", Code: "ENOENT"},
		Probe{Name: "coredump_filter", Act: "core_filter", Code: "ENOENT"},
	)
}
