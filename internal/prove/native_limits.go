package prove

const familyLimits = "Limits"

// bound is a row about a limit in force: the act takes place if it is any other than promised.
func bound(name, promise string) Probe {
	return Probe{Name: name, Act: "above " + promise, Code: Nothing}
}

// nativeLimits are about the four limits of the contract, which each boundary sets. XNU asks for root before it looks at which limit is to be
// raised (dosetrlimit, by source): there too the refusal is EPERM for all.
func nativeLimits() []Probe {
	core := bound("a core file", "core 0")
	core.NoControl = noneElsewhere
	return native(familyLimits,
		bound("other processor time than asked for", "cpu limits.cpu"),
		bound("other descriptors than asked for", "descriptors limits.descriptors"),
		core,
		bound("a file of any size", "file 0"),
		Probe{Name: "a higher hard limit of any kind", Act: "raise_hard", Code: "EPERM", NoControl: needsRights},
		onMac("EMFILE", Probe{Name: "700 descriptors", Act: "open_many 700", Code: "EMFILE", Twin: "30 descriptors"}),
		Probe{Name: "30 descriptors", Act: "open_many 30"},
		Probe{Name: "a limit, asked", Act: "ask"},
	)
}

func linuxLimits() []Probe {
	return native(familyLimits,
		linuxAlone(bound("other than 128 threads", "threads 128")),
		linuxAlone(bound("other than 4 GiB of data", "data 4294967296")),
		linuxAlone(bound("other than 8 MiB of stack", "stack 8388608")),
		linuxAlone(bound("locked memory", "memlock 0")),
		linuxAlone(Probe{Name: "a limit, set to what it is", Act: "set_again", Code: "EPERM"}),
		bound("message queues", "msgqueue 0"),
		bound("other than 128 waiting signals", "sigpending 128"),
		Probe{Name: "300 waiting signals", Act: "queue_signals 300", Code: Nothing, Twin: "100 waiting signals"},
		Probe{Name: "100 waiting signals", Act: "queue_signals 100"},
		Probe{Name: "oom_score_adj", Act: "out_of_memory_score", Code: "ENOENT"},
		Probe{Name: "coredump_filter", Act: "core_filter", Code: "ENOENT"},
	)
}
