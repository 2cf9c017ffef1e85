package prove

const (
	familyLocks = "Locks and watches"
	familyIPC   = "Meeting places"
)

func linuxLocks() []Probe {
	return native(familyLocks,
		linuxAlone(Probe{Name: "flock", Act: "lock_whole", Code: "EPERM"}),
		linuxAlone(Probe{Name: "a lock, waited for", Act: "lock_waiting", Code: "EPERM"}),
		linuxAlone(Probe{Name: "a lock to write", Act: "lock_to_write", Code: "EBADF"}),
		linuxAlone(Probe{Name: "a lock, asked", Act: "lock_asked", Code: "EPERM"}),
		Probe{Name: "a lock to read", Act: "lock_to_read"},
		Probe{Name: "a lock of an open file", Act: "lock_of_description", Code: "EPERM"},
		Probe{Name: "a lease", Act: "lease", Code: "EPERM"},
		Probe{Name: "F_NOTIFY", Act: "notice", Code: "EPERM"},
		Probe{Name: "inotify", Act: "watch", Code: "EPERM"},
		Probe{Name: "fanotify", Act: "watch_all", Code: "EPERM", NoControl: mayBeReserved},
	)
}

func meeting(name, act, code string) Probe {
	return Probe{Name: name, Act: act, Code: code, Instead: "use a MessageChannel between workers"}
}

// nativeIPC: macOS asks its boundary about the objects of System V when one that is there is used or removed, and not when one is made.
func nativeIPC() []Probe {
	return native(familyIPC,
		linuxAlone(meeting("shmget", "shared_memory", "EPERM")),
		linuxAlone(meeting("semget", "semaphores", "EPERM")),
		linuxAlone(meeting("msgget", "messages", "EPERM")),
		meeting("shm_open", "named_memory", "ENOENT"),
		meeting("sem_open", "named_semaphore", "ENOENT"),
	)
}

func linuxIPC() []Probe {
	return native(familyIPC,
		meeting("shmat", "attach_memory", "EPERM"),
		meeting("shmctl, asked", "list_memory", "EPERM"),
		meeting("mq_open", "message_queue", "EPERM"),
		Probe{Name: "a futex with an owner", Act: "owned_futex", Code: "ENOSYS", Twin: "a futex"},
		meeting("a pipe of packets", "packet_pipe", "EINVAL"),
		meeting("a pipe of packets, made so later", "packets_later", "EPERM"),
		Probe{Name: "a pipe of notifications", Act: "notification_pipe", Code: "EINVAL", NoControl: mayBeReserved},
		meeting("F_SETPIPE_SZ", "pipe_size", "EPERM"),
		Probe{Name: "timerfd", Act: "timer_descriptor", Code: "EPERM", Instead: "use setTimeout"},
		Probe{Name: "a futex", Act: "wake_futex"},
		Probe{Name: "F_GETPIPE_SZ", Act: "pipe_size_asked"},
		Probe{Name: "eventfd", Act: "event_counter"},
		Probe{Name: "epoll", Act: "epoll"},
	)
}
