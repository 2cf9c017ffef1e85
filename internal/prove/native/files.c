// Changing files. The targets are files of the input, a directory for each act, which unconfined their owner may change: the host compares them
// before and after. Where a file cannot be opened to write, the call is tried on a descriptor for reading, so that it is the call that answers.
#include "probe.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#endif

static int create(void) { return open_close(target("n"), O_WRONLY | O_CREAT | O_EXCL); }
static int open_to_append(void) {
	int fd = open(target("f"), O_WRONLY | O_APPEND);
	return fd < 0 ? errno : result(write(fd, "X", 1));
}
static int open_to_truncate(void) { return open_close(target("f"), O_WRONLY | O_TRUNC); }
static int read_and_truncate(void) { return open_close(target("f"), O_RDONLY | O_TRUNC); }
static int truncate_path(void) { return result(truncate(target("f"), 0)); }
static int truncate_descriptor(void) { return result(ftruncate(writable(target("f")), 0)); }
static int link_file(void) { return result(link(target("f"), target("n"))); }
static int link_at(void) { return result(linkat(AT_FDCWD, target("f"), AT_FDCWD, target("n"), AT_SYMLINK_FOLLOW)); }
static int symlink_at(void) { return result(symlinkat("/", AT_FDCWD, target("n"))); }
static int rename_file(void) { return result(rename(target("f"), target("n"))); }
static int rename_over(void) { return result(rename(target("g"), target("f"))); }
static int unlink_at(void) { return result(unlinkat(AT_FDCWD, target("f"), 0)); }
static int make_directory(void) { return result(mkdirat(AT_FDCWD, target("n"), 0700)); }
static int remove_directory(void) { return result(rmdir(world("hollow"))); }
static int change_mode(void) { return result(chmod(target("f"), 0777)); }
static int change_mode_by_descriptor(void) { return result(fchmod(open(target("f"), O_RDONLY), 0777)); }
static int change_owner(void) { return result(chown(target("f"), getuid(), getgid())); }
static int change_owner_by_descriptor(void) { return result(fchown(open(target("f"), O_RDONLY), getuid(), getgid())); }
static int change_owner_of_link(void) { return result(lchown(target("f"), getuid(), getgid())); }
static int change_times(void) { return result(utimensat(AT_FDCWD, target("f"), NULL, 0)); }
static int change_times_by_descriptor(void) { return result(futimens(open(target("f"), O_RDONLY), NULL)); }
static int make_pipe(void) { return result(mkfifo(target("n"), 0600)); }
static int make_node(void) { return result(mknod(target("n"), S_IFREG | 0600, 0)); }
static int make_device(void) { return result(mknod(target("n"), S_IFCHR | 0600, 0x103)); }

// scribble maps a file shared and writes to its first byte; mapped to read, it asks for the right to write afterwards.
static int scribble(int map, int then) {
	int fd = writable(target("f"));
	char *p = mmap(NULL, 4096, map, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || (then != 0 && mprotect(p, 4096, then) == -1)) return errno;
	*p = 'X';
	return result(msync(p, 4096, MS_SYNC));
}
static int map_to_write(void) { return scribble(PROT_READ | PROT_WRITE, 0); }
static int map_then_write(void) { return scribble(PROT_READ, PROT_READ | PROT_WRITE); }

static int read_input(void) { return tell(open(target("f"), O_RDONLY)); }
static int map_input(void) {
	char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, open(target("f"), O_RDONLY), 0);
	if (p == MAP_FAILED) return errno;
	snprintf(said, sizeof said, "%.32s", p);
	return 0;
}
static int stat_input(void) {
	struct stat s;
	return result(stat(target("f"), &s));
}

#ifdef __linux__
static int temporary_file(void) { return open_close(target("."), O_TMPFILE | O_WRONLY); }
static int rename_exchange(void) { return result(syscall(SYS_renameat2, AT_FDCWD, target("g"), AT_FDCWD, target("f"), RENAME_EXCHANGE)); }
static int change_mode_at(void) { return result(syscall(SYS_fchmodat, AT_FDCWD, target("f"), 0777)); }
static int change_mode_at_2(void) { return result(syscall(NEWER_FCHMODAT2, AT_FDCWD, target("f"), 0777, 0)); }
static int set_attribute(void) { return result(setxattr(target("f"), "user.probe", "x", 1, 0)); }
static int set_attribute_by_descriptor(void) { return result(fsetxattr(open(target("f"), O_RDONLY), "user.probe", "x", 1, 0)); }
static int get_attribute(void) {
	char list[64];
	return result(listxattr(target("f"), list, sizeof list));
}
static int allocate(void) { return result(fallocate(writable(target("f")), 0, 0, 65536)); }
static int open_how(void) {
	struct { uint64_t flags, mode, resolve; } how = {O_WRONLY | O_CREAT, 0600, 0};
	return result(syscall(SYS_openat2, AT_FDCWD, target("n"), &how, sizeof how));
}
#ifdef SYS_creat
static int create_by_creat(void) { return result(syscall(SYS_creat, target("n"), 0600)); }
#endif

