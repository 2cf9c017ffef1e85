package confine

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

// interpret runs a program on one call as the kernel would.
func interpret(t *testing.T, program []instruction, arch, number uint32, arguments [6]uint64) uint32 {
	t.Helper()
	load := func(offset uint32) uint32 {
		switch {
		case offset == offsetNumber:
			return number
		case offset == offsetArchitecture:
			return arch
		case offset >= offsetArguments && offset < offsetArguments+48 && offset%4 == 0:
			i := (offset - offsetArguments) / 4
			return uint32(arguments[i/2] >> (32 * (i % 2)))
		}
		t.Fatalf("load from %d", offset)
		return 0
	}
	var accumulator uint32
	for at := 0; at < len(program); at++ {
		switch in := program[at]; in.code {
		case opLoad:
			accumulator = load(in.k)
		case opAnd:
			accumulator &= in.k
		case opEqual:
			if accumulator == in.k {
				at += int(in.jt)
			} else {
				at += int(in.jf)
			}
		case opReturn:
			return in.k
		default:
			t.Fatalf("unknown instruction %+v", in)
		}
	}
	t.Fatal("the program ends without a verdict")
	return 0
}

const (
	testSelf = 4242
	eperm    = verdictErrno | 1
	einval   = verdictErrno | 22
	enotty   = verdictErrno | 25
	enosys   = verdictErrno | 38
	answer0  = verdictErrno
)

