// The probe stands in for Node: it is launched with Node's arguments and does natively what JavaScript cannot. Its fourth argument says what:
// acts (print "name errno" for each act of the table; 0 is success), again, wait, threads, signals, int80, or exec with a way.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char *self, *slot;

static char *in_slot(const char *name) {
	static char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", slot, name);
	return path;
}

static int result(long r) { return r == -1 ? errno : 0; }

static int open_close(const char *path, int flags) {
	int fd = open(path, flags, 0600);
	int r = result(fd);
	if (fd >= 0) close(fd);
	return r;
}

// Limits, signals and questions.
static int prlimit_parent(void) {
	struct rlimit l;
	getrlimit(RLIMIT_CORE, &l);
	l.rlim_cur = 0;
	return result(prlimit(getppid(), RLIMIT_CORE, &l, NULL));
}
static int prlimit_parent_read(void) { struct rlimit l; return result(prlimit(getppid(), RLIMIT_CPU, NULL, &l)); }
static int prlimit_self_set(void) { struct rlimit l; getrlimit(RLIMIT_NOFILE, &l); return result(setrlimit(RLIMIT_NOFILE, &l)); }
static int prlimit_self_read(void) { struct rlimit l; return result(getrlimit(RLIMIT_NOFILE, &l)); }
static int kill_parent(void) { return result(kill(getppid(), 0)); }
static int kill_group(void) { return result(kill(0, 0)); }
static int kill_self(void) { return result(kill(getpid(), 0)); }
static int tgkill_parent(void) { return result(syscall(SYS_tgkill, getppid(), getppid(), 0)); }
static int tgkill_self(void) { return result(syscall(SYS_tgkill, getpid(), getpid(), 0)); }
static int pidfd_parent(void) { return result(syscall(SYS_pidfd_open, getppid(), 0)); }
static int own(void) { return result(fcntl(1, F_SETOWN, getpid())); }
static int async_flag(void) { return result(fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_ASYNC)); }
static int nonblock_flag(void) {
	int f = fcntl(0, F_GETFL);
	int r = result(fcntl(0, F_SETFL, f | O_NONBLOCK));
	fcntl(0, F_SETFL, f);
	return r;
}
static int pipe_size(void) { return result(fcntl(1, F_SETPIPE_SZ, 4096)); }
static int lease(void) { int fd = open(self, O_RDONLY); return result(fcntl(fd, F_SETLEASE, F_RDLCK)); }
static int lock_file(void) {
	struct flock l = {.l_type = F_RDLCK};
	int fd = open(in_slot("input/data"), O_RDONLY);
	return result(fcntl(fd, F_SETLK, &l));
}
static int parent_clock(void) { struct timespec t; return result(clock_gettime((~getppid() << 3) | 2, &t)); }
static int thread_clock(void) {
	struct timespec t;
	clockid_t c;
	pthread_getcpuclockid(pthread_self(), &c);
	return result(clock_gettime(c, &t));
}
static int capget_init(void) {
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 1};
	struct __user_cap_data_struct d[2];
	return result(syscall(SYS_capget, &h, d));
}
static int deathsig(void) { return result(prctl(PR_SET_PDEATHSIG, 0)); }
static int dumpable(void) { return result(prctl(PR_SET_DUMPABLE, 0)); }
static int thread_name(void) { return result(prctl(PR_SET_NAME, "probe")); }
static int priority(void) { errno = 0; getpriority(PRIO_PROCESS, getppid()); return errno; }
static int scheduler(void) { return result(sched_getscheduler(1 << 22)); } // no such process: ESRCH outside, an invented 0 inside
static int peek(void) {
	char a, b;
	struct iovec to = {&a, 1}, from = {&b, 1};
	return result(process_vm_readv(getpid(), &to, 1, &from, 1, 0));
}
static int futex_pi(void) { uint32_t w = 0; return result(syscall(SYS_futex, &w, FUTEX_LOCK_PI, 0, NULL, NULL, 0)); }
static int futex_wake(void) { uint32_t w = 0; return result(syscall(SYS_futex, &w, FUTEX_WAKE, 1, NULL, NULL, 0)); }

