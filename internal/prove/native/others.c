// Acts on other processes: signals, memory, limits, priorities. Each has a process of its own to act on, which the host looks at; a question is
// asked of a process that only answers.
#include "probe.h"
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#ifdef __linux__
#include <linux/kcmp.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#endif

static int victim(const char *name) {
	char key[64];
	snprintf(key, sizeof key, "victims.%s", name);
	return number(key);
}
static int quiet(void) { return victim("read"); }

static int kill_process(void) { return result(kill(victim("killed"), SIGKILL)); }
static int kill_group(void) { return result(kill(-victim("grouped"), SIGKILL)); }
static int continue_all(void) { return result(kill(-1, SIGCONT)); }
static int ask_process(void) { return result(kill(quiet(), 0)); }
static int ask_init(void) { return result(kill(1, 0)) == EPERM ? EPERM : 0; }
static int ask_parent(void) { return result(kill(getppid(), 0)); }
static int ask_daemon(void) { return result(kill(number("daemon"), 0)); }
static int ask_group(void) { return result(kill(0, 0)); }
static int ask_self(void) { return result(kill(getpid(), 0)); }
static int raise_here(void) { return result(raise(SIGURG)); }
static int nice_other(void) { return result(setpriority(PRIO_PROCESS, victim("reniced"), 19)); }
static int nice_user(void) { return result(setpriority(PRIO_USER, 0, 0)); }
static int nice_asked(void) {
	errno = 0;
	getpriority(PRIO_PROCESS, quiet());
	return errno;
}
static int nice_self_asked(void) {
	errno = 0;
	getpriority(PRIO_PROCESS, 0);
	return errno;
}
static int group_of(void) { return result(getpgid(quiet())); }
static int session_of(void) { return result(getsid(quiet())); }
static int own_signals(void) { return result(fcntl(1, F_SETOWN, quiet())); }
static int own_signals_asked(void) { return result(fcntl(1, F_GETOWN)); }
static int async_input(void) { return result(fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_ASYNC)); }
static int nonblocking_input(void) {
	int flags = fcntl(0, F_GETFL), r = result(fcntl(0, F_SETFL, flags | O_NONBLOCK));
	fcntl(0, F_SETFL, flags);
	return r;
}
static int thread_clock(void) {
	struct timespec t;
	return result(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t));
}

#ifdef __linux__
static int kill_thread(void) {
	int pid = victim("tgkilled");
	return result(syscall(SYS_tgkill, pid, pid, SIGKILL));
}
static int kill_thread_alone(void) { return result(syscall(SYS_tkill, victim("tkilled"), SIGKILL)); }
static int ask_thread_self(void) { return result(syscall(SYS_tgkill, getpid(), getpid(), 0)); }
static int queue_signal(void) {
	siginfo_t i = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
	return result(syscall(SYS_rt_sigqueueinfo, victim("queued"), SIGKILL, &i));
}
static int queue_thread_signal(void) {
	siginfo_t i = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
	int pid = victim("threadqueued");
	return result(syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGKILL, &i));
}
static int open_process(void) { return result(syscall(SYS_pidfd_open, quiet(), 0)); }
static int open_self(void) { return result(syscall(SYS_pidfd_open, getpid(), 0)); }

// A descriptor that names no process: the call has to be refused before it is looked at.
static int handle_of(int pid) {
	int fd = syscall(SYS_pidfd_open, pid, 0);
	return fd >= 0 ? fd : 0;
}
static int signal_by_handle(void) { return result(syscall(SYS_pidfd_send_signal, handle_of(victim("pidfdkilled")), SIGKILL, NULL, 0)); }

