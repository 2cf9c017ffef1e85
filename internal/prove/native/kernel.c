// What the kernel offers a process beyond files, sockets and other processes: namespaces, mounts, filters, keys, programs and foreign calls.
#include "probe.h"
#ifdef __linux__
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

static long flag(void) { return strtol(argument, NULL, 16); }
static int unshare_flag(void) { return result(unshare((int)flag())); }
static int enter_namespace(void) {
	int fd = open("/proc/self/ns/user", O_RDONLY);
	return fd < 0 ? errno : result(setns(fd, 0));
}
static int enter_descriptor(void) { return result(setns(0, 0)); }

// Mounts, by the old calls and by the new ones.
static int mount_tree(void) { return result(syscall(SYS_mount, "none", shared("."), "tmpfs", 0, NULL)); }
static int remount(void) { return result(syscall(SYS_mount, NULL, world("input"), NULL, 32 | 4096, NULL)); } // MS_REMOUNT | MS_BIND: no longer read-only
static int unmount(void) { return result(syscall(SYS_umount2, world("input"), 2)); }
static int open_tree_here(void) { return result(syscall(SYS_open_tree, AT_FDCWD, ".", 0)); }
static int clone_tree(void) { return result(syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE)); }
static int move_tree(void) { return result(syscall(SYS_move_mount, AT_FDCWD, world("input"), AT_FDCWD, world("home"), 0)); }
static int open_file_system(void) { return result(syscall(SYS_fsopen, "tmpfs", 0)); }
static int configure_file_system(void) { return result(syscall(SYS_fsconfig, 0, 6, NULL, NULL, 0)); }
static int mount_file_system(void) { return result(syscall(SYS_fsmount, 0, 0, 0)); }
static int pick_file_system(void) { return result(syscall(SYS_fspick, AT_FDCWD, ".", 0)); }
static int set_mount(void) {
	struct mount_attr a = {.attr_clr = MOUNT_ATTR_RDONLY};
	return result(syscall(SYS_mount_setattr, AT_FDCWD, world("input"), 0, &a, sizeof a));
}
static int list_mounts(void) {
	struct { uint32_t size, spare; uint64_t mount, param, ns; } q = {24, 0, 0xffffffffffffffff, 0, 0};
	uint64_t ids[8];
	return result(syscall(NEWER_LISTMOUNT, &q, ids, 8, 0));
}
static int change_root(void) { return result(chroot(".")); }
static int pivot(void) { return result(syscall(SYS_pivot_root, ".", ".")); }

// Filters over this process: an own listener would answer for calls that ours refuses.
static struct sock_filter allow_all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
static struct sock_fprog allowing = {1, allow_all};
static int filter(unsigned flags) {
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return result(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &allowing));
}
static int filter_more(void) { return filter(0); }
static int filter_listening(void) { return filter(SECCOMP_FILTER_FLAG_NEW_LISTENER); }
static int filter_by_prctl(void) {
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return result(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &allowing, 0, 0));
}
static int landlock(void) { return result(syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)); }
static int landlock_self(void) {
	struct landlock_ruleset_attr a = {.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_SYM};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int fd = syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
	return fd < 0 ? errno : result(syscall(SYS_landlock_restrict_self, fd, 0));
}
static int security_modules(void) {
	uint64_t ids[32];
	uint32_t size = sizeof ids;
	return result(syscall(NEWER_LSM_LIST_MODULES, ids, &size, 0));
}

static int add_key(void) { return result(syscall(SYS_add_key, "user", "probe", "x", 1, KEY_SPEC_PROCESS_KEYRING)); }
static int session_keys(void) { return result(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0)); }
static int request_key(void) {
	int r = result(syscall(SYS_request_key, "user", "probe", NULL, 0));
	return r == ENOKEY ? 0 : r; // unconfined it is looked for
}
static int load_program(void) {
	uint32_t attributes[32] = {2, 4, 4, 1}; // an array of one
	return result(syscall(SYS_bpf, 0, attributes, sizeof attributes));
}
static int measure(void) {
	uint32_t attributes[32] = {1, 128}; // of software, the processor's clock
	return result(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0));
}
static int fixed_addresses(void) { return result(personality(ADDR_NO_RANDOMIZE)); }
static int code_by_reading(void) { return result(personality(READ_IMPLIES_EXEC)); }
static int cached_pages(void) {
	uint64_t range[2] = {0, 4096}, counts[5];
	return result(syscall(NEWER_CACHESTAT, open(shared("f"), O_RDONLY), range, counts, 0));
}
static int seal(void) { return result(syscall(NEWER_MSEAL, page_of(argument), 0, 0)); }
static int unheard_of(void) { return result(syscall(1000)); }
static int type_into_terminal(void) {
	char c = 'x';
	return result(ioctl(0, TIOCSTI, &c));
}
static int async_by_ioctl(void) {
	int on = 1;
	return result(ioctl(0, FIOASYNC, &on));
}
static int bytes_waiting(void) {
	int n;
	return result(ioctl(1, FIONREAD, &n));
}
static int name_of_system(void) {
	struct utsname n;
	return result(uname(&n));
}

#ifdef __x86_64__
#include <asm/prctl.h>
static int by_x32(void) { return result(syscall(0x40000000 | SYS_getpid)); }
static int by_int80(void) {
	long r = 20; // getpid of the 32-bit table
	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
	return r == getpid() ? 0 : ENOSYS;
}
static int segments(void) {
	char table[8192];
	return result(syscall(SYS_modify_ldt, 0, table, sizeof table));
}
static int port_level(void) { return result(syscall(SYS_iopl, 0)); }
static int port_permission(void) { return result(syscall(SYS_ioperm, 0, 1, 0)); }
static int base_of_gs(void) { return result(syscall(SYS_arch_prctl, ARCH_SET_GS, 0)); }
#endif
#endif

const struct act kernel[] = {
#ifdef __linux__
	ACT(unshare_flag), ACT(enter_namespace), ACT(enter_descriptor), ACT(mount_tree), ACT(remount), ACT(unmount), ACT(open_tree_here),
	ACT(clone_tree), ACT(move_tree), ACT(open_file_system), ACT(configure_file_system), ACT(mount_file_system), ACT(pick_file_system),
	ACT(set_mount), ACT(list_mounts), ACT(change_root), ACT(pivot), ACT(filter_more), ACT(filter_listening), ACT(filter_by_prctl), ACT(landlock),
	ACT(landlock_self), ACT(security_modules), ACT(add_key), ACT(session_keys), ACT(request_key), ACT(load_program), ACT(measure),
	ACT(fixed_addresses), ACT(code_by_reading), ACT(cached_pages), ACT(seal), ACT(unheard_of), ACT(type_into_terminal), ACT(async_by_ioctl),
	ACT(bytes_waiting), ACT(name_of_system),
#ifdef __x86_64__
	ACT(by_x32), ACT(by_int80), ACT(segments), ACT(port_level), ACT(port_permission), ACT(base_of_gs),
#endif
#endif
	END};