static int reopen(void) {
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(target("f"), O_RDONLY));
	int fd = open(path, O_WRONLY);
	return fd < 0 ? errno : result(write(fd, "X", 1));
}
static int own_memory(void) {
	static volatile char byte = 'a';
	int fd = open("/proc/self/mem", O_RDWR);
	if (fd < 0) return errno;
	if (pwrite(fd, "b", 1, (off_t)(uintptr_t)&byte) != 1) return errno;
	return byte == 'b' ? 0 : EIO;
}

// Bytes that travel without a write.
static int full_pipe(void) {
	int p[2];
	if (pipe2(p, O_CLOEXEC) == -1 || write(p[1], "X", 1) != 1) return -1;
	return p[0];
}
static int splice_into(void) { return result(splice(full_pipe(), NULL, writable(target("f")), NULL, 1, 0)); }
static int tee_pipe(void) {
	int p[2];
	if (pipe2(p, O_CLOEXEC) == -1) return errno;
	return result(tee(full_pipe(), p[1], 1, 0));
}
static int vmsplice_pipe(void) {
	int p[2];
	struct iovec v = {"X", 1};
	if (pipe2(p, O_CLOEXEC) == -1) return errno;
	return result(vmsplice(p[1], &v, 1, 0));
}
static int send_file(void) { return result(sendfile(writable(target("f")), open(target("g"), O_RDONLY), NULL, 1)); }
static int copy_range(void) { return result(copy_file_range(open(target("g"), O_RDONLY), NULL, writable(target("f")), NULL, 1, 0)); }
static int write_positioned(void) {
	struct iovec v = {"X", 1};
	return result(pwritev2(writable(target("f")), &v, 1, 0, 0));
}
static int clone_file(void) { return result(ioctl(writable(target("f")), FICLONE, open(target("g"), O_RDONLY))); }
static int set_flags(void) { // added to those that it has: a file system may be unable to take back the others
	int fd = open(target("f"), O_RDONLY), flags = 0;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == -1) flags = 0;
	flags |= FS_NODUMP_FL;
	return result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}
static int ring(void) {
	char parameters[120] = {0};
	return result(syscall(SYS_io_uring_setup, 1, parameters));
}
static int queue(void) {
	unsigned long context = 0;
	return result(syscall(SYS_io_setup, 1, &context));
}
static int evict(void) { return posix_fadvise(open(target("f"), O_RDONLY), 0, 0, POSIX_FADV_DONTNEED); }
static int read_ahead(void) { return result(readahead(open(target("f"), O_RDONLY), 0, 4096)); }
#endif

const struct act files[] = {
	ACT(create), ACT(open_to_append), ACT(open_to_truncate), ACT(read_and_truncate), ACT(truncate_path), ACT(truncate_descriptor), ACT(link_file),
	ACT(link_at), ACT(symlink_at), ACT(rename_file), ACT(rename_over), ACT(unlink_at), ACT(make_directory), ACT(remove_directory), ACT(change_mode),
	ACT(change_mode_by_descriptor), ACT(change_owner), ACT(change_owner_by_descriptor), ACT(change_owner_of_link), ACT(change_times),
	ACT(change_times_by_descriptor), ACT(make_pipe), ACT(make_node), ACT(make_device), ACT(map_to_write), ACT(map_then_write), ACT(read_input),
	ACT(map_input), ACT(stat_input),
#ifdef __linux__
	ACT(temporary_file), ACT(rename_exchange), ACT(change_mode_at), ACT(change_mode_at_2), ACT(set_attribute), ACT(set_attribute_by_descriptor),
	ACT(get_attribute), ACT(allocate), ACT(open_how), ACT(reopen), ACT(own_memory), ACT(splice_into), ACT(tee_pipe), ACT(vmsplice_pipe),
	ACT(send_file), ACT(copy_range), ACT(write_positioned), ACT(clone_file), ACT(set_flags), ACT(ring), ACT(queue), ACT(evict), ACT(read_ahead),
#ifdef SYS_creat
	ACT(create_by_creat),
#endif
#endif
	END};