// Processes and namespaces.
static int nothing(void *unused) { (void)unused; return 0; }
static char stack[65536] __attribute__((aligned(16)));
static int clone_with(int flags) {
	int pid = clone(nothing, stack + sizeof stack, flags, NULL);
	int r = result(pid);
	if (pid > 0 && !(flags & CLONE_THREAD)) waitpid(pid, NULL, __WALL);
	return r;
}
static int fork_child(void) { return clone_with(SIGCHLD); }
static int clone_userns(void) { return clone_with(CLONE_NEWUSER | SIGCHLD); }
static int vfork_child(void) { return clone_with(CLONE_VM | CLONE_VFORK | SIGCHLD); }
static int unshare_user(void) { int r = clone_with(CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD); return r; }
static int unshare_files(void) { return result(unshare(CLONE_FILES)); }
static int raw_clone3(void) { // EINVAL is an answer of the real call
	return result(syscall(SYS_clone3, NULL, 0)) == ENOSYS ? ENOSYS : 0;
}
static void *nothing_too(void *unused) { return unused; }
static int thread(void) {
	pthread_t t;
	int r = pthread_create(&t, NULL, nothing_too, NULL);
	if (r == 0) pthread_join(t, NULL);
	return r;
}

// Memory.
static int map(int prot, int flags, int fd) {
	void *p = mmap(NULL, 4096, prot, flags, fd, 0);
	return p == MAP_FAILED ? errno : 0;
}
static int map_shared(void) { return map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1); }
static int map_private(void) { return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1); }
static int map_locked(void) { return map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1); }
static int map_growsdown(void) { return map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1); }
static int map_bytes(size_t n) {
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? errno : result(munmap(p, n));
}
static int map_5g(void) { return map_bytes((size_t)5 << 30); }
static int map_3g(void) { return map_bytes((size_t)3 << 30); }
static int map_exec(void) { return map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1); }
static int map_input(void) { return map(PROT_READ, MAP_PRIVATE, open(in_slot("input/data"), O_RDONLY)); }
static int map_input_shared(void) { return map(PROT_READ, MAP_SHARED, open(in_slot("input/data"), O_RDONLY)); }
static int map_input_exec(void) { return map(PROT_READ | PROT_EXEC, MAP_PRIVATE, open(in_slot("input/data"), O_RDONLY)); }
static int protect_input_exec(void) {
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(in_slot("input/data"), O_RDONLY), 0);
	return p == MAP_FAILED ? errno : result(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}
static int advise(int advice) {
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return result(madvise(p, 4096, advice));
}
static int advise_cold(void) { return advise(20); }
static int advise_pageout(void) { return advise(21); }
static int advise_dontneed(void) { return advise(4); }
static int lock_memory(void) { return result(mlock(stack, 4096)); }
static int memory_file(void) { return result(memfd_create("x", 0)); }
static int evict(void) { return posix_fadvise(open(in_slot("input/data"), O_RDONLY), 0, 0, POSIX_FADV_DONTNEED); }

