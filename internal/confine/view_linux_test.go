package confine

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHostView looks at an admitted process from outside.
func TestHostView(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ready'); setInterval(() => {}, 1000)`})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	r := start(t, i).open(GoByte)
	if got := line(t, r.Stdout); got != "ready" {
		t.Fatal(got)
	}
	checkStatus(t, r.PID)
	checkMounts(t, r.PID, i, s)
	for file, want := range map[string]string{"oom_score_adj": "1000", "coredump_filter": "00000000"} {
		if got, err := readWord(fmt.Sprintf("/proc/%d/%s", r.PID, file)); err != nil || got != want {
			t.Errorf("%s %q, want %q", file, got, want)
		}
	}
	checkLimits(t, r.PID)
	session, err := unix.Getsid(r.PID)
	if err != nil || session != r.PID {
		t.Errorf("session %d, %v: not its own", session, err)
	}
	must(t, r.Kill())
	if o := r.finish(t); o.status().Signal() != syscall.SIGKILL {
		t.Errorf("%+v", o)
	}
	if err := r.Kill(); err != os.ErrProcessDone {
		t.Errorf("kill after the end: %v", err)
	}
}

func checkStatus(t *testing.T, pid int) {
	t.Helper()
	uid, gid := outerID(0)
	want := map[string]string{"NoNewPrivs": "1", "Seccomp": "2", "SigBlk": "0000000000000000", "Groups": ""}
	if os.Geteuid() != 0 {
		delete(want, "Groups") // an ordinary user cannot give up groups
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		want[set] = "0000000000000000"
	}
	for name, id := range map[string]int{"Uid": uid, "Gid": gid} {
		want[name] = strings.TrimSuffix(strings.Repeat(strconv.Itoa(id)+"\t", 4), "\t")
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if expected, ok := want[name]; ok && strings.TrimSpace(value) != expected {
			t.Errorf("%s is %q, want %q", name, strings.TrimSpace(value), expected)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("status has no %v", want)
	}
}

func checkLimits(t *testing.T, pid int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	must(t, err)
	for name, want := range map[string]string{"Max cpu time": "20", "Max open files": "64", "Max core file size": "0", "Max file size": "0", "Max processes": "128",
		"Max data size": "4294967296", "Max stack size": "8388608", "Max locked memory": "0", "Max msgqueue size": "0", "Max pending signals": "128"} {
		if !regexp.MustCompile(`(?m)^` + name + ` +` + want + ` +` + want + ` `).Match(text) {
			t.Errorf("%s is not %s:\n%s", name, want, text)
		}
	}
}

// checkMounts compares the process's mount table, line by line, with the profile.
func checkMounts(t *testing.T, pid int, l linuxLaunch, s slot) {
	t.Helper()
	p, err := parseProfile(l.text)
	must(t, err)
	plan, err := planRoot(p.entries)
	must(t, err)
	want := map[string]string{"/": "ro,nosuid,nodev,noexec"}
	for _, m := range plan.mounts {
		options := "ro,nosuid"
		if !m.device {
			options += ",nodev"
		}
		if !m.executable {
			options += ",noexec"
		}
		want[m.path] = options
	}
	got := map[string]string{}
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	must(t, err)
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		options := slices.DeleteFunc(strings.Split(f[5], ","), func(o string) bool { return o == "relatime" || o == "noatime" })
		got[f[4]] = strings.Join(options, ",")
		if f[4] == "/" && (f[7] != "-" && f[6] != "-" || !strings.Contains(line, " - tmpfs ") || !strings.Contains(f[len(f)-1], "ro")) {
			t.Errorf("the root is no private, read-only tmpfs: %s", line)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("mounts %v\nwant   %v", got, want)
	}
}
