//go:build linux

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestLiveProcess looks at two programs from outside, while they run: what they
// are to the kernel, what they hold, and what they can see.
func TestLiveProcess(t *testing.T) {
	d := sloppyDaemon(t, withFlags("--workers=2"))
	first := d.live(t, d.script(t, waiting("first")), "first")
	second := d.live(t, d.script(t, waiting("second")), "second")
	files, aliases := d.runtimeFiles(t)
	for slot, run := range []*live{first, second} {
		v := view{t: t, d: d, pid: run.pid, slot: fmt.Sprintf("%s/slot-%d", d.root, slot), user: runUser(slot), files: files, aliases: aliases}
		v.hasNoPower()
		v.isAlone()
		v.isLimited(run.r)
		v.hasItsEnvironment()
		v.holdsItsPipes()
		v.seesItsRoot()
		v.hasItsMounts()
	}
	for _, space := range []string{"user", "mnt"} {
		if one, other := link(first.pid, "ns/"+space), link(second.pid, "ns/"+space); one == other {
			t.Errorf("both programs are in the %s namespace %s", space, one)
		}
	}
	first.release(t)
	second.release(t)
}

// view is one live program as the host sees it.
type view struct {
	t    *testing.T
	d    *daemon
	pid  int
	slot string
	user user

	files, aliases []string // paths of the runtime
}

func (v view) proc(name string) string {
	v.t.Helper()
	content, err := readText(fmt.Sprintf("/proc/%d/%s", v.pid, name))
	if err != nil {
		v.t.Fatal(err)
	}
	return content
}

func link(pid int, name string) string {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		return err.Error()
	}
	return to
}

// status is a line of /proc/PID/status, its fields joined by single spaces.
func (v view) status(name string) string {
	for line := range strings.Lines(v.proc("status")) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return "none"
}

func (v view) want(what, got, want string) {
	v.t.Helper()
	if got != want {
		v.t.Errorf("%s of %s is %q, want %q", what, filepath.Base(v.slot), got, want)
	}
}

// hasNoPower: no capability nor a way to one, a filter, and a user of its own.
func (v view) hasNoPower() {
	v.t.Helper()
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		v.want(set, v.status(set), "0000000000000000")
	}
	v.want("NoNewPrivs", v.status("NoNewPrivs"), "1")
	v.want("Seccomp", v.status("Seccomp"), "2")
	uid, gid := strconv.Itoa(v.user.uid), strconv.Itoa(v.user.gid)
	v.want("Uid", v.status("Uid"), strings.Join([]string{uid, uid, uid, uid}, " "))
	v.want("Gid", v.status("Gid"), strings.Join([]string{gid, gid, gid, gid}, " "))
	if us().uid == 0 {
		v.want("Groups", v.status("Groups"), "")
	}
	if v.user.uid == 0 {
		v.t.Error("the program belongs to root")
	}
	v.want("uid_map", strings.Join(strings.Fields(v.proc("uid_map"))[:3], " "), "65534 "+uid+" 1")
	v.want("the blocked signals", v.status("SigBlk"), "0000000000000000")
	v.want("the ignored signals", v.status("SigIgn"), "0000000001001000") // SIGPIPE and SIGXFSZ, by Node itself
}

// isAlone: the daemon's child, in namespaces and a session of its own, childless.
func (v view) isAlone() {
	v.t.Helper()
	v.want("the parent", v.status("PPid"), strconv.Itoa(v.d.cmd.Process.Pid))
	if children := childrenOf(v.pid); len(children) > 0 {
		v.t.Errorf("it has children: %v", children)
	}
	for _, space := range []string{"user", "mnt"} {
		if own := link(v.pid, "ns/"+space); own == link(v.d.cmd.Process.Pid, "ns/"+space) || own == link(os.Getpid(), "ns/"+space) {
			v.t.Errorf("its %s namespace is the host's", space)
		}
	}
	stat := v.proc("stat")
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	v.want("process group, session and terminal", strings.Join(fields[2:5], " "), fmt.Sprintf("%d %d 0", v.pid, v.pid))
	v.want("oom_score_adj", strings.TrimSpace(v.proc("oom_score_adj")), "1000")
	v.want("coredump_filter", strings.TrimSpace(v.proc("coredump_filter")), "00000000")
	if !sameFile(fmt.Sprintf("/proc/%d/exe", v.pid), shared.node) {
		v.t.Error("it does not run the pinned Node.js")
	}
}

