// The native probe tries what JavaScript cannot. An act is a function that returns 0 if what it tried took place, and an errno if it was
// refused; OWN_WORD says that it set `code` itself, to NONE where what it looked for is not there and no error says so. It may set `said` to what
// it found. The acts of a family are a table in its file; whether an act is denied, and what shows it, is in the tables of package prove.
#ifndef PROBE_H
#define PROBE_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct act {
	const char *name;
	int (*act)(void);
	int lasts; // what it makes must be there until the host has looked, so it is done in this process and no descriptor is closed after it
};
#define ACT(name) {#name, name, 0}
#define LASTING(name) {#name, name, 1}
#define END {NULL, NULL, 0}

extern const struct act start[], files[], reads[], network[], processes[], execlock[], others[], memory[], host[], ipc[], limits[];
#ifdef __linux__
extern const struct act locks[], kernel[];
#else
extern const struct act mac[]; // what is no Linux is macOS
#endif

enum { OWN_WORD = -1 };

// Calls that the headers of a compiler may not know yet; their numbers are those of every architecture.
enum { NEWER_CACHESTAT = 451, NEWER_FCHMODAT2 = 452, NEWER_LISTMOUNT = 458, NEWER_LSM_LIST_MODULES = 461, NEWER_MSEAL = 462 };

extern char said[1024], code[64];
extern const char *self; // the probe's own executable, as it was started
extern const char *row; // the name of the row that is being tried
extern int in_child; // the act is done in a child of the probe
extern const char *argument; // of the act, after the first space of its name in the table

void look_at_start(void); // before anything is opened
int result(long r); // errno if r is -1, else 0
int word(const char *text); // sets code
const char *world(const char *key); // of world.txt; "" if it says nothing of it
int number(const char *key);
const char *join(const char *directory, const char *name);
const char *target(const char *name); // of the act's own in the input: files f and g, and a free name n
const char *shared(const char *name); // the same for acts that change nothing
int writable(const char *path); // a descriptor to write through or, if that is refused, to read
int tell(int descriptor); // reads into said, closes
int open_close(const char *path, int flags);
int child_ends(int pid); // waits for a child, if there is one
long page_size(void); // bytes; not the same on every host
void *page_of(const void *p); // where its page begins

#endif
