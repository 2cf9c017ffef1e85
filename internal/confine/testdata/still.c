// Stands in for Node where Node itself would already have opened and set things: says which descriptors it was started with and its
// environment, and ends when the gate opens or closes.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern char **environ;

int main(void) {
	char c;
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) != -1) printf("%d ", fd);
	for (char **e = environ; *e; e++) printf("%s ", *e);
	printf("\n");
	fflush(stdout);
	return read(0, &c, 1) < 0;
}
