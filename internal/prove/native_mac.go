package prove

// familyMac are the rows about what no other system has.
const familyMac = "What only macOS has"

// The rows of this file have no Linux twin. Their codes are Seatbelt's EPERM, or Nothing where Mach answers in codes of its own; none was seen on
// a Mac yet.

func macFiles() []Probe {
	return native(familyFiles,
		change("clonefile", "clone_whole", "EPERM"),
		change("renamex_np, exchanging", "swap_names", "EPERM"),
		change("chflags", "change_flags", "EPERM"),
		mute(change("setxattr", "attribute_set", "EPERM")),
	)
}

func macReads() []Probe {
	return native(familyReads,
		without(untriedOnMac, secretBy("by its number on its volume", "by_volume", "EPERM")),
		Probe{Name: "the extended attributes of a file of the host", Act: "attributes_of_host", Code: "EPERM", Twin: "one's input, asked for its size"},
	)
}

func macNetwork() []Probe {
	return native(familyNetwork,
		socketRow("a socket of the kernel's controls", "kernel_socket", answer()),
		socketRow("the routes", "routes", answer()),
	)
}

// macAlone: the ways to other processes and to the system's services that go by Mach, by sysctl and by proc_info. That a service is found is enough:
// whoever has its port may ask it.
func macAlone() []Probe {
	table := func(name, act, code string) Probe {
		return Probe{Name: name, Act: act, Code: code, Twin: "the number of processors"}
	}
	service := func(name, service string) Probe { return call(name, "look_up "+service, Nothing) }
	session := "only a session of a person at the screen has it"
	arguments := table("the arguments of another process by sysctl", "arguments_by_sysctl", "EPERM")
	arguments.Evidence = says("sleep 300 ")
	return native(familyMac,
		table("the processes by sysctl", "list_by_sysctl", "EPERM"),
		table("another process by sysctl", "process_by_sysctl", "EPERM"),
		arguments,
		onMac("EPERM or NONE", table("the processes by proc_info", "list_by_info", "EPERM")),
		table("another process by proc_info", "process_by_info", "EPERM"),
		table("the path of another process", "path_by_info", "EPERM"),
		service("the service that knows the users", "com.apple.system.opendirectoryd.libinfo"),
		service("the service of notifications", "com.apple.system.notification_center"),
		service("the service of the network's settings", "com.apple.SystemConfiguration.configd"),
		without(session, service("the clipboard", "com.apple.pasteboard.1")),
		without(session, service("the service that opens applications", "com.apple.coreservices.launchservicesd")),
		without(untriedOnMac, call("a service of one's own", "register_port", Nothing)),
		rights("the task of another process", "task_port", Nothing),
		call("the task of another process, by name alone", "task_name", Nothing),
		without(untriedOnMac, call("the tracer's device", "tracer", "EPERM")),
		without(untriedOnMac, call("another sandbox", "another_sandbox", Nothing)),
		Probe{Name: "the number of processors", Act: "processors"},
		Probe{Name: "a port of one's own", Act: "own_port"},
	)
}
