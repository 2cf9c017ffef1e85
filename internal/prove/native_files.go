package prove

// change is a row about files of its act's own.
func change(name, act, code string) Probe {
	return Probe{Name: name, Act: act, Code: code, Instead: "return the bytes on standard output", Evidence: changedFiles(act)}
}

// mute is a change that a file system need not show. The probe says "done" of what the kernel let through.
func mute(p Probe) Probe {
	p.Evidence = orSaid("done", p.Evidence)
	return p
}

func nativeFiles() []Probe {
	hollow := change("remove a directory", "remove_directory", "EPERM")
	hollow.Evidence = changed("hollow")
	emptied := onMac(eitherOnMac, change("open a file to read and empty it", "read_and_truncate", "EROFS"))
	emptied.MacAlone = untriedOnMac
	device := change("make a device", "make_device", "EPERM")
	device.NoControl = needsRights
	return native(familyFiles,
		change("create a file", "create", "EROFS"),
		onMac(eitherOnMac, change("append to a file", "open_to_append", "EACCES")),
		onMac(eitherOnMac, change("open a file to write it anew", "open_to_truncate", "EROFS")),
		emptied,
		onMac(eitherOnMac, change("truncate", "truncate_path", "EPERM")),
		onMac("EINVAL", change("truncate a descriptor", "truncate_descriptor", "EPERM")), // it is one to read
		change("link", "link_file", "EPERM"),
		change("linkat", "link_at", "EPERM"),
		change("symlinkat", "symlink_at", "EPERM"),
		change("rename", "rename_file", "EPERM"),
		change("rename over another file", "rename_over", "EPERM"),
		change("unlinkat", "unlink_at", "EPERM"),
		change("mkdirat", "make_directory", "EPERM"),
		hollow,
		change("chmod", "change_mode", "EPERM"),
		change("fchmod", "change_mode_by_descriptor", "EPERM"),
		mute(change("chown", "change_owner", "EPERM")),
		mute(change("fchown", "change_owner_by_descriptor", "EPERM")),
		mute(change("lchown", "change_owner_of_link", "EPERM")),
		change("utimensat", "change_times", "EPERM"),
		change("futimens", "change_times_by_descriptor", "EPERM"),
		change("mkfifo", "make_pipe", "EPERM"),
		linuxAlone(change("mknod of a plain file", "make_node", "EPERM")),
		device,
		onMac("EACCES", change("map a file shared and write to it", "map_to_write", "EACCES")), // the descriptor is one to read
		onMac("EACCES", change("map a file shared to read, then make the map writable", "map_then_write", "EACCES")),
		Probe{Name: "one's input, read", Act: "read_input", Evidence: says("f of read_input\n")},
		Probe{Name: "one's input, mapped shared to read", Act: "map_input", Evidence: says("f of map_input\n")},
		Probe{Name: "one's input, asked for its size", Act: "stat_input"},
	)
}

func linuxFiles() []Probe {
	reflink := change("FICLONE", "clone_file", "ENOTTY")
	reflink.NoControl = "few file systems can"
	ring := Probe{Name: "io_uring_setup", Act: "ring", Code: "ENOSYS", NoControl: mayBeReserved, Instead: "Node falls back to its thread pool by itself"}
	return native(familyFiles,
		Probe{Name: "O_TMPFILE", Act: "temporary_file", Code: "EROFS"},
		change("renameat2, exchanging", "rename_exchange", "EPERM"),
		change("fchmodat", "change_mode_at", "EPERM"),
		change("fchmodat2", "change_mode_at_2", "EPERM"),
		change("setxattr", "set_attribute", "EPERM"),
		change("fsetxattr", "set_attribute_by_descriptor", "EPERM"),
		Probe{Name: "listxattr", Act: "get_attribute", Code: "EPERM", Twin: "one's input, asked for its size"},
		change("fallocate", "allocate", "EPERM"),
		change("openat2 to create", "open_how", "ENOSYS"),
		change("open a descriptor again by /proc/self/fd to write", "reopen", "ENOENT"),
		Probe{Name: "write to one's own memory by /proc/self/mem", Act: "own_memory", Code: "ENOENT", Twin: "private memory"},
		change("splice into a file", "splice_into", "EPERM"),
		Probe{Name: "tee", Act: "tee_pipe", Code: "EPERM", Twin: "a pipe"},
		Probe{Name: "vmsplice", Act: "vmsplice_pipe", Code: "EPERM", Twin: "a pipe"},
		change("sendfile into a file", "send_file", "EPERM"),
		change("copy_file_range", "copy_range", "EPERM"),
		change("pwritev2", "write_positioned", "EPERM"),
		reflink,
		change("FS_IOC_SETFLAGS", "set_flags", "ENOTTY"),
		ring,
		Probe{Name: "io_setup", Act: "queue", Code: "EPERM"},
		Probe{Name: "evict pages of the host's cache", Act: "evict", Code: "EPERM"},
		Probe{Name: "readahead", Act: "read_ahead", Code: "EPERM"},
	)
}
