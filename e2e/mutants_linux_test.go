package e2e

import "slices"

// The files that the mutants change.
const (
	stageSource   = "internal/confine/stage_linux.go"
	processSource = "internal/confine/process_linux.go"
	mountSource   = "internal/confine/mount_linux.go"
	lockSource    = "internal/confine/lock_linux.go"
	preloadSource = "internal/confine/preload.cjs"
	collectSource = "internal/exec/collect.go"
	settleSource  = "internal/exec/settle.go"
	versionSource = "internal/exec/version.go"
)

// credulous is a preload that proves nothing.
var credulous = []edit{{preloadSource, "if (!proven || ", "if ("}}

// withoutStep takes a step from the order of the launch.
func withoutStep(name, method string) []edit {
	return []edit{{stageSource, `{"` + name + `", (*stage).` + method + "},", ""}}
}

// mutants are the layers. Each entry is the program without one of them; of those that are removed together, none stands in for another in the rows
// that it has here.
func mutants() []mutant {
	return []mutant{
		{
			layer:   "Landlock",
			edits:   withoutStep("landlock", "landlock"),
			refused: "admission-refused", blinded: credulous,
			fails: []string{"the canary", "the root directory", "native: the canary", "native: a list of the root directory"},
		},
		{
			layer: "the filter of system calls", // all but the exec lock
			edits: []edit{{lockSource, "	for _, i := range program.own {\n", `
	for i, one := range program.instructions {
		if one.code == opReturn {
			program.instructions[i].k = verdictAllow
		}
	}
	for _, i := range program.own {
`}},
			refused: "admission-refused", blinded: credulous,
			fails: []string{
				"the size of the disk", "TCP over IPv4", "spawn", "native: statfs", "native: fork", "native: a pair of sockets", "native: setxattr",
			},
		},
		{
			layer: "the private root: the host's /proc lies over ours",
			edits: []edit{{mountSource, "	s.close(s.self)\n", `	s.close(s.self)
	tree, place := new(int32), new(int32)
	s.call("mutant", unix.SYS_OPEN_TREE, here, "/proc", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE).into(tree)
	s.openat2("mutant", s.newRoot, "proc", 0, 0).into(place)
	s.moveMount("mutant", tree, place)
`}},
			refused: "admission-refused", blinded: credulous,
			fails: []string{"mounts that the profile names", "one's own descriptors", "native: one's own namespaces", "native: where /proc/self/cwd leads"},
		},
		{
			layer: "the private root: the host's lies on top of it",
			edits: []edit{{mountSource, `s.call("detach the old root", unix.SYS_UMOUNT2, ".", unix.MNT_DETACH)`, ""}},
			fails: []string{"mounts that the profile names", "native: a file of the host by way of .."},
		},
		{
			layer: "noexec", together: true,
			edits: []edit{{mountSource, "attributes |= unix.MOUNT_ATTR_NOEXEC", ""}},
			fails: []string{
				"native code of the program", "native code of the input",
				"native: native code of the input", "native: native code of the input, made executable later",
			},
		},
		{
			layer: "the drop of capabilities, and no_new_privs",
			edits: []edit{
				{processSource, "unix.PR_SET_SECUREBITS, securebits, ", "unix.PR_SET_SECUREBITS, 1<<2, "}, // so that the filter can be installed
				{processSource, "	s.dropBounding()\n	s.becomeNobody()\n", "	s.becomeNobody()\n	return\n"},
			},
			fails: []string{
				"no capability to be had", "no new privileges", "native: a capability in any set", "native: a process that an exec can give rights",
			},
		},
		{
			layer: "the user", root: true,
			edits:   []edit{{processSource, `s.call("setresuid", unix.SYS_SETRESUID, uid, uid, uid)`, "_ = uid"}},
			refused: "confined: canary: ",
		},
		{
			layer: "the limits that are reported", together: true,
			edits: []edit{{processSource, "		limit := unix.Rlimit{", `		switch r.name {
		case "cpu", "descriptors", "core", "file":
			continue
		}
		limit := unix.Rlimit{`}},
			refused: "the daemon's own hard limits leave a run",
			blinded: []edit{
				{collectSource, "*c.control.limits() != c.bounds.asked()", "c.control.limits() == nil"},
				{settleSource, "*got != asked.asked()", "got == nil"},
				{versionSource, "*f.Limits != versionRun.asked()", "false"},
			},
			fails: []string{
				"a limit on processor time", "a limit on descriptors", "a limit on file size", "a limit on core files",
				"native: other processor time than asked for", "native: other descriptors than asked for", "native: a file of any size", "native: a core file",
			},
		},
		{
			layer: "the other limits", together: true,
			edits: []edit{{processSource, "	for _, r := range s.resources() {\n", "	for _, r := range s.resources()[:reported] {\n"}},
			fails: []string{
				"a limit on private memory", "a limit on threads", "a limit on the stack", "a limit on locked memory", "a limit on message queues",
				"a limit on pending signals", "native: 5 GiB", "native: 200 threads", "native: 300 waiting signals",
			},
		},
		{
			layer: "the exec lock", together: true,
			edits: withoutStep("exec lock", "lockExec"),
			fails: []string{
				"native: execveat of a descriptor", "native: execveat of an absolute path", "native: execveat of the loader", "native: execveat from a thread",
			},
		},
		{
			layer: "mounts and a root that are read-only", together: true,
			edits: append(withoutStep("read-only", "sealRoot"),
				edit{mountSource, "unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID\n", "unix.MOUNT_ATTR_NOSUID\n"}),
			fails: []string{
				"mounts that are read-only", "a root that is read-only as a whole", "create in home", "create in the input", "native: create a file",
			},
		},
		{
			layer: "the gate, closed descriptors, a session, and who dies first", together: true,
			edits: slices.Concat(
				[]edit{{preloadSource, " || fs.readSync(0, gate, 0, 1, null) !== 1 || gate[0] !== 0x67", ""}},
				[]edit{{processSource, `	s.call("", unix.SYS_CLOSE_RANGE, lastFD+1, uintptr(^uint32(0)), 0)`, ""}}, withoutStep("session", "newSession"), withoutStep("oom", "setOOM")),
			fails: []string{
				"standard input is at its end", "no descriptor but its pipes and its own", "native: a descriptor besides the four pipes",
				"a session of its own, without a terminal", "the first to go when memory is short", "no memory in a core dump",
			},
		},
	}
}
