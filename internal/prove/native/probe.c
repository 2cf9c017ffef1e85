// The probe stands in for Node: it is started with Node's arguments and leads the host by Node's protocol. `--version` prints a version.
// Otherwise it waits for the byte at the gate, says on descriptor 3 that it was admitted, enters the input and does what acts.txt there lists,
// one "name TAB act" a line, or with the arguments `act NAME` that one alone. It prints one line of JSON for each. Around a list it prints
// `ready` and `done`, and waits for SIGUSR2 after each, so that the host can look before and after.
//
// Where a child can be had, as unconfined, each act is done in one, so that none changes the process for the next.
#include "probe.h"
#include <sys/wait.h>

char said[1024], code[64];
const char *self, *argument;
const char *row;
int in_child;
static const char *doing; // the act
static char *world_text;

int result(long r) { return r == -1 ? errno : 0; }

int word(const char *text) {
	snprintf(code, sizeof code, "%s", text);
	return OWN_WORD;
}

const char *join(const char *directory, const char *name) {
	static char paths[8][PATH_MAX];
	static int next;
	char *path = paths[next++ % 8];
	if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX) *path = 0;
	return path;
}

// The input is the working directory, so that its path is not needed.
const char *target(const char *name) {
	char directory[64];
	snprintf(directory, sizeof directory, "native/%s", doing);
	return join(directory, name);
}

const char *shared(const char *name) { return join("native/shared", name); }

int writable(const char *path) {
	int fd = open(path, O_RDWR);
	return fd >= 0 ? fd : open(path, O_RDONLY);
}

int tell(int fd) {
	if (fd < 0) return errno;
	ssize_t n = read(fd, said, sizeof said - 1);
	int r = result(n);
	said[n > 0 ? n : 0] = 0;
	close(fd);
	return r;
}

int open_close(const char *path, int flags) {
	int fd = open(path, flags, 0600), r = result(fd);
	if (fd >= 0) close(fd);
	return r;
}

int child_ends(int pid) {
	if (pid == -1) return errno;
	int status;
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR);
	return 0;
}

long page_size(void) { return sysconf(_SC_PAGESIZE); }
void *page_of(const void *p) { return (void *)((uintptr_t)p & ~(uintptr_t)(page_size() - 1)); }

// slurp reads a whole file; it ends the probe if it cannot, since nothing of what follows would mean anything.
static char *slurp(const char *path) {
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t length = f == NULL ? -1 : getdelim(&text, &size, 0, f);
	if (f == NULL || ferror(f)) {
		perror(path);
		exit(2);
	}
	fclose(f);
	return length > 0 ? text : strdup("");
}

const char *world(const char *key) {
	static char values[4][PATH_MAX];
	static int next;
	size_t length = strlen(key);
	for (const char *line = world_text; line != NULL && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, key, length) || line[length] != '\t') continue;
		const char *value = line + length + 1;
		char *copy = values[next++ % 4];
		snprintf(copy, PATH_MAX, "%.*s", (int)strcspn(value, "\n"), value);
		return copy;
	}
	return "";
}

int number(const char *key) { return atoi(world(key)); }

static const char *errno_name(int e) {
	static const struct { int number; const char *name; } names[] = {
#define E(name) {name, #name}
		E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC), E(EBADF), E(ECHILD), E(EAGAIN), E(ENOMEM), E(EACCES), E(EFAULT), E(EBUSY),
		E(EEXIST), E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR), E(EINVAL), E(EMFILE), E(ENFILE), E(ENOTTY), E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EROFS),
		E(EMLINK), E(EPIPE), E(EDOM), E(ERANGE), E(EDEADLK), E(ENAMETOOLONG), E(ENOLCK), E(ENOSYS), E(ENOTEMPTY), E(ELOOP), E(EPROTO), E(EOVERFLOW), E(ENOTSOCK),
		E(EPROTOTYPE), E(ENOPROTOOPT), E(EPROTONOSUPPORT), E(ESOCKTNOSUPPORT), E(EOPNOTSUPP), E(EAFNOSUPPORT), E(EADDRINUSE), E(EADDRNOTAVAIL), E(ENETUNREACH),
		E(ECONNREFUSED), E(ECONNRESET), E(EISCONN), E(ENOTCONN), E(ETIMEDOUT), E(EHOSTUNREACH), E(EALREADY), E(EINPROGRESS), E(EUSERS),
#ifdef __linux__
		E(ENOKEY), E(EUCLEAN), E(ENOPKG), E(EHWPOISON),
#endif
#undef E
	};
	static char other[32];
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].number == e) return names[i].name;
	snprintf(other, sizeof other, "errno %d", e);
	return other;
}

