// A stand-in for one denial, preloaded into the program that a stand-in sandbox-exec becomes: opening a file called canary fails with
// EPERM. It takes its own trace out of the environment. For tests on Linux only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

__attribute__((constructor)) static void leave_no_trace(void) { unsetenv("LD_PRELOAD"); }

static int denied(const char *path) {
	static const char name[] = "/canary";
	size_t length = strlen(path);
	if (length < sizeof name - 1 || strcmp(path + length - (sizeof name - 1), name) != 0) return 0;
	errno = EPERM;
	return 1;
}

static mode_t mode_of(int flags, va_list rest) {
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                                                                  \
	int name(const char *path, int flags, ...) {                                                \
		va_list rest;                                                                       \
		va_start(rest, flags);                                                              \
		mode_t mode = mode_of(flags, rest);                                                 \
		va_end(rest);                                                                       \
		if (denied(path)) return -1;                                                        \
		return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode); \
	}

#define OPENAT(name)                                                                                        \
	int name(int at, const char *path, int flags, ...) {                                                \
		va_list rest;                                                                               \
		va_start(rest, flags);                                                                      \
		mode_t mode = mode_of(flags, rest);                                                         \
		va_end(rest);                                                                               \
		if (denied(path)) return -1;                                                                \
		return ((int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, #name))(at, path, flags, mode); \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