// prey is a child that waits, for what even a user's own processes may not do to each other on some hosts, or if there can be none, somebody else.
static int prey(void) {
	int pid = fork();
	if (pid == 0)
		for (;;) pause();
	return pid > 0 ? pid : quiet();
}
static int let_go(int pid, int r) {
	if (pid != quiet()) {
		kill(pid, SIGKILL);
		child_ends(pid);
	}
	return r;
}
static int take_descriptor(void) {
	int pid = prey();
	return let_go(pid, result(syscall(SYS_pidfd_getfd, handle_of(pid), 1, 0)));
}
static int attach(void) {
	int pid = prey();
	return let_go(pid, result(ptrace(PTRACE_ATTACH, pid, 0, 0)));
}
static int seize(void) {
	int pid = prey();
	return let_go(pid, result(ptrace(PTRACE_SEIZE, pid, 0, 0)));
}
static char page[16]; // at the same address in a child
static int peek_other(void) {
	char a;
	struct iovec to = {&a, 1}, from = {page, 1};
	int pid = prey();
	return let_go(pid, result(process_vm_readv(pid, &to, 1, &from, 1, 0)));
}
static int poke_other(void) {
	char a = 'x';
	struct iovec from = {&a, 1}, to = {page, 1};
	int pid = prey();
	return let_go(pid, result(process_vm_writev(pid, &from, 1, &to, 1, 0)));
}
static int peek_self(void) {
	char a, b = 0;
	struct iovec to = {&a, 1}, from = {&b, 1};
	return result(process_vm_readv(getpid(), &to, 1, &from, 1, 0));
}
static int limit_other(void) {
	struct rlimit l = {8, 8};
	return result(prlimit(victim("limited"), RLIMIT_NOFILE, &l, NULL));
}
static int limit_other_asked(void) {
	struct rlimit l;
	return result(prlimit(quiet(), RLIMIT_CPU, NULL, &l));
}
static int schedule_other(void) {
	struct sched_param p = {0};
	return result(sched_setscheduler(victim("scheduled"), SCHED_BATCH, &p));
}
static int schedule_other_by_attributes(void) {
	struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; } a = {48, SCHED_BATCH, 0, 19, 0, 0, 0, 0};
	return result(syscall(SYS_sched_setattr, quiet(), &a, 0));
}
static int nobody_scheduled(void) { // a process that does not exist: unconfined the kernel says so
	return result(sched_getscheduler(1 << 22)) == 0 ? word("NONE") : 0;
}
static int affinity_of_other(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) == -1) return errno;
	return result(sched_setaffinity(quiet(), sizeof set, &set));
}
static int affinity_of_other_asked(void) {
	cpu_set_t set;
	return result(sched_getaffinity(quiet(), sizeof set, &set));
}
static int io_priority_of_other(void) { return result(syscall(SYS_ioprio_set, 1, quiet(), 2 << 13 | 7)); }
static int compare(void) { return result(syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 0, 1)); }
static int advise_other(void) { return result(syscall(SYS_process_madvise, handle_of(getpid()), NULL, 0, 20, 0)); }
static int release_other(void) { return result(syscall(SYS_process_mrelease, 0, 0)); }
static int move_pages_of_other(void) { return result(syscall(SYS_move_pages, quiet(), 0, NULL, NULL, NULL, 0)); }
static int wait_for_other(void) {
	siginfo_t i;
	int r = result(waitid(P_ALL, 0, &i, WEXITED | WNOHANG | WNOWAIT));
	return r == ECHILD ? 0 : r; // unconfined it is answered that there are none
}
static int clock_of_other(void) {
	struct timespec t;
	return result(clock_gettime((~quiet() << 3) | 2, &t));
}
static int own_by_thread(void) {
	struct f_owner_ex o = {F_OWNER_PID, quiet()};
	return result(fcntl(1, F_SETOWN_EX, &o));
}
static int signal_of_input(void) { return result(fcntl(0, F_SETSIG, SIGKILL)); }
#endif

const struct act others[] = {
	ACT(kill_process), ACT(kill_group), ACT(continue_all), ACT(ask_process), ACT(ask_init), ACT(ask_parent), ACT(ask_daemon), ACT(ask_group),
	ACT(ask_self), ACT(raise_here), ACT(nice_other), ACT(nice_user), ACT(nice_asked), ACT(nice_self_asked), ACT(group_of), ACT(session_of),
	ACT(own_signals), ACT(own_signals_asked), ACT(async_input), ACT(nonblocking_input), ACT(thread_clock),
#ifdef __linux__
	ACT(kill_thread), ACT(kill_thread_alone), ACT(ask_thread_self), ACT(queue_signal), ACT(queue_thread_signal), ACT(open_process), ACT(open_self),
	ACT(signal_by_handle), ACT(take_descriptor), ACT(attach), ACT(seize), ACT(peek_self), ACT(peek_other), ACT(poke_other), ACT(limit_other),
	ACT(limit_other_asked), ACT(schedule_other), ACT(schedule_other_by_attributes), ACT(nobody_scheduled), ACT(affinity_of_other),
	ACT(affinity_of_other_asked), ACT(io_priority_of_other), ACT(compare), ACT(advise_other), ACT(release_other), ACT(move_pages_of_other),
	ACT(wait_for_other), ACT(clock_of_other), ACT(own_by_thread), ACT(signal_of_input),
#endif
	END};
