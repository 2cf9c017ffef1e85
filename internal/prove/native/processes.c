// Children of every kind, threads, and what a process may change about itself and its family.
#include "probe.h"
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#ifdef __linux__
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

extern char **environ;

static int fork_child(void) {
	int pid = fork();
	if (pid == 0) _exit(0);
	return child_ends(pid);
}
static int spawn(void) {
	char *argv[] = {"sh", "-c", ":", NULL};
	int pid, r = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	return r ? r : child_ends(pid);
}
static void *nothing_more(void *unused) { return unused; }
static int thread(void) {
	pthread_t t;
	int r = pthread_create(&t, NULL, nothing_more, NULL);
	if (r == 0) pthread_join(t, NULL);
	return r;
}
static int new_session(void) { return result(setsid()); }
static int new_group(void) { return result(setpgid(0, 0)); }
static int wait_for_children(void) {
	int status;
	int r = result(waitpid(-1, &status, WNOHANG));
	return r == ECHILD ? 0 : r; // unconfined it is answered that there are none
}

// crowd makes as many threads as the argument says, all alive at once.
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_crowd(void *unused) {
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return unused;
}
static int crowd(void) {
	static pthread_t threads[512];
	int want = atoi(argument) - 1, n, r = 0; // the first thread is this one
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_mutex_lock(&held);
	for (n = 0; n < want && (r = pthread_create(&threads[n], &small, wait_for_crowd, NULL)) == 0;) n++;
	pthread_mutex_unlock(&held);
	snprintf(said, sizeof said, "%d threads", n + 1);
	while (n > 0) pthread_join(threads[--n], NULL);
	return r;
}

#ifdef __linux__
static int nothing(void *unused) { (void)unused; return 0; }
static int clone_with(int flags) {
	static char stack[65536] __attribute__((aligned(16)));
	int pid = clone(nothing, stack + sizeof stack, flags, NULL);
	if (pid > 0) waitpid(pid, NULL, __WALL);
	return result(pid);
}
static int clone_child(void) { return clone_with(SIGCHLD); }
static int clone_silent(void) { return clone_with(0); }
static int clone_vfork(void) { return clone_with(CLONE_VM | CLONE_VFORK | SIGCHLD); }
static int clone_memory(void) { return clone_with(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND); }
static int clone_parent(void) {
	static char stack[65536] __attribute__((aligned(16)));
	return result(clone(nothing, stack + sizeof stack, CLONE_PARENT, NULL)); // the parent's child: its to wait for
}
static int clone_user(void) { return clone_with(CLONE_NEWUSER | SIGCHLD); }
static int clone_everything(void) { return clone_with(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD); }

// clone_of_table is a thread, but for a table of descriptors of its own, to which the limit of descriptors would apply anew.
static int clone_of_table(void) {
	static char stack[65536] __attribute__((aligned(16)));
	static int gone = 1;
	int flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
	int pid = clone(nothing, stack + sizeof stack, flags, NULL, NULL, NULL, &gone);
	if (pid > 0)
		while (__atomic_load_n(&gone, __ATOMIC_SEQ_CST)) sched_yield();
	return result(pid);
}
static int clone_by_3(void) {
	struct clone_args a = {.exit_signal = SIGCHLD};
	int pid = syscall(SYS_clone3, &a, sizeof a);
	if (pid == 0) _exit(0);
	return child_ends(pid);
}
static int clone_into_group(void) {
	struct clone_args a = {.exit_signal = SIGCHLD, .flags = CLONE_INTO_CGROUP, .cgroup = 0};
	return result(syscall(SYS_clone3, &a, sizeof a));
}
#ifdef SYS_fork
static int fork_call(void) {
	int pid = syscall(SYS_fork);
	if (pid == 0) _exit(0);
	return child_ends(pid);
}
static int vfork_call(void) {
	int pid = vfork();
	if (pid == 0) _exit(0);
	return child_ends(pid);
}
#endif
static int own_table(void) { return result(unshare(CLONE_FILES)); }
static int death_signal(void) { return result(prctl(PR_SET_PDEATHSIG, 0)); }
static int dumpable(void) { return result(prctl(PR_SET_DUMPABLE, 0)); }
static int tracer(void) {
	int r = result(prctl(PR_SET_PTRACER, -1L));
	return r == EINVAL ? 0 : r; // so a kernel without Yama answers
}
static int reaper(void) { return result(prctl(PR_SET_CHILD_SUBREAPER, 1)); }
static int timer_slack(void) { return result(prctl(PR_SET_TIMERSLACK, 1)); }
static int core_scheduling(void) { return result(prctl(62, 1, 0, 0, 0)); }
static int thread_name(void) { return result(prctl(PR_SET_NAME, "probe")); }
static int own_nice(void) { return result(setpriority(PRIO_PROCESS, 0, 19)); }
static int own_affinity(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) == -1) return errno;
	return result(sched_setaffinity(0, sizeof set, &set));
}
static int own_affinity_asked(void) {
	cpu_set_t set;
	return result(sched_getaffinity(0, sizeof set, &set));
}
static int own_scheduler(void) {
	struct sched_param p = {0};
	return result(sched_setscheduler(0, SCHED_BATCH, &p));
}
static int robust_list(void) {
	void *head;
	size_t length;
	return result(syscall(SYS_get_robust_list, 0, &head, &length));
}
static int alarm_clock(void) {
	timer_t t;
	struct sigevent e = {.sigev_notify = SIGEV_NONE};
	return result(syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &t));
}
static int signal_descriptor(void) {
	uint64_t mask = 0;
	return result(syscall(SYS_signalfd4, -1, &mask, sizeof mask, 0));
}
#endif

const struct act processes[] = {
	ACT(fork_child), ACT(spawn), ACT(thread), ACT(new_session), ACT(new_group), ACT(wait_for_children), ACT(crowd),
#ifdef __linux__
	ACT(clone_child), ACT(clone_silent), ACT(clone_vfork), ACT(clone_memory), ACT(clone_parent), ACT(clone_user), ACT(clone_everything),
	ACT(clone_of_table), ACT(clone_by_3), ACT(clone_into_group), ACT(own_table), ACT(death_signal), ACT(dumpable), ACT(tracer), ACT(reaper),
	ACT(timer_slack), ACT(core_scheduling), ACT(thread_name), ACT(own_nice), ACT(own_affinity), ACT(own_affinity_asked), ACT(own_scheduler),
	ACT(robust_list), ACT(alarm_clock), ACT(signal_descriptor),
#ifdef SYS_fork
	ACT(fork_call), ACT(vfork_call),
#endif
#endif
	END};