func sameFile(one, other string) bool {
	a, err1 := os.Stat(one)
	b, err2 := os.Stat(other)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// isLimited: the limits that were asked for, and those of the profile.
func (v view) isLimited(r runRequest) {
	v.t.Helper()
	limits := map[string]string{}
	for line := range strings.Lines(v.proc("limits")) {
		limits[strings.TrimSpace(line[:min(26, len(line))])] = strings.Join(strings.Fields(line[min(26, len(line)):]), " ")
	}
	for name, want := range map[string]string{
		"Max cpu time":        fmt.Sprintf("%d %d seconds", r.cpuSeconds, r.cpuSeconds),
		"Max open files":      fmt.Sprintf("%d %d files", r.maxDescriptors, r.maxDescriptors),
		"Max file size":       "0 0 bytes",
		"Max core file size":  "0 0 bytes",
		"Max data size":       "4294967296 4294967296 bytes",
		"Max processes":       "128 128 processes",
		"Max locked memory":   "0 0 bytes",
		"Max msgqueue size":   "0 0 bytes",
		"Max pending signals": "128 128 signals",
	} {
		v.want(name, limits[name], want)
	}
}

// hasItsEnvironment: exactly five variables, whatever the daemon's are.
func (v view) hasItsEnvironment() {
	v.t.Helper()
	got := strings.Split(strings.TrimSuffix(v.proc("environ"), "\x00"), "\x00")
	slices.Sort(got)
	want := []string{"HOME=" + v.slot + "/home", "LC_ALL=C", "OPENSSL_CONF=/dev/null", "TMPDIR=" + v.slot + "/home", "TZ=UTC"}
	v.want("environment", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// holdsItsPipes: three descriptors from outside, and what Node made for itself.
func (v view) holdsItsPipes() {
	v.t.Helper()
	theirs := map[string]int{}
	for fd, to := range v.descriptors(v.pid) {
		switch {
		case fd <= 2 && !strings.HasPrefix(to, "pipe:"):
			v.t.Errorf("descriptor %d is %s, want a pipe", fd, to)
		case strings.HasPrefix(to, "pipe:"):
			theirs[to] = fd
		case to != "anon_inode:[eventpoll]" && to != "anon_inode:[eventfd]":
			v.t.Errorf("descriptor %d is %s", fd, to)
		}
	}
	for fd, to := range v.descriptors(v.d.cmd.Process.Pid) {
		if their, common := theirs[to]; common && their != 1 && their != 2 {
			v.t.Errorf("its descriptor %d is %s, which is the daemon's %d", their, to, fd)
		}
	}
}

func (v view) descriptors(pid int) map[int]string {
	v.t.Helper()
	open := map[int]string{}
	for _, name := range names(v.t, fmt.Sprintf("/proc/%d/fd", pid)) {
		if fd, err := strconv.Atoi(name); err == nil {
			open[fd] = link(pid, "fd/"+name)
		}
	}
	return open
}

// runtimeFiles are the paths of the pinned runtime.
func (d *daemon) runtimeFiles(t testing.TB) (files, aliases []string) {
	t.Helper()
	r := decode[struct{ Files, Aliases []struct{ Path string } }](t, d.get(t, "/v1/runtime").body)
	for _, f := range r.Files {
		files = append(files, f.Path)
	}
	for _, a := range r.Aliases {
		aliases = append(aliases, a.Path)
	}
	return files, aliases
}

// mounted is what is brought into the private root from outside.
func (v view) mounted() []string {
	return append(slices.Clone(v.files), v.slot+"/program", v.slot+"/input", v.slot+"/canary", "/dev/null", "/proc/cpuinfo", "/proc/stat", "/proc/meminfo",
		"/proc/self/stat", "/proc/self/statm", "/proc/self/status", "/proc/self/maps")
}

// seesItsRoot: the whole tree under its root is what the profile names.
func (v view) seesItsRoot() {
	v.t.Helper()
	want := slices.Concat(v.mounted(), v.aliases, []string{v.slot + "/home", v.slot + "/preload.cjs", "/proc/self/exe", "/proc/self/cgroup"})
	root := fmt.Sprintf("/proc/%d/root", v.pid)
	var got []string
	err := filepath.WalkDir(root+"/", func(path string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(path, root)
		leaf := slices.Contains(want, inside)
		if leaf || err != nil || !e.IsDir() {
			got = append(got, inside)
		}
		if leaf && e.IsDir() {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		v.t.Error(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	v.want("the tree", strings.Join(got, "\n"), strings.Join(want, "\n"))
	for name, there := range map[string]string{"cwd": v.slot + "/input", "root" + v.slot + "/program": v.slot + "/program", "root" + v.slot + "/canary": v.slot + "/canary"} {
		if !sameFile(fmt.Sprintf("/proc/%d/%s", v.pid, name), there) {
			v.t.Errorf("its %s is not %s", name, there)
		}
	}
	if left := names(v.t, root+v.slot+"/home"); len(left) > 0 {
		v.t.Errorf("its home holds %v", left)
	}
}

// hasItsMounts: those and no others, each read-only and without set-user-id.
func (v view) hasItsMounts() {
	v.t.Helper()
	want, got := append(v.mounted(), "/"), []string(nil)
	data := []string{v.slot + "/program", v.slot + "/input", v.slot + "/canary", "/"}
	for line := range strings.Lines(v.proc("mountinfo")) {
		fields := strings.Fields(line)
		at, options := fields[4], strings.Split(fields[5], ",")
		got = append(got, at)
		needs := []string{"ro", "nosuid"}
		if slices.Contains(data, at) {
			needs = append(needs, "noexec", "nodev")
		}
		for _, need := range needs {
			if !slices.Contains(options, need) {
				v.t.Errorf("the mount at %s is not %s: %v", at, need, options)
			}
		}
		if at == "/" && !strings.Contains(line[strings.Index(line, " - "):], " ro,") {
			v.t.Errorf("the root's file system is not read-only: %s", line)
		}
		if strings.Contains(line, "shared:") || strings.Contains(line, "master:") {
			v.t.Errorf("mounts pass through %s", at)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	v.want("the mounts", strings.Join(got, "\n"), strings.Join(want, "\n"))
	var st syscall.Statfs_t
	if err := syscall.Statfs(fmt.Sprintf("/proc/%d/root", v.pid), &st); err != nil || st.Flags&1 == 0 {
		v.t.Errorf("the root is writable: flags %#x, %v", st.Flags, err)
	}
}