func compiled(t *testing.T, a architecture) []instruction {
	t.Helper()
	p, err := parseProfile(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	program, err := p.filter.compile(a, testSelf)
	if err != nil {
		t.Fatal(err)
	}
	if len(program) > 4096 {
		t.Fatalf("%d instructions, the kernel takes 4096", len(program))
	}
	return program
}

// always are the calls allowed whatever their arguments, written down a second time.
const always = "read write open close stat fstat lstat poll lseek mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn pread64 readv writev " +
	"access sched_yield mremap dup dup2 nanosleep getpid exit uname getcwd chdir readlink umask gettimeofday getrusage sysinfo getuid getgid geteuid getegid " +
	"getppid getgroups sigaltstack gettid time getdents64 set_tid_address restart_syscall epoll_wait epoll_ctl exit_group openat newfstatat readlinkat " +
	"faccessat ppoll set_robust_list epoll_pwait eventfd2 epoll_create1 dup3 preadv getrandom statx rseq pkey_mprotect pkey_alloc pkey_free faccessat2"

// withoutArguments are the verdicts when every argument is zero, where that is neither allowed nor EPERM.
func withoutArguments() map[string]uint32 {
	return map[string]uint32{
		"clone3": enosys, "openat2": enosys, "io_uring_setup": enosys, "sched_getparam": answer0, "sched_getscheduler": answer0, "execveat": verdictAllow, // by this filter: see TestExecLock
		"futex": verdictAllow, "getpriority": verdictAllow, "sched_getaffinity": verdictAllow, "prlimit64": verdictAllow,
		"clock_gettime": verdictAllow, "clock_getres": verdictAllow, "clock_nanosleep": verdictAllow, "mmap": verdictAllow, "madvise": verdictAllow,
		"membarrier": verdictAllow, "ioctl": enotty, "fcntl": verdictAllow, "pipe2": verdictAllow, "arch_prctl": einval,
	}
}

// TestFilterEveryNumber asks for each call that exists, each number up to 479 that does not, and each with the x32 bit.
func TestFilterEveryNumber(t *testing.T) {
	for _, a := range []architecture{amd64, arm64} {
		program := compiled(t, a)
		want := map[uint32]uint32{}
		for _, name := range strings.Fields(always) {
			setVerdict(t, want, a, name, verdictAllow)
		}
		for name, verdict := range withoutArguments() {
			setVerdict(t, want, a, name, verdict)
		}
		for number := range uint32(1000) {
			verdict, named := want[number]
			if !named {
				verdict = eperm
			}
			if got := interpret(t, program, a.audit(), number, [6]uint64{}); got != verdict {
				t.Errorf("%s call %d: verdict %#x, want %#x", a, number, got, verdict)
			}
			if got := interpret(t, program, a.audit(), number|1<<30, [6]uint64{}); got != eperm {
				t.Errorf("%s x32 call %d: verdict %#x", a, number, got)
			}
			for _, foreign := range []uint32{0, 0x40000003, 0xc000003e ^ 0xc00000b7 ^ a.audit(), 0x40000028} {
				if got := interpret(t, program, foreign, number, [6]uint64{}); got != verdictKill {
					t.Errorf("%s: call %d of architecture %#x: verdict %#x", a, number, foreign, got)
				}
			}
		}
	}
}

// TestExecLock: of every call, the lock asks about execveat alone.
func TestExecLock(t *testing.T) {
	for a, execveat := range map[architecture]uint32{amd64: 322, arm64: 281} {
		for number := range uint32(1000) {
			want := uint32(verdictAllow)
			if number == execveat {
				want = verdictNotify
			}
			if got := interpret(t, lockProgram(a), a.audit(), number, [6]uint64{}); got != want {
				t.Errorf("%s call %d: verdict %#x, want %#x", a, number, got, want)
			}
		}
	}
}

// TestOwnID: a program that is compiled for a child becomes the program of that child once its id is filled in.
func TestOwnID(t *testing.T) {
	p, err := parseProfile(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	a, err := hostArchitecture()
	if err != nil {
		t.Fatal(err)
	}
	program, err := p.filter.compileForChild()
	if err != nil || len(program.own) == 0 {
		t.Fatal(program.own, err)
	}
	for _, i := range program.own {
		program.instructions[i].k = testSelf
	}
	if !slices.Equal(program.instructions, compiled(t, a)) {
		t.Error("the programs differ")
	}
}

func setVerdict(t *testing.T, into map[uint32]uint32, a architecture, name string, verdict uint32) {
	t.Helper()
	n, known := syscallNumbers(name)
	if !known {
		t.Fatalf("unknown call %q", name)
	}
	if number := n.on(a); number != absent {
		into[uint32(number)] = verdict
	}
}

// high is a bit in the upper half of an argument.
const high = 1 << 32

// filterRow is a call with arguments and what the filter says to it.
type filterRow struct {
	call      string
	arguments [6]uint64
	want      uint32
}

// TestFilterArguments goes along the edges of every condition.
func TestFilterArguments(t *testing.T) {
	for _, a := range []architecture{amd64, arm64} {
		program := compiled(t, a)
		for _, row := range slices.Concat(processRows(), memoryRows(), descriptorRows()) {
			n, known := syscallNumbers(row.call)
			if !known {
				t.Fatalf("unknown call %q", row.call)
			}
			if n.on(a) == absent {
				continue
			}
			if got := interpret(t, program, a.audit(), uint32(n.on(a)), row.arguments); got != row.want {
				t.Errorf("%s %s %#x: verdict %#x, want %#x", a, row.call, row.arguments, got, row.want)
			}
		}
	}
}

func processRows() []filterRow {
	return []filterRow{
		{"clone", [6]uint64{0x3d0f00}, verdictAllow},
		{"clone", [6]uint64{0x3d0f00 | high}, eperm},
		{"clone", [6]uint64{0x3d0f00 &^ 0x400}, eperm},   // without CLONE_FILES
		{"clone", [6]uint64{0x3d0f00 | 0x20000}, eperm},  // CLONE_NEWNS
		{"clone", [6]uint64{0x3d0f00 | 1<<28}, eperm},    // CLONE_NEWUSER
		{"clone", [6]uint64{17}, eperm},                  // fork
		{"clone", [6]uint64{0x1200011}, eperm},           // glibc's fork
		{"clone", [6]uint64{0x4111}, eperm},              // vfork
		{"futex", [6]uint64{0, 0x80}, verdictAllow},      // WAIT_PRIVATE
		{"futex", [6]uint64{0, 0x189}, verdictAllow},     // WAIT_BITSET_PRIVATE, CLOCK_REALTIME
		{"futex", [6]uint64{0, 10 | high}, verdictAllow}, // an int: the upper half is nothing
		{"futex", [6]uint64{0, 2}, enosys},
		{"futex", [6]uint64{0, 6}, enosys}, // LOCK_PI
		{"futex", [6]uint64{0, 0x86}, enosys},
		{"futex", [6]uint64{0, 0x200}, enosys},
		{"kill", [6]uint64{testSelf, 9}, verdictAllow},
		{"kill", [6]uint64{testSelf | high, 9}, verdictAllow},
		{"kill", [6]uint64{0, 9}, eperm},
		{"kill", [6]uint64{1, 0}, eperm},
		{"kill", [6]uint64{0xffffffff, 9}, eperm},
		{"kill", [6]uint64{uint64(0x100000000 - testSelf), 9}, eperm}, // the process group
		{"tgkill", [6]uint64{testSelf, 7, 9}, verdictAllow},
		{"tgkill", [6]uint64{1, testSelf, 9}, eperm},
		{"tkill", [6]uint64{testSelf, 9}, eperm},
		{"getpriority", [6]uint64{0, 1}, eperm},
		{"getpriority", [6]uint64{1, 0}, eperm},
		{"getpriority", [6]uint64{high, high}, verdictAllow},
		{"sched_getaffinity", [6]uint64{1}, enosys},
		{"prlimit64", [6]uint64{0, 7, 0, 1}, verdictAllow},
		{"prlimit64", [6]uint64{1, 0, 0, 1}, eperm},
		{"prlimit64", [6]uint64{0, 0, 1}, eperm},
		{"prlimit64", [6]uint64{0, 0, high}, eperm}, // a pointer with an empty lower half
	}
}

func memoryRows() []filterRow {
	return []filterRow{
		{"clock_gettime", [6]uint64{1}, verdictAllow},
		{"clock_gettime", [6]uint64{0xfffffffe}, verdictAllow}, // per thread
		{"clock_gettime", [6]uint64{0xfffffffa}, einval},       // of a process
		{"clock_gettime", [6]uint64{0xfffffffb}, einval},       // of a descriptor
		{"clock_gettime", [6]uint64{^uint64(5)}, einval},
		{"clock_getres", [6]uint64{0xfffffffa}, einval},
		{"clock_nanosleep", [6]uint64{0xfffffffa}, einval},
		{"clock_nanosleep", [6]uint64{1, 1}, verdictAllow},
		{"mmap", [6]uint64{0, 4096, 3, 0x22}, verdictAllow},              // PRIVATE, ANONYMOUS
		{"mmap", [6]uint64{0, 4096, 1, 0x01}, verdictAllow},              // SHARED of a file
		{"mmap", [6]uint64{0, 4096, 3, 0x21}, eperm},                     // SHARED, ANONYMOUS
		{"mmap", [6]uint64{0, 4096, 3, 0x23}, eperm},                     // SHARED_VALIDATE, ANONYMOUS
		{"mmap", [6]uint64{0, 4096, 3, 0x22 | 0x2000}, eperm},            // LOCKED
		{"mmap", [6]uint64{0, 4096, 3, 0x01 | 0x2000}, eperm},            //
		{"mmap", [6]uint64{0, 4096, 3, 0x22 | 0x40000}, eperm},           // HUGETLB
		{"mmap", [6]uint64{0, 4096, 3, 0x22 | 0x100}, eperm},             // GROWSDOWN
		{"mmap", [6]uint64{0, 4096, 3, 0x22 | 0x100 | high}, eperm},      //
		{"mmap", [6]uint64{0, 4096, 3, 0x100022 | 0x4000}, verdictAllow}, // FIXED_NOREPLACE, NORESERVE
		{"madvise", [6]uint64{0, 0, 4}, verdictAllow},
		{"madvise", [6]uint64{0, 0, 8}, verdictAllow},
		{"madvise", [6]uint64{0, 0, 9}, einval},   // REMOVE
		{"madvise", [6]uint64{0, 0, 12}, einval},  // MERGEABLE
		{"madvise", [6]uint64{0, 0, 20}, einval},  // COLD
		{"madvise", [6]uint64{0, 0, 21}, einval},  // PAGEOUT
		{"madvise", [6]uint64{0, 0, 25}, einval},  // COLLAPSE
		{"madvise", [6]uint64{0, 0, 100}, einval}, // HWPOISON
		{"membarrier", [6]uint64{16}, verdictAllow},
		{"membarrier", [6]uint64{1}, einval}, // GLOBAL
		{"membarrier", [6]uint64{2}, einval},
	}
}

func descriptorRows() []filterRow {
	return []filterRow{
		{"ioctl", [6]uint64{0, 0x5401}, verdictAllow},
		{"ioctl", [6]uint64{0, 0x5401 | high}, verdictAllow},
		{"ioctl", [6]uint64{0, 0x5412}, enotty}, // TIOCSTI
		{"ioctl", [6]uint64{0, 0x5452}, enotty}, // FIOASYNC
		{"fcntl", [6]uint64{0, 0x406}, verdictAllow},
		{"fcntl", [6]uint64{0, 4, 0x800}, verdictAllow},
		{"fcntl", [6]uint64{0, 4, 0x8802}, verdictAllow}, // as it is read, and NONBLOCK
		{"fcntl", [6]uint64{0, 4, 0x2800}, eperm},        // O_ASYNC
		{"fcntl", [6]uint64{0, 4, 0x4000}, eperm},        // O_DIRECT
		{"fcntl", [6]uint64{0, 4, 0x10000}, eperm},       // O_DIRECT of arm64
		{"fcntl", [6]uint64{0, 5}, eperm},                // GETLK
		{"fcntl", [6]uint64{0, 6}, verdictAllow},         // SETLK
		{"fcntl", [6]uint64{0, 7}, eperm},                // SETLKW
		{"fcntl", [6]uint64{0, 8}, eperm},                // SETOWN
		{"fcntl", [6]uint64{0, 10}, eperm},               // SETSIG
		{"fcntl", [6]uint64{0, 1024}, eperm},             // SETLEASE
		{"fcntl", [6]uint64{0, 1026}, eperm},             // NOTIFY
		{"fcntl", [6]uint64{0, 1031}, eperm},             // SETPIPE_SZ
		{"fcntl", [6]uint64{0, 1032}, verdictAllow},
		{"pipe2", [6]uint64{0, 0x80800}, verdictAllow},
		{"pipe2", [6]uint64{0, 0x4000}, einval}, // O_DIRECT
		{"pipe2", [6]uint64{0, 0x80}, einval},   // O_NOTIFICATION_PIPE is O_EXCL
		{"prctl", [6]uint64{15}, verdictAllow},
		{"prctl", [6]uint64{0x53564d41}, verdictAllow},
		{"prctl", [6]uint64{1}, eperm},  // SET_PDEATHSIG
		{"prctl", [6]uint64{4}, eperm},  // SET_DUMPABLE
		{"prctl", [6]uint64{38}, eperm}, // SET_NO_NEW_PRIVS
		{"arch_prctl", [6]uint64{0x1002}, verdictAllow},
		{"arch_prctl", [6]uint64{0x1001}, einval}, // ARCH_SET_GS
		{"execveat", [6]uint64{0, 1, 0, 0, 0x1000}, verdictAllow},
		{"execve", [6]uint64{1}, eperm},
	}
}

func TestLandlockPlan(t *testing.T) {
	p, err := parseProfile(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{
		"/opt/node/bin/node": landlockReadFile | landlockExecute, "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": landlockReadFile | landlockExecute,
		"/usr/lib/x86_64-linux-gnu/libc.so.6": landlockReadFile,
		"/srv/confined/root/slot-3/program":   landlockReadFile | landlockReadDir, "/srv/confined/root/slot-3/input": landlockReadFile | landlockReadDir,
		"/srv/confined/root/slot-3/home": landlockReadDir, "/srv/confined/root/slot-3/preload.cjs": landlockReadFile, "/dev/null": landlockReadFile,
		"/proc/self/stat": landlockReadFile, "/proc/self/statm": landlockReadFile, "/proc/self/status": landlockReadFile, "/proc/self/maps": landlockReadFile,
		"/proc/self/cgroup": landlockReadFile, "/proc/cpuinfo": landlockReadFile, "/proc/stat": landlockReadFile, "/proc/meminfo": landlockReadFile,
	}
	for _, rule := range planLandlock(p.entries) {
		if want[rule.path] != rule.access {
			t.Errorf("%s: access %#x, want %#x", rule.path, rule.access, want[rule.path])
		}
		delete(want, rule.path)
	}
	if len(want) > 0 {
		t.Errorf("no rule for %v", want)
	}
	if landlockHandledFS != 0xffff || landlockHandledNet != 3 || landlockScoped != 3 {
		t.Error("the mask of ABI 6 is 0xffff, 3, 3")
	}
}

func TestHostVerdicts(t *testing.T) {
	good := hostFacts{architecture: "amd64", landlockABI: 6, maxUserNamespaces: "100", maxMountNamespaces: "100", notify: true,
		uidMap: "0 0 4294967295", gidMap: "0 0 4294967295", hardData: ^uint64(0), hardStack: 8 << 20, hardThreads: 128, hardSignals: 128}
	if problem := good.judge(); problem != nil {
		t.Fatalf("a good host: %v", problem)
	}
	for want, spoil := range map[string]func(*hostFacts){
		"too many open files":                     func(f *hostFacts) { f.unread, f.maxUserNamespaces = syscall.EMFILE, "" },
		"not made for riscv64":                    func(f *hostFacts) { f.architecture = "riscv64" },
		"switched off at boot":                    func(f *hostFacts) { f.landlockABI, f.landlockOff = 0, true },
		"Landlock cannot be used":                 func(f *hostFacts) { f.landlockABI, f.landlockErr = 0, "function not implemented" },
		"ABI 5":                                   func(f *hostFacts) { f.landlockABI = 5 },
		"no user namespaces":                      func(f *hostFacts) { f.maxUserNamespaces = "" },
		"user.max_user_namespaces is 0":           func(f *hostFacts) { f.maxUserNamespaces = "0" },
		"user.max_mnt_namespaces is 0":            func(f *hostFacts) { f.maxMountNamespaces = "0" },
		"unprivileged_userns_clone is 0":          func(f *hostFacts) { f.unprivilegedClone = "0" },
		"AppArmor":                                func(f *hostFacts) { f.apparmorRestricts, f.apparmorLabel = "1", "unconfined" },
		"ids 61000 to 61064":                      func(f *hostFacts) { f.root, f.uidMap = true, "0 100000 61064" },
		"gid_map":                                 func(f *hostFacts) { f.root, f.gidMap = true, "0 0 1\n1 100000 60999" },
		"with a listener (SECCOMP_RET_USER_NOTIF": func(f *hostFacts) { f.notify = false },
		"leaves no room":                          func(f *hostFacts) { f.listener = "busy" },
		"hard limit of data is 1073741824":        func(f *hostFacts) { f.hardData = 1 << 30 },
		"hard limit of stack is 1":                func(f *hostFacts) { f.hardStack = 1 },
		"hard limit of threads is 127":            func(f *hostFacts) { f.hardThreads = 127 },
		"hard limit of pending signals is 127":    func(f *hostFacts) { f.hardSignals = 127 },
	} {
		f := good
		spoil(&f)
		problem := f.judge()
		if problem == nil || !strings.Contains(problem.Problem, want) || problem.Cure == "" {
			t.Errorf("%s: judged %v", want, problem)
		}
	}
	root := good
	root.root, root.unprivilegedClone, root.apparmorRestricts, root.apparmorLabel = true, "0", "1", "unconfined"
	if problem := root.judge(); problem != nil {
		t.Errorf("root is not bound by the rules for ordinary users: %v", problem)
	}
}
