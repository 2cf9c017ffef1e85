package prove

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// macFaults are what of a table for macOS cannot be right, for a fixture's world with those keys.
func macFaults(table []Probe, world map[string]bool) (wrong []string) {
	key := regexp.MustCompile(`\bw\.(\w+)(?:\.(\w+))?`)
	names := map[string]bool{}
	for _, p := range table {
		names[p.Name] = true
	}
	for _, p := range table {
		say := func(what string) { wrong = append(wrong, p.Name+": "+what) }
		if p.Only == "linux" || p.MacCode == Unpromised {
			say("it is Linux's")
		}
		if told := p.CodeOn("darwin"); !p.Allowed() && p.Kind != Look && (told == "" || !names[p.Twin]) {
			say("no code or no twin")
		}
		if regexp.MustCompile(`/proc\b|/dev/shm|abstract`).MatchString(p.Act + p.Evidence.Text + p.Instead) {
			say("it names what only Linux has")
		}
		if p.Kind != JavaScript {
			continue
		}
		for _, m := range key.FindAllStringSubmatch(p.Act, -1) {
			inner := m[1] == "ports" || m[1] == "names" || m[1] == "victims"
			if !world[m[1]] && !(inner && world[m[1]+"."+m[2]]) {
				say("the world has no " + m[0])
			}
		}
	}
	return wrong
}

// TestMacTable: what is expected of macOS can be tried there.
func TestMacTable(t *testing.T) {
	world := map[string]bool{}
	for _, key := range strings.Fields(`slot program input home own outside hollow marker secret symlink hardlink alias module preload settings database foreign tmp volume
		unix daemonSocket web udp resolver tcp4 tls http2 tcp6 daemon root ledger held
		ports.listen4 ports.listen6 ports.bind ports.inspect names.path victims.killed victims.grouped victims.stopped victims.reniced victims.read`) {
		world[key] = true
	}
	table := ProbesOn("darwin", "arm64")
	for _, wrong := range macFaults(table, world) {
		t.Error(wrong)
	}
	control := append(slices.Clone(table), Probe{Name: "x", Kind: JavaScript, Act: "w.abstract; w.victims.tkilled; '/proc/1'", Code: "EPERM", Only: "linux", Twin: "none"})
	if got := macFaults(control, world); len(got) != 5 {
		t.Errorf("of a row of Linux it is said %q", got)
	}
	for _, p := range table {
		if p.Kind == Look && p.Evidence.look == nil || p.Kind != Look && p.Evidence.tool != "" {
			t.Errorf("%s: its evidence is not for its kind", p.Name)
		}
	}
	for _, p := range ProbesOn("linux", "amd64") {
		if p.MacCode == Unpromised && p.Only != "linux" {
			t.Errorf("%s: not promised, and yet tried", p.Name)
		}
	}
}

// TestMacLooksCanFail: none of them finds a process that does not exist as strong as a run; that of the closure, none without otool.
func TestMacLooksCanFail(t *testing.T) {
	v := view{pid: 1 << 30, slot: "/nowhere", user: user{12345, 12345}}
	v.runtime.Node = "/nowhere/node"
	for _, p := range macLooks() {
		if found, weak := p.Evidence.look(&v); !weak {
			t.Errorf("%s: a process that does not exist passes with %q", p.Name, found)
		}
	}
	want := []string{"TZ=UTC", "HOME=/nowhere/home", "LC_ALL=C", "OPENSSL_CONF=/dev/null", "TMPDIR=/nowhere/home"}
	if found, weak := v.judgeEnvironment(want); weak {
		t.Errorf("the five are taken for more: %s", found)
	}
	if found, weak := v.judgeEnvironment(append(want, "SECRET=x")); !weak {
		t.Errorf("a sixth passes: %s", found)
	}
}

// TestMissingTool: a look that needs a program of the host is not taken without it, and stays untried.
func TestMissingTool(t *testing.T) {
	node := &subject{kind: JavaScript}
	if p := (Probe{Kind: Look}); !node.does(p) {
		t.Error("a look that needs nothing is not taken")
	}
	if p := (Probe{Kind: Look, Evidence: Evidence{tool: "/nowhere/lsof"}}); node.does(p) {
		t.Error("a look is taken with a program that is not there")
	}
}

func TestMeets(t *testing.T) {
	for _, row := range []struct {
		want, told string
		meets      bool
	}{{"EPERM", "EPERM", true}, {"EPERM or ESRCH", "ESRCH", true}, {"EPERM or ESRCH", "EPERM or ESRCH", false}, {"EPERM or ESRCH", "", false}, {"EPERM", "EACCES", false}, {"", "", true}} {
		if got := meets(row.want, row.told); got != row.meets {
			t.Errorf("%q told %q: %v", row.want, row.told, got)
		}
	}
}

// TestMacAlone: what has no control on macOS alone has one on Linux.
func TestMacAlone(t *testing.T) {
	on := func(goos, arch string) Probe {
		table := ProbesOn(goos, arch)
		return table[slices.IndexFunc(table, func(p Probe) bool { return p.Name == nativeName("native code of the input") })]
	}
	if linux, mac := on("linux", "amd64"), on("darwin", "arm64"); linux.NoControl != "" || mac.NoControl == "" {
		t.Errorf("%q, %q", linux.NoControl, mac.NoControl)
	}
}

// TestMacMakesNothingThatStays: on macOS no row makes what only a call that the boundary denies would remove.
func TestMacMakesNothingThatStays(t *testing.T) {
	makes := func(p Probe) bool { return slices.Contains([]string{"shared_memory", "semaphores", "messages"}, p.Act) }
	if table := ProbesOn("darwin", "arm64"); slices.ContainsFunc(table, makes) {
		t.Error("an object of System V stays until the Mac starts again")
	}
	if !slices.ContainsFunc(ProbesOn("linux", "amd64"), makes) {
		t.Error("Linux has no such row either")
	}
}

// TestMacWords: flags, limits and cures of one system are not the other's.
func TestMacWords(t *testing.T) {
	if got := mostSoft("darwin", syscall.RLIMIT_NOFILE, 1<<62); got != 10240 {
		t.Errorf("open files: %d", got)
	}
	for _, same := range []uint64{mostSoft("darwin", syscall.RLIMIT_NOFILE, 300), mostSoft("linux", syscall.RLIMIT_NOFILE, 300), mostSoft("darwin", syscall.RLIMIT_CPU, 300)} {
		if same != 300 {
			t.Errorf("a hard limit of 300 is taken for %d", same)
		}
	}
	if mac, linux := CompilerCure("darwin"), CompilerCure("linux"); !strings.Contains(mac, "xcode-select --install") || strings.Contains(mac, "gcc") || !strings.Contains(linux, "gcc libc6-dev") {
		t.Errorf("%q, %q", mac, linux)
	}
	if mac, linux := sharedFlags("darwin"), sharedFlags("linux"); slices.Contains(mac, "-shared") || !slices.Contains(linux, "-shared") {
		t.Errorf("%q, %q on %s", mac, linux, runtime.GOOS)
	}
}
