# confined-linux/1: what one confined run may do on Linux.
#
# This is the analogue of a macOS sandbox profile: the whole of what varies or could be argued about, as one list. Each run gets a copy in
# which every $word is replaced by a number, by a quoted path with the device:inode that the host verified there, or, for the plural ones,
# by as many lines as there are; comments and layout go. The daemon plans the launch from that copy, with a parser that refuses anything
# unknown, repeated, missing or not in this order. The digest of a run's profile is the SHA-256 of that copy.
#
# What is not here is mechanism and has no values to choose: namespaces, no_new_privs, all capabilities dropped and locked away, a private
# mount tree whose old root is gone, one fixed Landlock mask (every right that ABI 6 knows), the death signal. See stage_linux.go.
#
# "probe" names an act that was tried from inside, and what came of it. Most probes are native code, since JavaScript cannot get that far.

confined-linux/1

# --- Limits. Soft = hard, always; the first four are read back and reported to the host, which opens the gate only if they are as asked.
limit cpu $cpu                  # seconds of processor time; soft = hard, so the kernel ends the process with SIGKILL. It samples by ticks where
                                # it is built so: probe: sleeping across every tick used 11 s at a limit of 1; the run's usage says so
limit descriptors $descriptors  # probe: with `clone` below, threads cannot have a table each (1,200 open files at a limit of 64)
limit core 0                    # 512-byte blocks; does not stop a piped core_pattern, for that see coredump-filter
limit file 0                    # 512-byte blocks; probe: a write to any regular file is SIGXFSZ, besides being impossible here
limit threads 128               # per user namespace, thus per run; Node with four workers has about 20; probe: the next thread is EAGAIN
limit data 4294967296           # bytes of private memory that is writable at a time: heap, Buffers, WebAssembly; 2 GiB is too little for four workers.
                                # probe: machine code made written memory read-only and had 18 GiB: against it oom-score-adj alone stands
limit stack 8388608             # bytes; not counted as data, and the daemon's own may be unlimited
limit memlock 0                 # bytes
limit msgqueue 0                # bytes
limit sigpending 128            # probe: with blocked real-time signals sent to itself a program used up the quota of the daemon's user, root too:
                                # timer_create and sigqueue of its other processes were EAGAIN

oom-score-adj 1000              # under memory pressure the program dies first; else it inherits the daemon's protection
coredump-filter 0               # probe: abort() gave a piped core_pattern 903 MB of memory; with no segment selected it gets 73 KB

# --- Who the process is: "nobody" inside, and outside a uid that is never 0. As global uid 0 a program took leases on host libraries,
# had no limit on threads, and could signal any process by F_SETOWN.
user 65534 outside $uid
group 65534 outside $gid

# --- The private root: a tmpfs with nothing but the lines below, then made read-only as a whole. Paths are those of the host. No line here
# grants a write. Rights are Landlock rights: read, list (a directory), execute.
root 262144 bytes 512 inodes    # 4 pages of 64 KiB, the largest page size

# The runtime's closure: mounted read-only, nosuid, nodev; executable, since libraries are mapped so. Only the loader may also be the
# argument of an exec, and Node where no sealed copy of it is executed; the one exec of a process's life is spent on Node (see `once` below).
file $libraries read
file $executables read execute
# The sealed copy of Node, if that is executed: in its place the process's own executable, which is no other file. V8 maps its builtins a second
# time from the file that /proc/self/maps names; without one it copies 2 MB in every process.
image $image
alias $aliases
alias "/proc/self/exe" $node    # plain symlink: ld.so expands $ORIGIN by it. The kernel's own link would reach outside the root

# The snapshots: read-only, nosuid, nodev, noexec. probe: mmap(PROT_EXEC) of a snapshot file is EPERM, mprotect(PROT_EXEC) EACCES.
tree $program read list
tree $input read list
dir $home list                  # HOME and TMPDIR: empty, and stays so
canary $canary                  # there, and readable by its mode, but under no rule: the preload must get EACCES

device "/dev/null" 1:3 read     # OPENSSL_CONF. Node exits with 13 if it cannot be opened (nodev)

# Single files of /proc. The directory /proc/self leaks: exe, cwd, fd, ns, the cgroup's path. probe: all of those are ENOENT.
proc "/proc/self/stat" read     # process.memoryUsage()
proc "/proc/self/statm" read
proc "/proc/self/status" read
proc "/proc/self/maps" read     # glibc finds the main thread's stack here
proc "/proc/cpuinfo" read       # os.cpus()
proc "/proc/stat" read          # os.cpus()
proc "/proc/meminfo" read       # os.freemem()
text "/proc/self/cgroup" "0::/\n" read  # process.availableMemory(); the true one names the host's cgroup
text $preload-path $preload read

# --- The start. The environment is this and nothing else.
environment LC_ALL "C"
environment TZ "UTC"
environment HOME $home
environment TMPDIR $home
environment OPENSSL_CONF "/dev/null"
# Node starts in the empty root of the file system and the preload enters the input. probe: started in the input, Node resolves the
# preload by way of the input's package.json; {"name": "", "exports": {"./*": "./evil.cjs"}} made it load evil.cjs in its place.
chdir "/"
execute $node

# --- The system calls. What no line names is refused with EPERM, x32 numbers too. `&` masks an argument; arguments that the kernel takes
# as a 32-bit int are masked with 0xffffffff, since their upper half is whatever the register held; all others are compared in both
# halves. A name that an architecture lacks (open on arm64) is no rule there. Several lines for one call are alternatives.
foreign-architecture kill       # probe: int 0x80 dies
default EPERM

