// Limits: what is in force, whether it holds, and whether it can be raised.
#include "probe.h"
#include <sys/resource.h>

static const struct { const char *name; int resource; } resources[] = {
	{"cpu", RLIMIT_CPU}, {"descriptors", RLIMIT_NOFILE}, {"core", RLIMIT_CORE}, {"file", RLIMIT_FSIZE}, {"threads", RLIMIT_NPROC}, {"data", RLIMIT_DATA},
	{"stack", RLIMIT_STACK}, {"memlock", RLIMIT_MEMLOCK}, {"space", RLIMIT_AS},
#ifdef __linux__
	{"msgqueue", RLIMIT_MSGQUEUE}, {"sigpending", RLIMIT_SIGPENDING}, {"nice", RLIMIT_NICE}, {"realtime", RLIMIT_RTPRIO}, {"locks", RLIMIT_LOCKS},
#endif
};
enum { kinds = sizeof resources / sizeof resources[0] };

// above looks for a limit that is laxer than promised: the argument is a name and a number or, where the request chose it, a key of the world.
static int above(void) {
	char name[32], bound[32];
	if (sscanf(argument, "%31s %31s", name, bound) != 2) return EINVAL;
	rlim_t most = strtoull(*world(bound) ? world(bound) : bound, NULL, 10);
	for (int i = 0; i < kinds; i++) {
		struct rlimit l;
		if (strcmp(resources[i].name, name)) continue;
		if (getrlimit(resources[i].resource, &l) == -1) return errno;
		snprintf(said, sizeof said, "%llu, at most %llu", (unsigned long long)l.rlim_cur, (unsigned long long)l.rlim_max);
		return l.rlim_cur == most && l.rlim_max == most ? word("NONE") : 0;
	}
	return EINVAL;
}

// raise_hard tries to raise each hard limit that is one, and says which rose.
static int raise_hard(void) {
	size_t length = 0;
	int refusal = EINVAL;
	for (int i = 0; i < kinds; i++) {
		struct rlimit l, higher;
		if (getrlimit(resources[i].resource, &l) == -1 || l.rlim_max == RLIM_INFINITY) continue;
		higher = (struct rlimit){l.rlim_cur, l.rlim_max + 1};
		if (setrlimit(resources[i].resource, &higher) == 0) length += snprintf(said + length, sizeof said - length, "%s ", resources[i].name);
		else refusal = errno;
	}
	return length > 0 ? 0 : refusal;
}

// set_again sets limits to what they are.
static int set_again(void) {
	struct rlimit l;
	return getrlimit(RLIMIT_NOFILE, &l) == -1 ? errno : result(setrlimit(RLIMIT_NOFILE, &l));
}
static int ask(void) {
	struct rlimit l;
	return result(getrlimit(RLIMIT_NOFILE, &l));
}

// open_many opens as many descriptors as the argument says, the three standard ones included.
static int open_many(void) {
	int want = atoi(argument), n, r = 0, first = -1;
	for (n = 3; n < want; n++) {
		int fd = dup(0);
		if (fd < 0) {
			r = errno;
			break;
		}
		if (first < 0) first = fd;
	}
	for (int fd = first; first >= 0 && fd < want + first; fd++) close(fd);
	snprintf(said, sizeof said, "%d descriptors", n);
	return r;
}

#ifdef __linux__
static int queued(void) {
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	int n = -1;
	while (status != NULL && fgets(line, sizeof line, status) != NULL && sscanf(line, "SigQ: %d", &n) != 1);
	if (status != NULL) fclose(status);
	return n;
}

// queue_signals sends itself more real-time signals than it takes: the kernel keeps them for its user.
static int queue_signals(void) {
	int want = atoi(argument);
	sigset_t one, before;
	sigemptyset(&one);
	sigaddset(&one, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &one, &before);
	for (int i = 0; i < want; i++) kill(getpid(), SIGRTMIN);
	int kept = queued();
	signal(SIGRTMIN, SIG_IGN); // which drops those that wait
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGRTMIN, SIG_DFL);
	snprintf(said, sizeof said, "%d signals", kept);
	return kept >= want ? 0 : word("NONE");
}

static int out_of_memory_score(void) {
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);
	return fd < 0 ? errno : result(write(fd, "1000", 4));
}
static int core_filter(void) {
	int fd = open("/proc/self/coredump_filter", O_WRONLY);
	return fd < 0 ? errno : result(write(fd, "0x33", 4));
}
#endif

const struct act limits[] = {
	ACT(above), ACT(raise_hard), ACT(set_again), ACT(ask), ACT(open_many),
#ifdef __linux__
	ACT(queue_signals), ACT(out_of_memory_score), ACT(core_filter),
#endif
	END};
