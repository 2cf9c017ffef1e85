// What the process was started with, looked at before it did anything. An act succeeds if it finds what should not be there.
#include "probe.h"
#include <sys/stat.h>
#ifdef __linux__
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

extern char **environ;
static char descriptors[512]; // all but the gate, two outputs and the control pipe
static char words[1024], signals[512];
static char directory[PATH_MAX];
static mode_t mask;

// look_at_signals notes what an exec keeps: which are blocked and which are ignored.
static void look_at_signals(void) {
	sigset_t blocked;
	size_t length = 0;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int n = 1; n < NSIG && length < sizeof signals - 8; n++) {
		struct sigaction a;
		if (sigaction(n, NULL, &a) == -1 || (a.sa_handler == SIG_DFL && sigismember(&blocked, n) != 1)) continue;
		length += snprintf(signals + length, sizeof signals - length, "%d ", n);
	}
}

void look_at_start(void) {
	look_at_signals();
	size_t length = 0;
	for (int fd = 0; fd < 1024; fd++) {
		struct stat s;
		if (fstat(fd, &s) == -1 || (fd < 4 && S_ISFIFO(s.st_mode)) || length > sizeof descriptors - 8) continue;
		length += snprintf(descriptors + length, sizeof descriptors - length, "%d ", fd);
	}
	length = 0;
	for (char **e = environ; *e != NULL && length < sizeof words - 1; e++) {
		length += snprintf(words + length, sizeof words - length, "%s ", *e);
		if (length > sizeof words - 1) length = sizeof words - 1;
	}
	if (getcwd(directory, sizeof directory) == NULL) *directory = 0;
	mask = umask(077);
	umask(mask);
}

static int found(const char *text) {
	snprintf(said, sizeof said, "%.1000s", text);
	return 0;
}

static int descriptors_inherited(void) { return *descriptors ? found(descriptors) : word("NONE"); }

static int environment_inherited(void) {
	char want[1024];
	snprintf(want, sizeof want, "LC_ALL=C TZ=UTC HOME=%s TMPDIR=%s OPENSSL_CONF=/dev/null ", world("home"), world("home"));
	return strcmp(words, want) ? found(words) : word("NONE");
}

static int open_umask(void) {
	snprintf(said, sizeof said, "%03o", mask);
	return (mask & 077) != 077 ? 0 : word("NONE");
}

static int signals_inherited(void) { return *signals ? found(signals) : word("NONE"); }

static int directory_inherited(void) { return strcmp(directory, "/") ? found(directory) : word("NONE"); }
static int terminal(void) { return open_close("/dev/tty", O_RDWR); }
static int terminal_of_descriptors(void) {
	for (int fd = 0; fd < 4; fd++)
		if (isatty(fd)) return 0;
	return word("NONE");
}
static int identity(void) {
	snprintf(said, sizeof said, "%d %d", (int)getuid(), (int)getgid());
	return getuid() != 65534 || geteuid() != 65534 || getgid() != 65534 || getegid() != 65534 ? 0 : word("NONE");
}
#ifdef __linux__
static int capabilities_of(int pid) {
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, pid};
	struct __user_cap_data_struct d[2];
	return result(syscall(SYS_capget, &h, d));
}
static int own_capabilities(void) { return capabilities_of(0); }
static int init_capabilities(void) { return capabilities_of(1); }

// status reads what /proc/self/status says after a name.
static int status(const char *name, char *value, size_t size) {
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	size_t length = strlen(name);
	if (f == NULL) return -1;
	*value = 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (!strncmp(line, name, length) && line[length] == ':') snprintf(value, size, "%.*s", (int)strcspn(line + length + 2, "\n"), line + length + 2);
	fclose(f);
	return *value ? 0 : -1;
}

// capabilities_left: any bit of any set, the bounding set included.
static int capabilities_left(void) {
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		if (status(sets[i], said, sizeof said) == -1) return errno;
		if (strcmp(said, "0000000000000000")) return 0;
	}
	return word("NONE");
}

// promised looks for a line of the status that is not as in the argument, NAME VALUE.
static int promised(void) {
	char name[32];
	const char *value = strchr(argument, ' ');
	snprintf(name, sizeof name, "%.*s", (int)(value - argument), argument);
	if (status(name, said, sizeof said) == -1) return errno;
	return strcmp(said, value + 1) ? 0 : word("NONE");
}
static int new_privileges(void) { return result(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)); }
static int secure_bits(void) { return result(prctl(PR_GET_SECUREBITS)); }
static int drop_bounding(void) { return result(prctl(PR_CAPBSET_READ, 0)); }
static int old_layout(void) { return result(personality(0xffffffff)); }
static int ids_of_sets(void) {
	uid_t r, e, s;
	return result(getresuid(&r, &e, &s));
}
#endif

const struct act start[] = {
	ACT(descriptors_inherited), ACT(environment_inherited), ACT(open_umask), ACT(directory_inherited), ACT(signals_inherited), ACT(terminal),
	ACT(terminal_of_descriptors), ACT(identity),
#ifdef __linux__
	ACT(own_capabilities), ACT(init_capabilities), ACT(capabilities_left), ACT(promised), ACT(new_privileges), ACT(secure_bits), ACT(drop_bounding),
	ACT(old_layout), ACT(ids_of_sets),
#endif
	END};
