package prove

const familyStart = "What the process starts with"

func careless(name, act, code string) Probe { return without(onlyCareless, call(name, act, code)) }

// nativeStart looks at what the probe was started with. An act succeeds if it finds more than was promised.
func nativeStart() []Probe {
	return native(familyStart,
		Probe{Name: "a descriptor besides the four pipes", Act: "descriptors_inherited", Code: Nothing},
		Probe{Name: "a variable besides the five", Act: "environment_inherited", Code: Nothing},
		onMac("EPERM or ENXIO", careless("a controlling terminal", "terminal", "ENOENT")),
		careless("a terminal as a descriptor", "terminal_of_descriptors", Nothing),
	)
}

// linuxStart is what the stage promises on Linux alone.
func linuxStart() []Probe {
	return native(familyStart,
		Probe{Name: "a umask that lets others in", Act: "open_umask", Code: Nothing},
		Probe{Name: "a start anywhere but in the root directory", Act: "directory_inherited", Code: Nothing},
		careless("a signal that is blocked or ignored", "signals_inherited", Nothing),
		Probe{Name: "another user than nobody", Act: "identity", Code: Nothing, NoControl: noneElsewhere},
		Probe{Name: "one's own capabilities, asked", Act: "own_capabilities", Code: "EPERM"},
		Probe{Name: "the capabilities of process 1, asked", Act: "init_capabilities", Code: "EPERM"},
		Probe{Name: "a capability in any set", Act: "capabilities_left", Code: Nothing},
		Probe{Name: "a process that an exec can give rights", Act: "promised NoNewPrivs 1", Code: Nothing, NoControl: noneElsewhere},
		Probe{Name: "a process without a filter", Act: "promised Seccomp 2", Code: Nothing, NoControl: noneElsewhere},
		Probe{Name: "PR_GET_NO_NEW_PRIVS", Act: "new_privileges", Code: "EPERM"},
		Probe{Name: "PR_GET_SECUREBITS", Act: "secure_bits", Code: "EPERM"},
		Probe{Name: "PR_CAPBSET_READ", Act: "drop_bounding", Code: "EPERM"},
		Probe{Name: "personality, asked", Act: "old_layout", Code: "EPERM"},
		Probe{Name: "getresuid", Act: "ids_of_sets", Code: "EPERM"},
	)
}
