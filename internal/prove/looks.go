package prove

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"confined/internal/confine"
)

// looks are what the host sees of a live program, before it acts: what it is to the kernel, what it holds, and what it can see.
func looks() []Probe {
	const same = "the unconfined process is no different, on purpose: it shows what the boundary alone does"
	table := slices.Concat(powerLooks(same), placeLooks(same), limitLooks(), rootLooks(), []Probe{
		{Name: "exactly five environment variables", Evidence: Evidence{Text: "/proc/PID/environ", look: environment}},
		{Name: "no descriptor but its pipes and its own", Evidence: Evidence{Text: "/proc/PID/fd", look: descriptors}},
	})
	for i := range table {
		table[i].Kind, table[i].Only = Look, "linux"
	}
	return family("The live process", "", "", table)
}

// is looks at a line that must have one value.
func is(text string, get func(*view) string, want func(*view) string) Evidence {
	return Evidence{Text: text, look: func(v *view) (string, bool) {
		found := get(v)
		return found, found != want(v)
	}}
}

func status(name, want string) Evidence {
	return is(name+" in /proc/PID/status", func(v *view) string { return v.status(name) }, func(*view) string { return want })
}

// inheriting marks evidence of what a parent may hand on.
func inheriting(e Evidence) Evidence {
	e.inherited = true
	return e
}

func fourTimes(id int) string {
	return strings.TrimPrefix(strings.Repeat(" "+strconv.Itoa(id), 4), " ")
}

// powerLooks: no capability nor a way to one, a filter, and a user of its own.
func powerLooks(same string) []Probe {
	const nothing = "0000000000000000"
	ordinary := "an ordinary user's process has none either"
	return []Probe{
		{Name: "no inheritable capability", NoControl: ordinary, Evidence: status("CapInh", nothing)},
		{Name: "no permitted capability", NoControl: ordinary, Evidence: status("CapPrm", nothing)},
		{Name: "no effective capability", NoControl: ordinary, Evidence: status("CapEff", nothing)},
		{Name: "no capability to be had", Evidence: inheriting(status("CapBnd", nothing))},
		{Name: "no ambient capability", NoControl: ordinary, Evidence: status("CapAmb", nothing)},
		{Name: "no new privileges", Evidence: inheriting(status("NoNewPrivs", "1"))},
		{Name: "a system call filter", Evidence: inheriting(status("Seccomp", "2"))},
		{Name: "a user that is not root", NoControl: same, Evidence: Evidence{Text: "Uid in /proc/PID/status", look: func(v *view) (string, bool) {
			found := v.status("Uid")
			return found, v.user.uid == 0 || found != fourTimes(v.user.uid)
		}}},
		{Name: "a group that is not root's", NoControl: same, Evidence: Evidence{Text: "Gid in /proc/PID/status", look: func(v *view) (string, bool) {
			found := v.status("Gid")
			return found, v.user.uid == 0 || found != fourTimes(v.user.gid)
		}}},
		{Name: "no supplementary group of root's", NoControl: same, Evidence: Evidence{Text: "Groups in /proc/PID/status; an ordinary user's run keeps that user's groups, with nothing in sight that they open",
			look: func(v *view) (string, bool) {
				found := v.status("Groups")
				return found, os.Geteuid() == 0 && found != ""
			}}},
		{Name: "a user namespace of its own", Evidence: Evidence{Text: "/proc/PID/uid_map", look: func(v *view) (string, bool) {
			found := strings.Join(strings.Fields(v.proc("uid_map")), " ")
			return found, !strings.HasPrefix(found+" ", fmt.Sprintf("65534 %d 1 ", v.user.uid))
		}}},
		{Name: "no blocked signal", NoControl: same, Evidence: status("SigBlk", nothing)},
		{Name: "no ignored signal but Node's own", NoControl: "Node itself undoes what its parent ignores", Evidence: status("SigIgn", "0000000001001000")}, // SIGPIPE and SIGXFSZ
	}
}

// placeLooks: the daemon's child, in namespaces and a session of its own, childless.
func placeLooks(same string) []Probe {
	return []Probe{
		{Name: "the daemon is its parent", NoControl: same, Evidence: is("PPid in /proc/PID/status", func(v *view) string { return v.status("PPid") }, func(*view) string { return strconv.Itoa(os.Getpid()) })},
		{Name: "no child", NoControl: same, Evidence: is("/proc/PID/task/*/children", children, func(*view) string { return "" })},
		{Name: "user and mount namespaces of its own", Evidence: Evidence{Text: "/proc/PID/ns against that of the daemon", look: func(v *view) (string, bool) { return v.shares(os.Getpid()) }}},
		{Name: "no namespace of another run", NoControl: "an unconfined process is in no run's namespaces", Evidence: Evidence{Text: "/proc/PID/ns against that of another run", look: func(v *view) (string, bool) { return v.shares(v.other) }}},
		{Name: "a session of its own, without a terminal", Evidence: is("process group, session and terminal in /proc/PID/stat", session, func(v *view) string { return fmt.Sprintf("%d %d 0", v.pid, v.pid) })},
		{Name: "the first to go when memory is short", Evidence: inheriting(file("oom_score_adj", "1000"))},
		{Name: "no memory in a core dump", Evidence: inheriting(file("coredump_filter", "00000000"))},
		{Name: "an executable that keeps no time of reading", NoControl: "outside each file system has a rule of its own", Evidence: Evidence{Text: "the access time of /proc/PID/exe before and after a reading", look: unmarked}},
		{Name: "the pinned executable", NoControl: same, Evidence: Evidence{Text: "where /proc/PID/exe leads, and the SHA-256 of what is there against the pin", look: executable}},
	}
}