// Files.
static int read_input(void) { return open_close(in_slot("input/data"), O_RDONLY); }
static int read_canary(void) { return open_close(in_slot("canary"), O_RDONLY); }
static int list_input(void) { return open_close(in_slot("input"), O_RDONLY | O_DIRECTORY); }
static int list_slot(void) { return open_close(slot, O_RDONLY | O_DIRECTORY); }
static int list_root(void) { return open_close("/", O_RDONLY | O_DIRECTORY); }
static int read_passwd(void) { return open_close("/etc/passwd", O_RDONLY); }
static int open_null(void) { return open_close("/dev/null", O_RDONLY); }
static int write_null(void) { return open_close("/dev/null", O_WRONLY); }
static int create_home(void) { return open_close(in_slot("home/created"), O_WRONLY | O_CREAT); }
static int create_tmp(void) {
	char p[64];
	snprintf(p, sizeof p, "/tmp/confined-probe-%d", getpid());
	int r = open_close(p, O_WRONLY | O_CREAT);
	unlink(p);
	return r;
}
static int unlink_home(void) { return result(unlink(in_slot("home/created"))); }
static int make_dir(void) { int r = result(mkdir(in_slot("home/dir"), 0700)); rmdir(in_slot("home/dir")); return r; }
static int make_link(void) { int r = result(symlink("x", in_slot("home/link"))); unlink(in_slot("home/link")); return r; }
static int change_mode(void) { return result(chmod(in_slot("input/data"), 0400)); }
static int change_times(void) { return result(utimensat(AT_FDCWD, in_slot("input/data"), NULL, 0)); }
static int stat_input(void) { struct stat s; return result(stat(in_slot("input/data"), &s)); }
static int stat_filesystem(void) { struct statfs s; return result(statfs(slot, &s)); }
static int handle(void) {
	struct { unsigned bytes; int type; char data[128]; } h = {128, 0, {0}};
	int id;
	return result(syscall(SYS_name_to_handle_at, AT_FDCWD, in_slot("input/data"), &h, &id, 0));
}
static int proc_status(void) { return open_close("/proc/self/status", O_RDONLY); }
static int proc_fd(void) { return open_close("/proc/self/fd", O_RDONLY); }
static int proc_ns(void) { return open_close("/proc/self/ns/user", O_RDONLY); }
static int proc_mem(void) { return open_close("/proc/self/mem", O_RDONLY); }
static int proc_root(void) { return open_close("/proc/self/root", O_PATH); }
static int proc_cwd(void) { return open_close("/proc/self/cwd", O_PATH); }
static int proc_task(void) { return open_close("/proc/self/task", O_RDONLY); }
static int proc_net(void) { return open_close("/proc/self/net", O_RDONLY); }
static int proc_environ(void) { return open_close("/proc/self/environ", O_RDONLY); }
static int proc_init(void) { return open_close("/proc/1/stat", O_RDONLY); }
static int packet_pipe(void) { int p[2]; return result(pipe2(p, O_DIRECT)); }
static int plain_pipe(void) { int p[2]; return result(pipe2(p, O_CLOEXEC)); }
static int terminal(void) { char c = 'x'; int r = result(ioctl(0, TIOCSTI, &c)); return r == ENOTTY ? 0 : r; }

// The network.
static int socket_of(int family, int type) {
	int fd = socket(family, type, 0);
	int r = result(fd);
	if (fd >= 0) close(fd);
	return r;
}
static int tcp(void) { return socket_of(AF_INET, SOCK_STREAM); }
static int tcp6(void) { int r = socket_of(AF_INET6, SOCK_STREAM); return r == EAFNOSUPPORT ? 0 : r; }
static int udp(void) { return socket_of(AF_INET, SOCK_DGRAM); }
static int unix_socket(void) { return socket_of(AF_UNIX, SOCK_STREAM); }
static int netlink(void) { return socket_of(AF_NETLINK, SOCK_RAW); }
static int socket_pair(void) { int p[2]; return result(socketpair(AF_UNIX, SOCK_STREAM, 0, p)); }

#define ACT(name) {#name, name}
static const struct { const char *name; int (*act)(void); } acts[] = {
	ACT(prlimit_parent), ACT(prlimit_parent_read), ACT(prlimit_self_set), ACT(prlimit_self_read), ACT(kill_parent), ACT(kill_group), ACT(kill_self),
	ACT(tgkill_parent), ACT(tgkill_self), ACT(pidfd_parent), ACT(own), ACT(async_flag), ACT(nonblock_flag), ACT(pipe_size), ACT(lease), ACT(lock_file),
	ACT(parent_clock), ACT(thread_clock), ACT(capget_init), ACT(deathsig), ACT(thread_name), ACT(priority), ACT(scheduler), ACT(peek), ACT(futex_pi),
	ACT(futex_wake), ACT(fork_child), ACT(clone_userns), ACT(vfork_child), ACT(unshare_user), ACT(unshare_files), ACT(raw_clone3), ACT(thread), ACT(map_shared),
	ACT(map_private), ACT(map_locked), ACT(map_growsdown), ACT(map_5g), ACT(map_3g), ACT(map_exec), ACT(map_input), ACT(map_input_shared), ACT(map_input_exec),
	ACT(protect_input_exec), ACT(advise_cold), ACT(advise_pageout), ACT(advise_dontneed), ACT(lock_memory), ACT(memory_file), ACT(evict), ACT(read_input),
	ACT(read_canary), ACT(list_input), ACT(list_slot), ACT(list_root), ACT(read_passwd), ACT(open_null), ACT(write_null), ACT(create_home), ACT(create_tmp),
	ACT(unlink_home), ACT(make_dir), ACT(make_link), ACT(change_mode), ACT(change_times), ACT(stat_input), ACT(stat_filesystem), ACT(handle),
	ACT(proc_status), ACT(proc_fd), ACT(proc_ns), ACT(proc_mem), ACT(proc_root), ACT(proc_cwd), ACT(proc_task), ACT(proc_net), ACT(proc_environ),
	ACT(proc_init), ACT(packet_pipe), ACT(plain_pipe), ACT(terminal), ACT(tcp), ACT(tcp6), ACT(udp), ACT(unix_socket), ACT(netlink), ACT(socket_pair),
	ACT(dumpable),
};

