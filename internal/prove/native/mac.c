// What macOS alone has: Mach ports, the kernel's tables of processes by sysctl and proc_info, extended attributes and flags of files, clones, and the
// sandbox itself. It declares what it uses, as Apple's open sources do, and so includes no header that another system lacks.
#include "probe.h"
#include <sys/socket.h>

typedef unsigned int port; // mach_port_t
extern port mach_task_self_, bootstrap_port;
int task_for_pid(port, int, port *), task_name_for_pid(port, int, port *);
int mach_port_allocate(port, unsigned, port *), mach_port_insert_right(port, port, port, unsigned);
int bootstrap_look_up(port, const char *, port *), bootstrap_register(port, const char *, port);
int sysctl(int *, unsigned, void *, size_t *, void *, size_t), sysctlbyname(const char *, void *, size_t *, void *, size_t);
int proc_listallpids(void *, int), proc_pidinfo(int, int, uint64_t, void *, int), proc_pidpath(int, void *, uint32_t);
int clonefile(const char *, const char *, uint32_t), renamex_np(const char *, const char *, unsigned);
int chflags(const char *, unsigned), sandbox_init(const char *, uint64_t, char **);
int setxattr(const char *, const char *, const void *, size_t, uint32_t, int);
ssize_t listxattr(const char *, char *, size_t, int);

static int quiet(void) { return number("victims.read"); }

// asked is the answer of a call of Mach's, which has codes of its own: anything but 0 is a refusal that says no errno.
static int asked(int answer) {
	snprintf(said, sizeof said, "%#x", (unsigned)answer);
	return answer == 0 ? 0 : word("NONE");
}

static int own_port(void) {
	port p = 0;
	return asked(mach_port_allocate(mach_task_self_, 1, &p)); // MACH_PORT_RIGHT_RECEIVE
}
static int look_up(void) {
	port p = 0;
	return asked(bootstrap_look_up(bootstrap_port, argument, &p));
}
static int register_port(void) {
	port p = 0;
	char name[64];
	snprintf(name, sizeof name, "confined.probe.%d", getpid());
	int r = mach_port_allocate(mach_task_self_, 1, &p);
	if (r == 0) r = mach_port_insert_right(mach_task_self_, p, p, 20); // MACH_MSG_TYPE_MAKE_SEND
	return asked(r != 0 ? r : bootstrap_register(bootstrap_port, name, p));
}
static int task_port(void) {
	port p = 0;
	return asked(task_for_pid(mach_task_self_, quiet(), &p));
}
static int task_name(void) {
	port p = 0;
	return asked(task_name_for_pid(mach_task_self_, quiet(), &p));
}

// The kernel's tables, by the numbers of sys/sysctl.h: CTL_KERN, then KERN_PROC or KERN_PROCARGS2.
static int list_by_sysctl(void) {
	int name[] = {1, 14, 0, 0}; // KERN_PROC_ALL
	size_t size = 0;
	return result(sysctl(name, 3, NULL, &size, NULL, 0));
}
static int process_by_sysctl(void) {
	static char about[8192];
	int name[] = {1, 14, 1, quiet()}; // KERN_PROC_PID
	size_t size = sizeof about;
	return result(sysctl(name, 4, about, &size, NULL, 0));
}

// arguments_by_sysctl says the arguments of another process: their number, the path of what was executed, zeros, the arguments.
static int arguments_by_sysctl(void) {
	static char text[1 << 16];
	int name[] = {1, 49, quiet()}, count = 0; // KERN_PROCARGS2
	size_t size = sizeof text - 1, length = 0;
	if (sysctl(name, 3, text, &size, NULL, 0) == -1) return errno;
	char *p = text + sizeof count, *end = text + size;
	memcpy(&count, text, sizeof count);
	while (p < end && *p) p++;
	while (p < end && !*p) p++;
	for (; count > 0 && p < end && length < sizeof said - 1; count--, p += strlen(p) + 1) {
		length += snprintf(said + length, sizeof said - length, "%s ", p);
	}
	return length > 0 ? 0 : word("NONE");
}
static int one_number(const char *name) {
	int n = 0;
	size_t size = sizeof n;
	return result(sysctlbyname(name, &n, &size, NULL, 0));
}
static int processors(void) { return one_number("hw.ncpu"); }

// The same by proc_info, whose wrappers answer how many bytes or processes there are, and 0 or less for none.
static int counted(int n) {
	if (n > 0) return 0;
	return errno ? errno : word("NONE");
}
static int list_by_info(void) {
	static int pids[4096];
	errno = 0;
	return counted(proc_listallpids(pids, sizeof pids));
}
static int process_by_info(void) {
	static char about[1024];
	errno = 0;
	return counted(proc_pidinfo(quiet(), 13, 0, about, 64)); // PROC_PIDT_SHORTBSDINFO, which has 64 bytes
}
static int path_by_info(void) {
	static char path[4 * 1024];
	errno = 0;
	return counted(proc_pidpath(quiet(), path, sizeof path));
}

static int clone_whole(void) { return result(clonefile(target("f"), target("n"), 0)); }
static int swap_names(void) { return result(renamex_np(target("g"), target("f"), 2)); } // RENAME_SWAP
static int change_flags(void) { return result(chflags(target("f"), 1)); } // UF_NODUMP
static int attribute_set(void) { return result(setxattr(target("f"), "confined.probe", "x", 1, 0, 0)); }
static int attributes_of_host(void) { return result(listxattr(world("secret"), NULL, 0, 0)); }
static int by_volume(void) { return tell(open(world("volume"), O_RDONLY)); }

static int kernel_socket(void) { return result(socket(32, SOCK_DGRAM, 2)); } // AF_SYSTEM, SYSPROTO_CONTROL
static int routes(void) { return result(socket(17, SOCK_RAW, 0)); } // AF_ROUTE
static int tracer(void) { return open_close("/dev/dtracehelper", O_RDWR); }
static int another_sandbox(void) {
	char *why = NULL;
	return asked(sandbox_init("(version 1)(allow default)", 0, &why));
}

const struct act mac[] = {
	ACT(own_port), ACT(look_up), ACT(register_port), ACT(task_port), ACT(task_name), ACT(list_by_sysctl), ACT(process_by_sysctl), ACT(arguments_by_sysctl),
	ACT(processors), ACT(list_by_info), ACT(process_by_info), ACT(path_by_info), ACT(clone_whole), ACT(swap_names), ACT(change_flags), ACT(attribute_set),
	ACT(attributes_of_host), ACT(by_volume), ACT(kernel_socket), ACT(routes), ACT(tracer), ACT(another_sandbox), END};
