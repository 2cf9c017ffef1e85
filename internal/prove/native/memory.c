// Memory: native code of a snapshot must not run, and no memory may escape the limits or be shared with others.
#include "probe.h"
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

static int map(int prot, int flags, int fd) { return mmap(NULL, 4096, prot, flags, fd, 0) == MAP_FAILED ? errno : 0; }
static int code_of_input(void) { return map(PROT_READ | PROT_EXEC, MAP_PRIVATE, open(shared("f"), O_RDONLY)); }
static int code_of_input_later(void) {
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(shared("f"), O_RDONLY), 0);
	return p == MAP_FAILED ? errno : result(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}
static int code_made(void) { return map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANON, -1); }
static int shared_memory_map(void) { return map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1); }
static int private_memory_map(void) { return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1); }
static int lock_page(void) {
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	return p == MAP_FAILED ? errno : result(mlock(p, 4096));
}
static int lock_all(void) { return result(mlockall(MCL_CURRENT)); }
static int gibibytes(void) {
	size_t n = (size_t)atoi(argument) << 30;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? errno : result(munmap(p, n));
}

// The same by ways around the first count: made writable later, grown, or written over a file.
static int gibibytes_protected(void) {
	size_t n = (size_t)atoi(argument) << 30;
	void *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) return errno;
	int r = result(mprotect(p, n, PROT_READ | PROT_WRITE));
	munmap(p, n);
	return r;
}
static int gibibytes_of_file(void) {
	size_t n = (size_t)atoi(argument) << 30;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, open(shared("f"), O_RDONLY), 0);
	return p == MAP_FAILED ? errno : result(munmap(p, n));
}

#ifdef __linux__
static int gibibytes_grown(void) {
	size_t n = (size_t)atoi(argument) << 30;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED) p = mremap(p, 4096, n, MREMAP_MAYMOVE);
	return p == MAP_FAILED ? errno : result(munmap(p, n));
}
static int gibibytes_droppable(void) { // MAP_DROPPABLE
	size_t n = (size_t)atoi(argument) << 30;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, 8 | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? errno : result(munmap(p, n));
}
static int flags(void) { return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (int)strtol(argument, NULL, 16), -1); }
static int code_of_memory_file(void) {
	int fd = memfd_create("probe", MFD_CLOEXEC);
	return fd < 0 || ftruncate(fd, 4096) == -1 ? errno : map(PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
}
static int memory_file(void) { return result(memfd_create("probe", MFD_CLOEXEC)); }
static int secret_memory(void) { return result(syscall(SYS_memfd_secret, 0)); }
static int advise(void) {
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? errno : result(madvise(p, 4096, atoi(argument)));
}
static int advise_code(void) { return result(madvise(page_of((const void *)puts), page_size(), atoi(argument))); }
static int lock_later(void) {
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? errno : result(syscall(SYS_mlock2, p, 4096, 1));
}
static int faults_by_user(void) { return result(syscall(SYS_userfaultfd, 1)); } // UFFD_USER_MODE_ONLY
static int remap(void) {
	char *p = mmap(NULL, 2 * page_size(), PROT_READ, MAP_SHARED, writable(shared("f")), 0);
	return p == MAP_FAILED ? errno : result(remap_file_pages(p, page_size(), 0, 0, 0));
}
static int policy(void) { return result(syscall(SYS_set_mempolicy, 0, NULL, 0)); }
static int barrier_of_all(void) { return result(syscall(SYS_membarrier, 1, 0, 0)); }
static int barrier_asked(void) { return result(syscall(SYS_membarrier, 0, 0, 0)); }
static int key_of_protection(void) {
	int key = syscall(SYS_pkey_alloc, 0, 0);
	return key >= 0 || errno == ENOSPC || errno == EINVAL ? 0 : errno; // the processor may have none
}
#endif

const struct act memory[] = {
	ACT(code_of_input), ACT(code_of_input_later), ACT(code_made), ACT(shared_memory_map), ACT(private_memory_map), ACT(lock_page), ACT(lock_all),
	ACT(gibibytes), ACT(gibibytes_protected), ACT(gibibytes_of_file),
#ifdef __linux__
	ACT(gibibytes_grown), ACT(gibibytes_droppable), ACT(flags), ACT(code_of_memory_file), ACT(memory_file), ACT(secret_memory), ACT(advise),
	ACT(advise_code), ACT(lock_later), ACT(faults_by_user), ACT(remap), ACT(policy), ACT(barrier_of_all), ACT(barrier_asked), ACT(key_of_protection),
#endif
	END};