static void print_string(const char *name, const char *text) {
	printf("\"%s\": \"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\') printf("\\%c", *text);
		else if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e) printf("\\u%04x", (unsigned char)*text);
		else putchar(*text);
	}
	putchar('"');
}

static void report(int r) {
	if (r == 0 && !*said) strcpy(said, "done");
	if (r != 0 && r != OWN_WORD) word(errno_name(r));
	printf("{");
	print_string("name", row);
	printf(", ");
	print_string("said", r == 0 ? said : "");
	printf(", ");
	print_string("code", r == 0 ? "" : code);
	printf(", ");
	print_string("text", r == 0 || r == OWN_WORD ? said : strerror(r));
	printf("}\n");
	fflush(stdout);
}

static const struct act *find(const char *name) {
	static const struct act *const families[] = {
		start, files, reads, network, processes, execlock, others, memory, host, ipc, limits,
#ifdef __linux__
		locks, kernel,
#else
		mac,
#endif
	};
	for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
		for (const struct act *a = families[f]; a->name != NULL; a++)
			if (!strcmp(a->name, name)) return a;
	fprintf(stderr, "no act is called %s\n", name);
	exit(2);
}

static void perform(const struct act *a) {
	said[0] = code[0] = 0;
	report(a->act());
	for (int fd = 3; fd < 64 && !a->lasts; fd++) close(fd);
	if (chdir(world("input")) == -1) errno = 0; // an act may have gone elsewhere, even to where there is no way back
}

// apart does an act in a child, and says whether there can be one.
static int apart(const struct act *a) {
	int pid = fork(), status = 0;
	if (pid == 0) {
		in_child = 1;
		perform(a);
		_exit(0);
	}
	if (pid == -1) return 0;
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR);
#ifdef __linux__
	while (waitpid(-1, NULL, __WALL) > 0); // what the act made as a child of its own parent
#endif
	if (WIFSIGNALED(status)) {
		word("killed");
		snprintf(said, sizeof said, "ended by signal %d", WTERMSIG(status));
		report(OWN_WORD);
	}
	return 1;
}

static void act_on(char *name, char *act, int alone) {
	char *space = strchr(act, ' ');
	if (space != NULL) *space = 0;
	row = name;
	doing = act;
	argument = space != NULL ? space + 1 : "";
	const struct act *a = find(act);
	if (alone || a->lasts || !apart(a)) perform(a);
}

static int parent;
static volatile sig_atomic_t told;
static void on_signal(int unused) { (void)unused; told = 1; }

// pause_after prints a line and waits for SIGUSR2. The signal may come between the question and the wait, so the wait is a short one. For a host
// that is gone nobody waits: the parent is another one then.
static void pause_after(const char *line) {
	told = 0;
	puts(line);
	fflush(stdout);
	while (!told) {
		usleep(2000);
		if (getppid() != parent) exit(3);
	}
}

// do_list does all of it or, resumed, what comes after a row.
static void do_list(const char *after) {
	char *list = slurp("acts.txt");
	signal(SIGUSR2, on_signal);
	if (after == NULL) pause_after("ready");
	for (char *line = strtok(list, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char *tab = strchr(line, '\t');
		if (tab == NULL) continue;
		*tab = 0;
		if (after == NULL) act_on(line, tab + 1, 0);
		else if (!strcmp(line, after)) after = NULL;
	}
	pause_after("done");
}

// admit is Node's part in the launch: the byte, the record, the directory.
static void admit(void) {
	static const char record[] = "sf-confined/1 admitted\n";
	char byte = 0;
	if (read(0, &byte, 1) != 1 || byte != 0x67) exit(125);
	if (write(3, record, sizeof record - 1) < 0) errno = 0; // unconfined nobody listens there
	close(3);
#ifdef __linux__
	if (chdir(join(getenv("HOME"), "../input")) == -1) { // elsewhere it is where the process starts
		perror("input");
		exit(2);
	}
#endif
}

int main(int argc, char **argv) {
	look_at_start();
	signal(SIGXFSZ, SIG_IGN); // an act may write to a file where none may grow: that is then EFBIG
	self = argv[0];
	parent = getppid();
	if (argc == 2 && !strcmp(argv[1], "--version")) return puts("v1.0.0") < 0;
	if (argc == 3 && (!strcmp(argv[1], "executed") || !strcmp(argv[1], "resumed"))) { // by an act of execlock.c
		row = argv[2];
		report(0);
		if (!strcmp(argv[1], "executed")) return 0;
		world_text = slurp("world.txt");
		do_list(row);
		return 0;
	}
	if (argc < 3 || getenv("HOME") == NULL) return 2;
	admit();
	world_text = slurp("world.txt");
	if (argc > 4 && !strcmp(argv[argc - 2], "act")) act_on(argv[argc - 1], argv[argc - 1], 1);
	else do_list(NULL);
	return 0;
}
