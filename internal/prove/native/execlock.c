// Becoming another program: one exec in the life of a process, and the launch has spent it. The stage named Node by a descriptor, so every way is
// tried that could pass for the same: by any number, with any path beside it. What is executed is the probe, which then reports for the act and,
// where it took the place of the first one, goes on with the list.
#include "probe.h"
#include <pthread.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

extern char **environ;
static char *again[] = {NULL, NULL, NULL, NULL};

static char **arguments(void) {
	again[0] = (char *)self;
	again[1] = in_child ? "executed" : "resumed";
	again[2] = (char *)row;
	return again;
}

static int by_execve(void) { return result(execve(self, arguments(), environ)); }
static int by_input(void) { return result(execve(shared("f"), arguments(), environ)); }
static int by_shell(void) {
	char *argv[] = {"sh", "-c", "printf '{\"name\": \"%s\", \"said\": \"done\", \"code\": \"\", \"text\": \"\"}\\n' \"$0\"", (char *)row, NULL};
	return result(execve("/bin/sh", argv, environ));
}

#ifdef __linux__
static int itself(void) { return open(self, O_RDONLY | O_CLOEXEC); }
static int exec_at(int fd, const char *path, int flags) { return result(syscall(SYS_execveat, fd, path, arguments(), environ, flags)); }

static int by_descriptor(void) { return exec_at(itself(), "", AT_EMPTY_PATH); }
static int by_descriptor_of_path(void) { return exec_at(open(self, O_PATH | O_CLOEXEC), "", AT_EMPTY_PATH); }
static int by_path(void) { return exec_at(itself(), self, 0); }
static int by_path_and_flag(void) { return exec_at(itself(), self, AT_EMPTY_PATH); }
static int by_unused(void) { return exec_at(99, self, AT_EMPTY_PATH); }
static int by_working_directory(void) { return exec_at(AT_FDCWD, self, 0); }

// by_every_number puts the executable at each number, the one that the launch used among them.
static int by_every_number(void) {
	int fd = itself(), r = 0;
	for (int n = 4; n < 24 && (n == fd || dup3(fd, n, O_CLOEXEC) == n); n++)
		if ((r = exec_at(n, "", AT_EMPTY_PATH)) != 0 && r != ENOSYS) return r;
	return r;
}

// by_emptied closes everything first, so that the executable gets the lowest numbers, as for the launch.
static int by_emptied(void) {
	for (int n = 3; n < 256; n++) close(n);
	return by_descriptor();
}

// by_low_address has the path at the lowest page there can be, as the launch's own arguments might have been.
static int by_low_address(void) {
	for (uintptr_t at = 65536; at < 1 << 20; at += 4096) {
		char *p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p != MAP_FAILED) return exec_at(99, strcpy(p, self), AT_EMPTY_PATH);
	}
	return ENOMEM;
}

static void *by_thread(void *answer) {
	*(int *)answer = by_descriptor();
	return NULL;
}
static int from_thread(void) {
	pthread_t t;
	int answer = 0, r = pthread_create(&t, NULL, by_thread, &answer);
	if (r == 0) pthread_join(t, NULL);
	return r ? r : answer;
}

// by_loader has ld.so load it, whose path is in the executable's own list of maps.
static int by_loader(void) {
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[PATH_MAX], loader[PATH_MAX] = "";
	while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
		char *path = strchr(line, '/');
		if (path == NULL || strstr(path, "/ld-") == NULL) continue;
		snprintf(loader, sizeof loader, "%.*s", (int)strcspn(path, "\n"), path);
		break;
	}
	if (maps != NULL) fclose(maps);
	char **words = arguments(), *argv[] = {loader, words[0], words[1], words[2], NULL};
	return result(syscall(SYS_execveat, open(loader, O_RDONLY | O_CLOEXEC), "", argv, environ, AT_EMPTY_PATH));
}
static int by_loader_execve(void) {
	char **words = arguments(), *argv[] = {"/lib64/ld-linux-x86-64.so.2", words[0], words[1], words[2], NULL};
#ifdef __aarch64__
	argv[0] = "/lib/ld-linux-aarch64.so.1";
#endif
	return result(execve(argv[0], argv, environ));
}

// by_memory executes a copy in memory.
static int by_memory(void) {
	char buffer[65536];
	int from = itself(), to = memfd_create("probe", MFD_CLOEXEC);
	if (to < 0) return errno;
	for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
		if (write(to, buffer, n) != n) return errno;
	return exec_at(to, "", AT_EMPTY_PATH);
}
static int by_self_link(void) { return result(execve("/proc/self/exe", arguments(), environ)); }
static int check_only(void) { return exec_at(itself(), "", AT_EMPTY_PATH | 0x10000); } // AT_EXECVE_CHECK: asks, does not execute
#endif

const struct act execlock[] = {
	ACT(by_execve), ACT(by_input), ACT(by_shell),
#ifdef __linux__
	ACT(by_descriptor), ACT(by_descriptor_of_path), ACT(by_unused), ACT(by_path_and_flag), ACT(by_working_directory), ACT(by_every_number),
	ACT(by_emptied), ACT(by_low_address), ACT(from_thread), ACT(by_loader), ACT(by_loader_execve), ACT(by_memory), ACT(by_self_link),
	ACT(check_only),
	{"by_absolute_path", by_path, 0},
#endif
	END};