// fill_low makes the lowest page that can be mapped hold the path, and everything below the stack unmappable, as the attack did that made low
// addresses guessable.
static char *fill_low(const char *path) {
	for (uintptr_t at = 65536; at < 1 << 20; at += 4096) {
		char *p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p != MAP_FAILED) return strcpy(p, path);
	}
	return strdup(path);
}

static int execute(const char *way) {
	char *again[] = {self, "-", "-", "-", "again", NULL};
	int fd = open(self, O_RDONLY | O_CLOEXEC);
	if (!strcmp(way, "descriptor")) return result(syscall(SYS_execveat, fd, "", again, environ, AT_EMPTY_PATH));
	if (!strcmp(way, "path")) return result(syscall(SYS_execveat, fd, self, again, environ, 0));
	if (!strcmp(way, "unused")) return result(syscall(SYS_execveat, 99, self, again, environ, AT_EMPTY_PATH));
	if (!strcmp(way, "low")) return result(syscall(SYS_execveat, 99, fill_low(self), again, environ, AT_EMPTY_PATH));
	if (!strcmp(way, "thread")) { thread(); return result(syscall(SYS_execveat, fd, "", again, environ, AT_EMPTY_PATH)); }
	return result(execve(self, again, environ));
}

static void *stay(void *unused) { sleep(600); return unused; }

static int threads(void) {
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int n = 1; n < 300; n++) {
		pthread_t t;
		int r = pthread_create(&t, &small, stay, NULL);
		if (r) { printf("%d %d\n", n, r); return 0; }
	}
	printf("300 0\n");
	return 0;
}

static int wait_for_gate(void) {
	char c;
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) != -1) printf("%d ", fd);
	for (char **e = environ; *e; e++) printf("%s ", *e);
	printf("\n");
	fflush(stdout);
	return read(0, &c, 1) < 0;
}

// signals sends itself more real-time signals than it takes, and prints how many the kernel keeps for its user.
static int signals(void) {
	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	for (int i = 0; i < 300; i++) kill(getpid(), SIGRTMIN);
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	int queued = -1;
	while (fgets(line, sizeof line, status) && sscanf(line, "SigQ: %d", &queued) != 1);
	printf("%d\n", queued);
	return 0;
}

int main(int argc, char **argv) {
	if (argc < 5) return 2;
	self = argv[0];
	const char *home = getenv("HOME");
	slot = strndup(home, strlen(home) - strlen("/home"));
	const char *what = argv[4];
	if (!strcmp(what, "again")) { puts("executed"); return 0; }
	if (!strcmp(what, "wait")) return wait_for_gate();
	if (!strcmp(what, "threads")) { threads(); fflush(stdout); _exit(0); }
	if (!strcmp(what, "signals")) return signals();
	if (!strcmp(what, "exec") && argc > 5) { int e = execute(argv[5]); printf("%d\n", e); return 0; }
#ifdef __x86_64__
	if (!strcmp(what, "int80")) { long r = 20; __asm__ volatile("int $0x80" : "+a"(r)); puts("survived"); return 0; }
#endif
	if (!strcmp(what, "acts")) {
		for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) printf("%s %d\n", acts[i].name, acts[i].act());
		return 0;
	}
	return 2;
}
