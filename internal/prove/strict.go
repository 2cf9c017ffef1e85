package prove

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// asStrict is why a row has no control where what started the suite has left it no more than the boundary leaves a run.
const asStrict = "what started this suite is as strict itself"

// beOrdinary gives this process, and so whatever it starts, what an ordinary one has, as far as it may: a umask that lets others read, and each
// soft limit as high as the hard one. Those on the stack and on core files stay: to raise them would lay memory out anew, and leave files.
func beOrdinary(undo *cleanup) {
	umask := syscall.Umask(0o022)
	undo.later(func() { syscall.Umask(umask) })
	const kinds = 16 // numbers of limits; a system that has fewer refuses the rest
	for kind := range kinds {
		var was syscall.Rlimit
		if kind == syscall.RLIMIT_STACK || kind == syscall.RLIMIT_CORE || syscall.Getrlimit(kind, &was) != nil {
			continue
		}
		// Also where nothing seems to change: Go raises its own limit on descriptors alone, and hands on the old one until it is set.
		raised := syscall.Rlimit{Cur: mostSoft(runtime.GOOS, kind, was.Max), Max: was.Max}
		if syscall.Setrlimit(kind, &raised) == nil {
			undo.later(func() { _ = syscall.Setrlimit(kind, &was) })
		}
	}
}

// mostSoft is the highest soft limit of a kind below a hard one. macOS takes none of open files above OPEN_MAX, 10240, so that to raise it all the way
// would fail, and leave the old one.
func mostSoft(goos string, kind int, hard uint64) uint64 {
	if goos == "darwin" && kind == syscall.RLIMIT_NOFILE {
		return min(hard, 10240)
	}
	return hard
}

// room is what a row needs that a hard limit may not leave.
type room struct {
	line  string // of /proc/PID/limits
	needs uint64
	row   string
}

func rooms() []room {
	all := []room{
		{"Max open files", 720, nativeName("700 descriptors")},
		{"Max locked memory", 64 << 10, nativeName("mlock")},
		{"Max locked memory", 64 << 10, nativeName("mlock2")},
		{"Max locked memory", 64 << 10, nativeName("MAP_LOCKED")},
		{"Max msgqueue size", 128 << 10, nativeName("mq_open")},
		{"Max pending signals", 400, nativeName("300 waiting signals")},
		{"Max pending signals", 200, nativeName("100 waiting signals")},
	}
	for _, row := range []string{"5 GiB", "5 GiB, made writable later", "5 GiB over a file", "5 GiB, grown", "5 GiB that the kernel may drop"} {
		all = append(all, room{"Max data size", 6 << 30, nativeName(row)}, room{"Max address space", 6 << 30, nativeName(row)})
	}
	return all
}

// strictRows are the rows whose control cannot be done here, and why: what may not be done by this process may not by what it starts.
func strictRows() map[string]string {
	self := &view{pid: os.Getpid()}
	var rows []string
	for _, r := range rooms() {
		if self.most(r.line) < r.needs {
			rows = append(rows, r.row)
		}
	}
	bounds := boundsByLook()
	for _, look := range limitLooks() {
		if _, weak := look.Evidence.look(self); !weak && bounds[look.Name] != "" {
			rows = append(rows, bounds[look.Name])
		}
	}
	if nice(self.pid) == lowestPriority {
		rows = append(rows, priorityRows()...)
	}
	if fields := statOf(self.pid); len(fields) > policyField && fields[policyField] != ordinaryPolicy {
		rows = append(rows, policyRows()...)
	}
	strict := map[string]string{}
	for _, row := range rows {
		strict[row] = asStrict
	}
	return strict
}

// ordinaryPolicy is SCHED_OTHER. From another one not every change is allowed, or is one.
const ordinaryPolicy = "0"

func policyRows() []string {
	return []string{nativeName("sched_setscheduler of another"), nativeName("sched_setattr of another"), nativeName("one's own scheduler")}
}

// lowestPriority is what a process of whatever priority may be given, and what acts give.
const lowestPriority = "19"

func priorityRows() []string {
	return []string{"another's priority", "one's own priority", nativeName("another's priority")}
}

// boundsByLook are the native rows about a limit in force, by the look at the same limit.
func boundsByLook() map[string]string {
	rows := map[string]string{}
	for look, row := range map[string]string{
		"processor time": "other processor time than asked for", "descriptors": "other descriptors than asked for", "file size": "a file of any size",
		"private memory": "other than 4 GiB of data", "the stack": "other than 8 MiB of stack", "threads": "other than 128 threads",
		"locked memory": "locked memory", "message queues": "message queues", "pending signals": "other than 128 waiting signals",
	} {
		rows["a limit on "+look] = nativeName(row)
	}
	return rows
}

// most is the hard limit that /proc/PID/limits gives a name; what is not there, or no number, is no limit.
func (v *view) most(name string) uint64 {
	fields := strings.Fields(v.limit(name))
	if len(fields) < 2 {
		return math.MaxUint64
	}
	n, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return math.MaxUint64
	}
	return n
}