# Refused by silence, on purpose: socket and all of the network; fork, vfork, execve; ptrace, process_vm_*, pidfd_*; mount and namespaces;
# bpf, perf_event_open, keyctl, userfaultfd; capget (it reads any pid's); fadvise64 (it evicts the host's page cache); memfd_create (Landlock
# does not stop its execution); inotify, statfs, setrlimit, chmod, chown, utimensat, link, rename, setxattr (Landlock knows none of the last).

allow read write readv writev pread64 preadv close lseek dup dup2 dup3
allow fstat newfstatat statx stat lstat access faccessat faccessat2 readlink readlinkat getcwd chdir
allow openat open getdents64 umask
allow mprotect munmap mremap brk pkey_alloc pkey_mprotect pkey_free
allow epoll_create1 epoll_ctl epoll_wait epoll_pwait poll ppoll eventfd2
allow rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall
allow getpid getppid gettid getuid geteuid getgid getegid getgroups
allow exit exit_group set_tid_address set_robust_list rseq sched_yield
allow getrandom nanosleep gettimeofday time getrusage sysinfo uname

# Threads as glibc makes them, with exactly its flags: no other kind of child exists. probe: without CLONE_FILES, with NEWUSER, NEWNS or
# SIGCHLD: EPERM. glibc falls back to clone when clone3, whose flags are behind a pointer, is ENOSYS.
allow clone when arg0 = 0x3d0f00 else EPERM
return ENOSYS clone3 openat2 io_uring_setup

# PI futexes are an oracle for pids (FUTEX_LOCK_PI with a foreign owner). Masked: FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME. Left: WAIT,
# WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAIT_BITSET, WAKE_BITSET.
allow futex when arg1 & 0xfffffe7f = 0 1 3 4 5 9 10 else ENOSYS

# Signals and questions to oneself only. The answer 0 of the two sched_ calls is made up: run for real they enumerate the host's pids,
# refused they make Abseil write to stderr.
allow kill when arg0 & 0xffffffff = self else EPERM
allow tgkill when arg0 & 0xffffffff = self else EPERM
allow getpriority when arg0 & 0xffffffff = 0 and arg1 & 0xffffffff = 0 else EPERM
allow sched_getaffinity when arg0 & 0xffffffff = 0 else ENOSYS
return 0 sched_getparam sched_getscheduler

# Reading one's own limits. probe: prlimit64 on the daemon set its RLIMIT_CPU to 0 and killed it; the last condition is "no new limit".
allow prlimit64 when arg0 & 0xffffffff = 0 and arg2 = 0 else EPERM

# No processor clock of another process: ids that are negative are such, except those of threads (bit 4), which the kernel confines to
# one's own.
allow clock_gettime when arg0 & 0x80000000 = 0 else EINVAL
allow clock_gettime when arg0 & 0x80000004 = 0x80000004 else EINVAL
allow clock_getres when arg0 & 0x80000000 = 0 else EINVAL
allow clock_getres when arg0 & 0x80000004 = 0x80000004 else EINVAL
allow clock_nanosleep when arg0 & 0x80000000 = 0 else EINVAL
allow clock_nanosleep when arg0 & 0x80000004 = 0x80000004 else EINVAL

# Memory that limits count: no LOCKED (0x2000), HUGETLB (0x40000) or GROWSDOWN (0x100), and SHARED (1) only of a file, not ANONYMOUS (0x20).
allow mmap when arg3 & 0x42101 = 0 else EPERM
allow mmap when arg3 & 0x42120 = 0 else EPERM
# Without HWPOISON, SOFT_OFFLINE, MERGEABLE (a side channel), COLLAPSE, PAGEOUT and COLD (of shared pages).
allow madvise when arg2 & 0xffffffff = 0 1 2 3 4 8 10 14 15 16 17 18 19 else EINVAL
# QUERY, GLOBAL is left out (it interrupts every processor), PRIVATE_EXPEDITED, its REGISTER, SYNC_CORE, its REGISTER.
allow membarrier when arg0 & 0xffffffff = 0 8 16 32 64 else EINVAL

# Descriptors. ioctl: TCGETS TCGETS2 TIOCGWINSZ FIONREAD FIONBIO FIOCLEX FIONCLEX.
allow ioctl when arg1 & 0xffffffff = 0x5401 0x802c542a 0x5413 0x541b 0x5421 0x5451 0x5450 else ENOTTY
# fcntl: DUPFD DUPFD_CLOEXEC GETFD SETFD GETFL SETLK GETPIPE_SZ, and SETFL without O_ASYNC and O_DIRECT (0x4000, and 0x10000 on arm64, which makes a
# pipe one of packets). SETLK serves SQLite files in the input; GETLK, leases, SETOWN, SETSIG, NOTIFY and SETPIPE_SZ are channels or signals.
allow fcntl when arg1 & 0xffffffff = 0 0x406 1 2 3 6 0x408 else EPERM
allow fcntl when arg1 & 0xffffffff = 4 and arg2 & 0x16000 = 0 else EPERM
allow pipe2 when arg1 & 0xfff7f7ff = 0 else EINVAL  # CLOEXEC and NONBLOCK; no notification or packet pipes

# SET_NAME GET_NAME SET_VMA. probe: prctl(PR_SET_PDEATHSIG, 0) let 6 of 8 programs outlive the daemon.
allow prctl when arg0 & 0xffffffff = 15 16 0x53564d41 else EPERM
allow arch_prctl when arg0 & 0xffffffff = 0x1002 else EINVAL  # ARCH_SET_FS, for threads

# The exec lock: a filter besides this one has the kernel ask the daemon about each execveat. The daemon consents once, to the descriptor that is
# Node, and lets go of the listener; nobody is left to consent to another: ENOSYS. Arguments would be no lock: an absolute path makes the kernel ignore the descriptor. probe: execveat of a
# descriptor, of an absolute path, of ld.so, after filling the address space: ENOSYS.
once execveat
