package prove

const familyMemory = "Memory"

func nativeMemory() []Probe {
	return native(familyMemory,
		Probe{Name: "native code of the input", Act: "code_of_input", Code: "EPERM", Twin: "private memory", Instead: "compile it to WebAssembly",
			MacAlone: "outside, macOS may ask for a signature of what is mapped to be executed"},
		Probe{Name: "private memory", Act: "private_memory_map"},
	)
}

func linuxMemory() []Probe {
	advice := func(name, number, code string) Probe {
		p := Probe{Name: "madvise " + name, Act: "advise " + number, Code: code}
		if code != "" {
			p.Twin = "madvise DONTNEED"
		}
		return p
	}
	return native(familyMemory,
		linuxAlone(Probe{Name: "native code of the input, made executable later", Act: "code_of_input_later", Code: "EACCES", Twin: "machine code that one makes",
			Instead: "compile it to WebAssembly"}),
		linuxAlone(Probe{Name: "memory to share", Act: "shared_memory_map", Code: "EPERM", Instead: "share a SharedArrayBuffer among workers"}),
		linuxAlone(Probe{Name: "mlock", Act: "lock_page", Code: "EPERM"}),
		linuxAlone(Probe{Name: "mlockall", Act: "lock_all", Code: "EPERM", NoControl: "the limit of locked memory may be less than the probe has"}),
		linuxAlone(Probe{Name: "5 GiB", Act: "gibibytes 5", Code: "ENOMEM", Twin: "3 GiB"}),
		Probe{Name: "5 GiB, made writable later", Act: "gibibytes_protected 5", Code: "ENOMEM", Twin: "3 GiB"},
		Probe{Name: "5 GiB over a file", Act: "gibibytes_of_file 5", Code: "ENOMEM", Twin: "3 GiB"},
		Probe{Name: "3 GiB", Act: "gibibytes 3"},
		Probe{Name: "machine code that one makes", Act: "code_made"},
		Probe{Name: "5 GiB, grown", Act: "gibibytes_grown 5", Code: "ENOMEM", Twin: "3 GiB"},
		Probe{Name: "5 GiB that the kernel may drop", Act: "gibibytes_droppable 5", Code: "ENOMEM", Twin: "3 GiB"},
		Probe{Name: "MAP_LOCKED", Act: "flags 2000", Code: "EPERM"},
		Probe{Name: "MAP_GROWSDOWN", Act: "flags 100", Code: "EPERM"},
		without("it needs pages that the host set aside", Probe{Name: "MAP_HUGETLB", Act: "flags 40000", Code: "EPERM"}),
		Probe{Name: "memfd_create", Act: "memory_file", Code: "EPERM", Instead: "use a Buffer"},
		Probe{Name: "code in a file in memory", Act: "code_of_memory_file", Code: "EPERM", Twin: "machine code that one makes"},
		without(mayBeReserved, Probe{Name: "memfd_secret", Act: "secret_memory", Code: "EPERM"}),
		advice("COLD", "20", "EINVAL"),
		advice("PAGEOUT", "21", "EINVAL"),
		advice("POPULATE_WRITE", "23", "EINVAL"),
		without(mayBeReserved, advice("MERGEABLE", "12", "EINVAL")),
		without(mayBeReserved, advice("COLLAPSE", "25", "EINVAL")),
		without(needsRights, advice("HWPOISON", "100", "EINVAL")),
		without(needsRights, advice("SOFT_OFFLINE", "101", "EINVAL")),
		Probe{Name: "madvise PAGEOUT of shared code", Act: "advise_code 21", Code: "EINVAL", Twin: "madvise DONTNEED"},
		advice("DONTNEED", "4", ""),
		advice("FREE", "8", ""),
		Probe{Name: "mlock2", Act: "lock_later", Code: "EPERM"},
		without(mayBeReserved, Probe{Name: "userfaultfd", Act: "faults_by_user", Code: "EPERM"}),
		Probe{Name: "remap_file_pages", Act: "remap", Code: "EPERM"},
		without(mayBeReserved, Probe{Name: "set_mempolicy", Act: "policy", Code: "EPERM"}),
		Probe{Name: "membarrier of every processor", Act: "barrier_of_all", Code: "EINVAL", Twin: "membarrier, asked"},
		Probe{Name: "membarrier, asked", Act: "barrier_asked"},
		Probe{Name: "a key of memory protection", Act: "key_of_protection"},
	)
}
