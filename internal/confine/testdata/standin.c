// A stand-in for sandbox-exec, for tests on Linux only:
//
//	cc -DVARIANT=DENYING -DLIBRARY='"/tmp/deny.so"' -o sandbox-exec standin.c
//	sandbox-exec -p PROFILE COMMAND [ARGUMENT...]
//
// It confines nothing. What each variant says and returns is what facts are known of Apple's, and where it lies or dies, what a host has
// to withstand. LIBRARY is the shared object that deny.c becomes; NAME is for REFUSING.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum variant {
	PLAIN,        // becomes the command: nothing is denied
	DENYING,      // becomes the command, which cannot open the canary: what a good boundary looks like from inside
	USAGE,        // 64
	REFUSING,     // 65 if the profile holds NAME, else DENYING
	NESTED,       // 71: already in a sandbox
	UNEXECUTABLE, // 71: the profile does not let the command be executed
	KILLED,       // ends by SIGKILL, as a binary with a broken signature
	ABORTED,      // ends by SIGABRT, as a loader that may not read what it needs
	TRAPPED,      // ends by SIGTRAP, as a Node that may not make code
	LYING,        // says itself that the program is admitted, then DENYING
	PARENT,       // starts the command as a child, DENYING, and ends as it does
	LOWERING,     // takes away descriptors after the report, then DENYING
	STAYING,      // never becomes the command
};

#ifndef LIBRARY
#define LIBRARY ""
#endif
#ifndef NAME
#define NAME ""
#endif

static int fail(int code, const char *text) {
	fprintf(stderr, "sandbox-exec: %s\n", text);
	return code;
}

static int become(char **command) {
	execvp(command[0], command);
	fprintf(stderr, "sandbox-exec: execvp() of '%s' failed: %s\n", command[0], strerror(errno));
	return 71;
}

static int denying(char **command) {
	setenv("LD_PRELOAD", LIBRARY, 1);
	return become(command);
}

static int parent(char **command) {
	int status;
	pid_t pid = fork();
	if (pid == 0) _exit(denying(command));
	if (pid < 0 || waitpid(pid, &status, 0) != pid) return fail(71, "fork");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int stay(void) {
	while (pause() != 0) {
	}
	return 1;
}

static int lower(char **command) {
	struct rlimit fewer = {24, 24};
	return setrlimit(RLIMIT_NOFILE, &fewer) == 0 ? denying(command) : fail(71, "setrlimit");
}

static int die(int number) {
	raise(number);
	return 1;
}

static int lie(char **command) {
	static const char record[] = "sf-confined/1 admitted\n";
	if (write(3, record, sizeof record - 1) < 0) return fail(71, "write");
	return denying(command);
}

int main(int argc, char **argv) {
	if (argc < 4 || strcmp(argv[1], "-p") != 0 || strncmp(argv[2], "(version 1)", 11) != 0 || argv[3][0] != '/') {
		fprintf(stderr, "Usage: sandbox-exec [options] command [args]\n");
		return 64;
	}
	char **command = argv + 3;
	switch ((enum variant)VARIANT) {
	case PLAIN: return become(command);
	case DENYING: return denying(command);
	case USAGE: fprintf(stderr, "Usage: sandbox-exec [options] command [args]\n"); return 64;
	case REFUSING: return strstr(argv[2], NAME) ? fail(65, "unbound variable: " NAME " at <input string>, line 7") : denying(command);
	case NESTED: return fail(71, "sandbox_apply: Operation not permitted");
	case UNEXECUTABLE: fprintf(stderr, "sandbox-exec: execvp() of '%s' failed: Operation not permitted\n", command[0]); return 71;
	case KILLED: return die(SIGKILL);
	case ABORTED: return die(SIGABRT);
	case TRAPPED: return die(SIGTRAP);
	case LYING: return lie(command);
	case PARENT: return parent(command);
	case LOWERING: return lower(command);
	case STAYING: return stay();
	}
	return 1;
}
