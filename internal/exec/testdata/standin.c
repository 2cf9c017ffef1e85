/*
 * Node's part in a run, for faults that are not about Node: it starts a hundred
 * times as fast and is hashed a thousand times as fast. It passes the gate as
 * the preload does, which it knows by how it is named, and then does the one act
 * that the entry names.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int part(void); /* from libpart.so, so that the runtime has a library of its own */

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		_exit(3);
}

/* As the preload of macOS finds out whether it is confined. */
static void see_the_denial(void)
{
	char path[4096];
	const char *home = getenv("HOME");

	snprintf(path, sizeof path, "%s/../canary", home ? home : "");
	if (open(path, O_RDONLY) != -1 || errno != EPERM) {
		say(2, "stand-in: the canary is not denied\n");
		say(3, "sf-confined/1 refused\n");
		_exit(125);
	}
}

static void pass_gate(void)
{
	char go;
	if (read(0, &go, 1) != 1 || go != 0x67) {
		say(3, "sf-confined/1 refused\n");
		_exit(125);
	}
	say(3, "sf-confined/1 admitted\n");
	close(3);
}

static void flood(int fd, int other)
{
	static char block[65536];
	memset(block, 'x', sizeof block);
	for (;;) {
		if (write(fd, block, sizeof block) < 0 || write(other, block, sizeof block) < 0)
			_exit(3);
	}
}

static int act(const char *name)
{
	if (!strcmp(name, "exit"))
		return 0;
	if (!strcmp(name, "stop and print")) {
		kill(getpid(), SIGSTOP);
		return printf("%10000d", 0) < 0;
	}
	if (!strcmp(name, "abort"))
		raise(SIGABRT);
	if (!strcmp(name, "stop"))
		kill(getpid(), SIGSTOP);
	if (!strcmp(name, "flood stdout"))
		flood(1, 1);
	if (!strcmp(name, "flood stderr"))
		flood(2, 2);
	if (!strcmp(name, "flood both"))
		flood(1, 2);
	say(1, "running");
	for (;;)
		if (!strcmp(name, "wait"))
			poll(0, 0, -1);
}

int main(int argc, char **argv)
{
	char name[32] = "";
	FILE *entry;

	if (argc == 2 && !strcmp(argv[1], "--version"))
		return puts("v1.0.0") < 0;
	if (argc > 1 && !strcmp(argv[1], "--import"))
		see_the_denial();
	pass_gate();
	if (argc < 4 || !(entry = fopen(argv[3], "r")) || !fgets(name, sizeof name, entry))
		return 2;
	return act(name) + part();
}