// unmarked reads what all runs execute: a time that it left would be seen by all.
func unmarked(v *view) (found string, weak bool) {
	path := fmt.Sprintf("/proc/%d/exe", v.pid)
	var before, after unix.Stat_t
	err := unix.Stat(path, &before)
	if err == nil {
		_, err = os.ReadFile(path)
	}
	if err == nil {
		err = unix.Stat(path, &after)
	}
	if err != nil {
		return err.Error(), true
	}
	return "it is the same", before.Atim != after.Atim
}

func executable(v *view) (found string, weak bool) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/exe", v.pid))
	if err != nil {
		return err.Error(), true
	}
	where := v.runtime.Node
	if v.sealed {
		where = confine.ImagePath
	}
	found = v.link("exe")
	return found, found != where || fmt.Sprintf("%x", sha256.Sum256(content)) != v.runtime.NodeSHA256()
}

func file(name, want string) Evidence {
	return is("/proc/PID/"+name, func(v *view) string { return strings.TrimSpace(v.proc(name)) }, func(*view) string { return want })
}

func children(v *view) string {
	var all strings.Builder
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", v.pid))
	if err != nil {
		return err.Error()
	}
	for _, task := range tasks {
		all.WriteString(v.proc("task/" + task.Name() + "/children"))
	}
	return all.String()
}

// shares says whether the process has a namespace in common with another.
func (v *view) shares(other int) (found string, weak bool) {
	var all []string
	for _, space := range []string{"ns/user", "ns/mnt"} {
		own := v.link(space)
		all = append(all, own)
		weak = weak || own == linkOf(other, space) || !strings.Contains(own, ":[")
	}
	return strings.Join(all, " "), weak
}

func session(v *view) string {
	fields := statOf(v.pid)
	if len(fields) < 5 {
		return "no such process"
	}
	return strings.Join(fields[2:5], " ")
}

// limitLooks: the limits that were asked for, and those of the profile.
func limitLooks() []Probe {
	var table []Probe
	for _, l := range []struct{ name, line, want string }{
		{"processor time", "Max cpu time", fmt.Sprintf("%d %d seconds", bounds.CPUSeconds, bounds.CPUSeconds)},
		{"descriptors", "Max open files", fmt.Sprintf("%d %d files", bounds.MaxDescriptors, bounds.MaxDescriptors)},
		{"file size", "Max file size", "0 0 bytes"},
		{"core files", "Max core file size", "0 0 bytes"},
		{"private memory", "Max data size", "4294967296 4294967296 bytes"},
		{"the stack", "Max stack size", "8388608 8388608 bytes"},
		{"threads", "Max processes", "128 128 processes"},
		{"locked memory", "Max locked memory", "0 0 bytes"},
		{"message queues", "Max msgqueue size", "0 0 bytes"},
		{"pending signals", "Max pending signals", "128 128 signals"},
	} {
		table = append(table, Probe{Name: "a limit on " + l.name, Evidence: inheriting(
			is(`"`+l.line+`" in /proc/PID/limits`, func(v *view) string { return v.limit(l.line) }, func(*view) string { return l.want }))})
	}
	return table
}

// environment: exactly five variables, whatever the daemon's are.
func environment(v *view) (found string, weak bool) {
	return v.judgeEnvironment(strings.Split(strings.TrimSuffix(v.proc("environ"), "\x00"), "\x00"))
}

// judgeEnvironment says the names of variables, and whether they are any but the five.
func (v *view) judgeEnvironment(got []string) (found string, weak bool) {
	slices.Sort(got)
	want := []string{"HOME=" + v.slot + "/home", "LC_ALL=C", "OPENSSL_CONF=/dev/null", "TMPDIR=" + v.slot + "/home", "TZ=UTC"}
	var names []string
	for _, variable := range got {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	return strings.Join(names, " "), !slices.Equal(got, want)
}

// descriptors: three pipes from outside, and what Node made for itself, /dev/null included; of the daemon's pipes only those of its output.
func descriptors(v *view) (found string, weak bool) {
	theirs := slices.Collect(maps.Values(descriptorsOf(os.Getpid())))
	kinds := map[string]int{}
	for fd, to := range descriptorsOf(v.pid) {
		kind, _, _ := strings.Cut(to, ":")
		switch {
		case kind == "pipe":
			weak = weak || slices.Contains(theirs, to) && fd != 1 && fd != 2
		case fd <= 2 || !slices.Contains([]string{"anon_inode:[eventpoll]", "anon_inode:[eventfd]", "/dev/null"}, to):
			weak = true
		}
		kinds[kind]++
	}
	if len(kinds) == 0 {
		return "none can be seen", true
	}
	return fmt.Sprint(kinds), weak
}
