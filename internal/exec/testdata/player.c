// Plays Node's part where only the launch matters: it has a version, and otherwise the preload's word and a program's output.
// It is small, so that hashing it takes no time.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	char gate;
	if (argc == 2 && strcmp(argv[1], "--version") == 0) return puts("v1.0.0") == EOF;
	if (read(0, &gate, 1) != 1 || gate != 'g') return 125;
	if (dprintf(3, "sf-confined/1 admitted\n") < 0 || close(3) != 0) return 1;
	return puts("ran") == EOF;
}
