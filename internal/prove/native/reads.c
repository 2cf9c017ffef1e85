// Reading what is not the run's: a secret of the host by every alias, and what the kernel says of everybody.
#include "probe.h"
#include <dirent.h>
#include <sys/random.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/statfs.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#endif

static int read_path(const char *path) { return tell(open(path, O_RDONLY)); }

static int list(const char *path) {
	DIR *d = opendir(path);
	if (d == NULL) return errno;
	size_t length = 0;
	for (struct dirent *e; (e = readdir(d)) != NULL && length < sizeof said - 300;) length += snprintf(said + length, sizeof said - length, "%s ", e->d_name);
	closedir(d);
	return 0;
}

static const char *parent(const char *path) {
	static char copy[PATH_MAX];
	snprintf(copy, sizeof copy, "%s", path);
	char *slash = strrchr(copy, '/');
	if (slash != NULL) *slash = 0;
	return copy;
}

static const char up[] = "../../../../../../../../../../../../../../../..";

static int by_path(void) { return read_path(world("secret")); }
static int by_dots(void) { return read_path(join(up, world("secret"))); }
static int by_directory(void) {
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	return tell(openat(fd, join(up, world("secret")), O_RDONLY));
}
static int by_chdir(void) { return chdir(parent(world("secret"))) == -1 ? errno : read_path("secret.txt"); }
static int by_fchdir(void) {
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	return fchdir(fd) == -1 ? errno : read_path(join(up, world("secret")));
}
static int by_symlink(void) { return symlink(world("secret"), shared("s")) == -1 ? errno : read_path(shared("s")); }
static int by_hard_link(void) { return link(world("secret"), shared("h")) == -1 ? errno : read_path(shared("h")); }
static int there(void) { return result(access(world("secret"), F_OK)); }
static int list_root(void) { return list("/"); }
static int list_slot(void) { return list(world("slot")); }
static int list_outside(void) { return list(world("outside")); }
static int list_input(void) { return list("."); }
static int list_home(void) { return list(world("home")); }
static int list_slots(void) { return list(world("root")); }
static int read_held(void) { return read_path(world("held")); }
static int read_ledger(void) { return read_path(world("ledger")); }
static int read_canary(void) { return read_path(join(world("slot"), "canary")); }
static int read_users(void) { return read_path("/etc/passwd"); }
static int null_device(void) { return open_close("/dev/null", O_RDONLY); }
static int write_null(void) { return open_close("/dev/null", O_WRONLY); }
static int zero_device(void) { return open_close("/dev/zero", O_RDONLY); }
static int random_device(void) { return open_close("/dev/urandom", O_RDONLY); }
static int terminal_device(void) { return open_close("/dev/ptmx", O_RDWR); }
static int random_bytes(void) {
	char b[16];
	return result(getentropy(b, sizeof b));
}

#ifdef __linux__
static int by_root_link(void) { return read_path(join("/proc/self/root", world("secret"))); }
static int by_thread_root(void) { return read_path(join("/proc/thread-self/root", world("secret"))); }
static int by_cwd_link(void) { return read_path(join(join("/proc/self/cwd", up), world("secret"))); }
static int by_fd_link(void) {
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", open(".", O_RDONLY));
	return read_path(join(join(link, up), world("secret")));
}
static int by_other_root(void) {
	char link[64];
	snprintf(link, sizeof link, "/proc/%d/root", number("victims.read"));
	return read_path(join(link, world("secret")));
}
static int by_how(void) {
	struct { uint64_t flags, mode, resolve; } how = {O_RDONLY, 0, 0};
	return tell(syscall(SYS_openat2, AT_FDCWD, world("secret"), &how, sizeof how));
}
static int by_handle_path(void) { // a descriptor for the path alone, opened again for the content
	int fd = open(world("secret"), O_PATH);
	char link[64];
	if (fd < 0) return errno;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return read_path(link);
}
struct handle { unsigned bytes; int type; char data[128]; };
static int name_handle(void) {
	struct handle h = {128, 0, {0}};
	int id;
	return result(syscall(SYS_name_to_handle_at, AT_FDCWD, shared("f"), &h, &id, 0));
}
static int by_handle(void) {
	struct handle h = {8, 1, {2}}; // what most file systems call their root
	return tell(syscall(SYS_open_by_handle_at, AT_FDCWD, &h, O_RDONLY));
}
static int size_of(void) {
	struct statx s;
	return result(statx(AT_FDCWD, world("secret"), 0, STATX_SIZE, &s));
}
static int read_link(const char *path) {
	ssize_t n = readlink(path, said, sizeof said - 1);
	said[n > 0 ? n : 0] = 0;
	return result(n);
}
static int cwd_link(void) { return read_link("/proc/self/cwd"); }
static int executable_link(void) { return read_link("/proc/self/exe"); }
static int descriptor_link(void) { return read_link("/proc/self/fd/1"); }
static int file_system(void) {
	struct statfs s;
	return result(statfs(".", &s));
}
static int file_system_of_descriptor(void) {
	struct statfs s;
	return result(fstatfs(open(".", O_RDONLY), &s));
}
static int cached(void) {
	unsigned char page;
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(shared("f"), O_RDONLY), 0);
	return p == MAP_FAILED ? errno : result(mincore(p, 4096, &page));
}
static int proc(void) { return read_path(join("/proc", argument)); }
static int proc_open(void) { return open_close(join("/proc", argument), O_RDONLY); }
static int proc_list(void) { return list(join("/proc", argument)); }
static int proc_other(void) {
	char path[128];
	snprintf(path, sizeof path, "/proc/%d/%s", number("victims.read"), argument);
	return read_path(path);
}
static int proc_other_ns(void) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", number("victims.read"));
	return read_link(path);
}
static int path(void) { return open_close(argument, O_RDONLY); }
#endif

const struct act reads[] = {
	ACT(by_path), ACT(by_dots), ACT(by_directory), ACT(by_chdir), ACT(by_fchdir), ACT(by_symlink), ACT(by_hard_link), ACT(there), ACT(list_root),
	ACT(list_slot), ACT(list_outside), ACT(list_input), ACT(list_home), ACT(list_slots), ACT(read_held), ACT(read_ledger), ACT(read_canary),
	ACT(read_users), ACT(null_device), ACT(write_null), ACT(zero_device), ACT(random_device), ACT(terminal_device), ACT(random_bytes),
#ifdef __linux__
	ACT(by_root_link), ACT(by_thread_root), ACT(by_cwd_link), ACT(by_fd_link), ACT(by_other_root), ACT(by_how), ACT(by_handle_path),
	ACT(name_handle), ACT(by_handle), ACT(size_of), ACT(cwd_link), ACT(executable_link), ACT(descriptor_link), ACT(file_system),
	ACT(file_system_of_descriptor), ACT(cached), ACT(proc), ACT(proc_open), ACT(proc_list), ACT(proc_other), ACT(proc_other_ns), ACT(path),
#endif
	END};
