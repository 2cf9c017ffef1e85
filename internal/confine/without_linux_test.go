package confine

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withoutMark begins the name of a helper that is a daemon under somebody else's filter, which refuses it one call, as those of container
// managers do.
const withoutMark = "without "

// TestHostWithout takes from the daemon and the stage what one step needs. What the host check can know it says; the stage refuses by itself.
func TestHostWithout(t *testing.T) {
	s := newSlot(t, map[string]string{"program/main.cjs": `console.log('ran')`})
	i := instance(t, s.job(t, nodeClosure(t), "main.cjs"))
	measured := limitLines("20", "64")
	for _, row := range []struct{ call, host, control, stage string }{
		{"none", "", measured + admittedRecord, ""},
		{"setsid", "", "", "session: operation not permitted"},
		{"personality", "", "", "personality: operation not permitted"},
		{"mount_setattr", "", "", "private: operation not permitted"},
		{"fsopen", "", "", "tmpfs: fsopen: operation not permitted"},
		{"mkdirat", "", "", "root: /"},
		{"open_tree", "", "", "mounts: /"},
		{"fspick", "", "", "read-only: fspick: operation not permitted"},
		{"pivot_root", "", "", "pivot: pivot_root: operation not permitted"},
		{"umount2", "", "", "pivot: detach the old root: operation not permitted"},
		{"chdir", "", "", "directory: operation not permitted"},
		{"prlimit64", "the daemon's own hard limit of data is 0", "", "limits: core: operation not permitted"},
		{"setresuid", "", "", "credentials: setresuid: operation not permitted"},
		{"landlock_create_ruleset", "Landlock cannot be used: operation not permitted", "", "landlock: create ruleset: operation not permitted"},
		{"landlock_add_rule", "", "", "landlock: /"},
		{"landlock_restrict_self", "", "", "landlock: restrict: operation not permitted"},
		{"close_range", "", "", "descriptors: operation not permitted"},
		{"seccomp", "system call filters with a listener (SECCOMP_RET_USER_NOTIF) are not available", measured, "exec lock: install: operation not permitted"},
		{"sendmsg", "", measured, "exec lock: hand the listener over: operation not permitted"},
		{"execveat", "", measured, "filter: execveat: operation not permitted"},
	} {
		t.Run(row.call, func(t *testing.T) {
			got, err := helper(t, withoutMark+row.call, i).Output()
			host, rest, _ := strings.Cut(string(got), "\n")
			stage, found := strings.CutPrefix(rest, row.control)
			stage, refused := strings.CutPrefix(stage, "confined: ")
			if err != nil || !strings.HasPrefix(host, row.host) || (host == "") != (row.host == "") || !found ||
				!strings.HasPrefix(stage, row.stage) || refused != (row.stage != "") || strings.Contains(stage, "ran") {
				t.Errorf("%v: %q", err, got)
			}
		})
	}
}

// deprivable are the calls that a helper can be without.
var deprivable = map[string]uint32{
	"setsid": unix.SYS_SETSID, "personality": unix.SYS_PERSONALITY, "mount_setattr": unix.SYS_MOUNT_SETATTR, "fsopen": unix.SYS_FSOPEN,
	"mkdirat": unix.SYS_MKDIRAT, "open_tree": unix.SYS_OPEN_TREE, "fspick": unix.SYS_FSPICK, "pivot_root": unix.SYS_PIVOT_ROOT,
	"umount2": unix.SYS_UMOUNT2, "chdir": unix.SYS_CHDIR, "prlimit64": unix.SYS_PRLIMIT64, "setresuid": unix.SYS_SETRESUID,
	"landlock_create_ruleset": unix.SYS_LANDLOCK_CREATE_RULESET, "landlock_add_rule": unix.SYS_LANDLOCK_ADD_RULE,
	"landlock_restrict_self": unix.SYS_LANDLOCK_RESTRICT_SELF, "close_range": unix.SYS_CLOSE_RANGE, "seccomp": unix.SYS_SECCOMP,
	"execveat": unix.SYS_EXECVEAT, "sendmsg": unix.SYS_SENDMSG, "none": ^uint32(0),
}

// helpWithout prints what the host check says on one line, empty for nothing, and then what the stage wrote and what the program printed.
func helpWithout(l linuxLaunch, call string) error {
	number, known := deprivable[call]
	if !known {
		return fmt.Errorf("unknown call %q", call)
	}
	if err := filterAllThreads([]instruction{
		{code: opLoad, k: offsetNumber}, {code: opEqual, k: number, jf: 1},
		{code: opReturn, k: verdictErrno | uint32(unix.EPERM)}, {code: opReturn, k: verdictAllow}}, 0); err != nil {
		return err
	}
	if problem := hostProblem(); problem != nil {
		fmt.Print(problem)
	}
	fmt.Println()
	return helpControl(l)
}

// filterAllThreads puts a filter on the whole process, and on all that it starts.
func filterAllThreads(program []instruction, flags uintptr) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0]))}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		flags|unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH, uintptr(unsafe.Pointer(&filter)))
	return orNil(e)
}
